#include "predict/layer/predict_layer.hpp"

#include <stdio.h>
#include <sys/utsname.h>

#include <array>
#include <new>

#include "base/clock.hpp"
#include "calls/direct_call.hpp"
#include "calls/known_files.hpp"
#include "predict/layer/process_forecast.hpp"

namespace halcyon::predict {
namespace direct = calls::direct;

namespace {

/// Which model is a thread's own. Initial-exec and without destructor, as calls::thread_state.
struct own_model {
    uint32_t generation;  // of the process that it is of
    thread_model* model;  // null: there was no room
};
constinit thread_local own_model own __attribute__((tls_model("initial-exec")));

bool is_learnt(const calls::function_entry& entry) {
    switch (entry.does) {
        case calls::kind::open:
        case calls::kind::close:
            return entry.at == calls::level::posix || entry.at == calls::level::stdio;
        case calls::kind::read:
        case calls::kind::write:
        case calls::kind::copy:
        case calls::kind::sync:
            return entry.at == calls::level::posix;
        default:
            return false;
    }
}

policy::operation operation_of(calls::kind kind) {
    switch (kind) {
        case calls::kind::close:
            return policy::operation::close;
        case calls::kind::read:
            return policy::operation::read;
        case calls::kind::write:
            return policy::operation::write;
        case calls::kind::copy:
            return policy::operation::copy;
        case calls::kind::sync:
            return policy::operation::sync;
        default:
            return policy::operation::open;
    }
}

/// Numbers of functions that are the same in all builds.
constexpr auto name_numbers = [] {
    std::array<uint32_t, static_cast<size_t>(calls::call_id::count)> numbers{};
    for (uint16_t i = 0; i < numbers.size(); ++i) numbers[i] = call_name_number(calls::functions[i].name);
    return numbers;
}();

bool has_ended(int thread) {
    constexpr int no_signal = 0;
    return direct::call(SYS_tgkill, direct::process_id(), thread, no_signal) == -ESRCH;
}

}  // namespace

bool predict_layer::start(const settings& wanted, char* complaint, size_t complaint_bytes) {
    void* const place = direct::map_memory(sizeof(knowledge));
    if (place == nullptr) {
        snprintf(complaint, complaint_bytes, "no memory for a model of the I/O: it is not predicted");
        return false;
    }
    known_ = new (place) knowledge(wanted.each);
    known_->times.start();
    for (uint16_t i = 0; i < static_cast<uint16_t>(calls::call_id::count); ++i) learnt_[i] = is_learnt(calls::entry_of(i));
    began_ = false;
    path_[0] = '\0';
    if (wanted.directory.empty()) return true;
    utsname node{};
    direct::call(SYS_uname, direct::address(&node));
    const int length =
        snprintf(path_, sizeof path_, "%.*s/%.64s.%d.%lld.predict", static_cast<int>(wanted.directory.size()),
                 wanted.directory.data(), node.nodename, direct::process_id(), static_cast<long long>(realtime_ns()));
    if (static_cast<size_t>(length) < sizeof path_) return true;
    snprintf(complaint, complaint_bytes, "%.*s: too long a path for a file of facts: the I/O is not predicted",
             static_cast<int>(wanted.directory.size()), wanted.directory.data());
    return false;
}

void predict_layer::on_file(const calls::named_file& file) {
    // One that is only asked about is none that is used; it comes again when it is opened.
    if (file.block_bytes != calls::none) known_->files.name(file);
}

void predict_layer::learn(const calls::call_record& record) {
    if (record.file == calls::known_files::ignored) return;
    calls::thread_state& thread = calls::this_thread();
    ++thread.inside;
    thread_model* const mine = model_of(thread);
    if (mine == nullptr) {
        known_->of_other_threads.fetch_add(1, std::memory_order_relaxed);
    } else {
        const calls::function_entry& entry = calls::entry_of(record.function);
        const int64_t start = known_->times.ns(record.start);
        observed_call call;
        call.context = record.context;
        call.function = name_numbers[record.function];
        call.what = {operation_of(entry.does), record.file, record.offset, record.bytes};
        call.truncates = entry.does == calls::kind::open && (record.argument & O_TRUNC) != 0;
        call.moved = record.moved;
        call.start_ns = start;
        call.wait_ns = known_->times.ns(record.start + record.wait) - start;
        call.duration_ns = known_->times.ns(record.start + record.duration) - start;
        mine->learn(call);
    }
    --thread.inside;
}

inline thread_model* predict_layer::model_of(calls::thread_state& thread) {
    return own.generation == thread.generation ? own.model : find_model(thread);
}

[[gnu::noinline]] thread_model* predict_layer::find_model(calls::thread_state& thread) {
    const int id = direct::thread_id();
    own = {thread.generation, nullptr};
    for (kept_thread& kept : known_->threads) {
        int before = kept.id.load();
        // The same id: of a thread that has ended, since this one is new.
        if (before != 0 && before != id && !has_ended(before)) continue;
        thread_model* held = kept.learnt.load();
        if (held != nullptr && held->is_broken()) continue;
        if (!kept.id.compare_exchange_strong(before, id)) continue;
        held = kept.learnt.load();
        if (held != nullptr)
            held->pass_to(thread.index);
        else
            kept.learnt = held = make_model(thread.index);
        own.model = held;
        break;
    }
    if (own.model == nullptr) known_->other_threads.fetch_add(1, std::memory_order_relaxed);
    if (!began_.exchange(true)) write_facts("none");  // for a process that is killed
    return own.model;
}

thread_model* predict_layer::make_model(uint32_t thread) {
    void* const place = direct::map_memory(sizeof(thread_model));
    return place == nullptr ? nullptr : new (place) thread_model(known_->each, known_->files.names(), thread);
}

bool predict_layer::forecast(const io_forecast::question& asked, io_forecast::access* accesses,
                             io_forecast::answer& found) {
    const calls::own_work ours;
    process_forecast whole(known_->each.least_pause_ns);
    if (!whole.begin(asked, known_->times.now())) return false;
    for (kept_thread& kept : known_->threads) {
        if (thread_model* const learnt = kept.learnt.load()) whole.add(*learnt);
    }
    whole.finish(known_->files, accesses, found);
    return true;
}

void predict_layer::on_end(calls::ending how) {
    const calls::own_work ours;
    constexpr const char* names[] = {"exit", "exec", "abort"};
    if (began_) write_facts(names[static_cast<int>(how)]);
}

// Apart, because of the room it needs: stacks may be small.
[[gnu::noinline]] void predict_layer::write_facts(const char* ending) {
    uint64_t learnt = 0, unlearned = 0, missed = 0, bytes = 0;
    uint32_t models = 0, unasked = 0;
    for (kept_thread& kept : known_->threads) {
        thread_model* const one = kept.learnt.load();
        if (one == nullptr) continue;
        ++models;
        missed += one->missed();
        const bool asked = one->ask([&](model& of, const thread_model&) {
            learnt += of.calls() - of.unlearned();
            unlearned += of.unlearned();
            bytes += of.bytes_peak();
        });
        if (!asked) ++unasked;
    }
    if (path_[0] == '\0') return;
    static char text[1024];  // one thread begins, and one ends
    const int length = snprintf(
        text, sizeof text,
        "calls_learnt %llu\ncalls_without_room %llu\ncalls_missed %llu\nthreads %u\nthreads_beyond %u\n"
        "calls_of_threads_beyond %llu\nmodels_in_use_at_end %u\nfiles_unnamed %llu\nmodel_bytes %llu\nend %s\n",
        static_cast<unsigned long long>(learnt), static_cast<unsigned long long>(unlearned),
        static_cast<unsigned long long>(missed), models, known_->other_threads.load(),
        static_cast<unsigned long long>(known_->of_other_threads.load()), unasked,
        static_cast<unsigned long long>(known_->files.unnamed()), static_cast<unsigned long long>(bytes), ending);
    const int fd = direct::open(path_, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    const long written = fd < 0 ? fd : direct::pwrite(fd, text, static_cast<size_t>(length), 0);
    if (fd >= 0) direct::close(fd);
    if (written == length) return;
    static char complaint[sizeof path_ + 100];
    const int said = snprintf(complaint, sizeof complaint, "halcyon: %s: cannot say here what was learnt: %s\n", path_,
                               strerrordesc_np(written < 0 ? static_cast<int>(-written) : ENOSPC));
    direct::call(SYS_write, 2, direct::address(complaint), said);
}

}  // namespace halcyon::predict
