#include "predict/prefetch/prefetch_layer.hpp"

#include <stdio.h>

#include <new>

#include "calls/state/direct_call.hpp"
#include "calls/state/known_files.hpp"
#include "calls/state/process_state.hpp"

namespace halcyon::predict::prefetch {
namespace direct = calls::direct;

namespace {

/// Which reader is a thread's own, as knowledge.cpp's own_model.
struct own_reader {
    uint32_t generation;  // of the process that it is of
    reader* reads;        // null: there was no room
};
constinit thread_local own_reader own __attribute__((tls_model("initial-exec"))) = {};

}  // namespace

bool prefetch_layer::start(const reader::settings& wanted, predict_layer& learns, char* complaint,
                           size_t complaint_bytes) {
    forget();
    learns_ = &learns;
    if (wanted.least_probability > 1 || wanted.most_bytes <= 0) {
        snprintf(complaint, complaint_bytes, "prefetch: its settings leave nothing to read ahead");
        return false;
    }
    shared_.chosen = wanted;
    shared_.memory.start(wanted.most_bytes);
    for (uint16_t i = 0; i < static_cast<uint16_t>(calls::call_id::count); ++i) {
        const calls::function_entry& entry = calls::entry_of(i);
        is_read_[i] = entry.does == calls::kind::read && entry.at == calls::level::posix;
    }
    return true;
}

/// What a parent's threads had, in a forked child.
void prefetch_layer::forget() {
    shared_.asks.forget();
    for (held_reader& held : readers_) {
        held.model = nullptr;
        reader* const one = held.reads.exchange(nullptr);
        if (one == nullptr) continue;
        one->~reader();
        direct::call(SYS_munmap, direct::address(one), sizeof(reader));
    }
}

void prefetch_layer::invoke(calls::call_record& record, const calls::next_call& next) {
    if (!is_read_[record.function]) return next(record);
    calls::thread_state& thread = calls::this_thread();
    if (own.generation == thread.generation && own.reads != nullptr) {
        ++thread.inside;
        own.reads->begins(record.file, record.offset);
        --thread.inside;
    }
    next(record);
    if (record.error == 0 && record.moved > 0 && record.offset >= 0) ended(record);
}

void prefetch_layer::ended(const calls::call_record& record) {
    if (record.file == calls::known_files::ignored || record.file == calls::known_files::unknown) return;
    calls::thread_state& thread = calls::this_thread();
    ++thread.inside;
    knowledge& known = learns_->known();
    thread_model* const model = known.model_if_any(thread);
    reader* const reads = model == nullptr ? nullptr : reader_of(thread, *model);
    if (reads != nullptr) {
        const int64_t begin_ns = known.times().ns(record.start);
        const int64_t end_ns = known.times().ns(record.start + record.duration);
        reads->ended(
            {record.file, thread.descriptor, record.offset, record.bytes, record.moved, end_ns, end_ns - begin_ns},
            *model);
    }
    --thread.inside;
}

reader* prefetch_layer::reader_of(const calls::thread_state& thread, thread_model& model) {
    if (own.generation == thread.generation) [[likely]]
        return own.reads;
    own = {thread.generation, nullptr};
    for (uint32_t i = 0; i < readers_.size(); ++i) {
        held_reader& held = readers_[i];
        thread_model* before = nullptr;
        // The same model: of a thread that has ended, and left it to this one.
        if (!held.model.compare_exchange_strong(before, &model) && before != &model) continue;
        reader* found = held.reads.load();
        if (found == nullptr) {
            void* const place = direct::map_memory(sizeof(reader));
            if (place == nullptr) return nullptr;
            found = new (place) reader(shared_, i);
            held.reads = found;
        }
        found->belongs_to(direct::thread_id());
        own.reads = found;
        return found;
    }
    return nullptr;
}

size_t prefetch_layer::tell(char* out, size_t room) const {
    size_t used = 0;
    for (uint32_t i = 0; i < static_cast<uint32_t>(count::how_many); ++i) {
        int64_t sum = 0;
        for (const held_reader& held : readers_) {
            const reader* const one = held.reads.load();
            if (one != nullptr) sum += one->told()[static_cast<count>(i)];
        }
        const int length =
            snprintf(out + used, room - used, "prefetch_%s %lld\n", count_names[i], static_cast<long long>(sum));
        if (static_cast<size_t>(length) >= room - used) break;
        used += static_cast<size_t>(length);
    }
    return used;
}

}  // namespace halcyon::predict::prefetch
