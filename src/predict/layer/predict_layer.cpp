#include "predict/layer/predict_layer.hpp"

#include <stdio.h>
#include <sys/utsname.h>

#include <algorithm>
#include <array>

#include "base/clock.hpp"
#include "calls/state/descriptors.hpp"
#include "calls/state/direct_call.hpp"
#include "calls/state/held_signals.hpp"
#include "calls/state/known_files.hpp"
#include "calls/state/process_state.hpp"
#include "calls/state/standard_error.hpp"
#include "predict/layer/process_forecast.hpp"

namespace halcyon::predict {
namespace direct = calls::direct;

namespace {

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
    for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = call_name_number(calls::functions[i].name);
    return numbers;
}();

/// `<folder>/<program>[.<rank>].model`; false: too long a path.
bool name_model(char* out, size_t room, std::string_view folder, std::string_view rank) {
    static char program[512];  // one thread starts
    const long bytes = direct::call(SYS_readlinkat, AT_FDCWD, direct::address("/proc/self/exe"),
                                    direct::address(program), sizeof program);
    std::string_view name(program, bytes < 0 ? 0 : static_cast<size_t>(bytes));
    name.remove_prefix(name.rfind('/') == std::string_view::npos ? 0 : name.rfind('/') + 1);
    const int length = snprintf(out, room, "%.*s/%.*s%s%.*s.model", static_cast<int>(folder.size()), folder.data(),
                                static_cast<int>(name.size()), name.data(), rank.empty() ? "" : ".",
                                static_cast<int>(rank.size()), rank.data());
    return static_cast<size_t>(length) < room;
}

}  // namespace

bool predict_layer::start(const settings& wanted, char* complaint, size_t complaint_bytes) {
    static char load_from[longest_path];
    complaint[0] = '\0';
    began_ = false;
    loaded_ = false;
    saved_ = false;
    absences_bytes_ = 0;
    tell_more_ = wanted.tell_more;
    beside_others_ = wanted.beside_others;
    before_end_ = wanted.before_end;
    if (!name_files(wanted, load_from)) {
        snprintf(complaint, complaint_bytes, "a folder of models or facts has too long a path: I/O is not predicted");
        return false;
    }
    known_ = knowledge::make(wanted.each);
    if (known_ != nullptr && load_from[0] != '\0' && !known_->load(load_from, loaded_, complaint, complaint_bytes)) {
        knowledge::forget(known_);
        known_ = knowledge::make(wanted.each);
    }
    if (known_ == nullptr) {
        snprintf(complaint, complaint_bytes, "no memory for a model of the I/O: it is not predicted");
        return false;
    }
    known_->times().start();
    for (uint16_t i = 0; i < static_cast<uint16_t>(calls::call_id::count); ++i)
        learnt_[i] = is_learnt(calls::entry_of(i));
    return true;
}

bool predict_layer::name_files(const settings& wanted, char* load_from) {
    facts_path_[0] = save_path_[0] = load_from[0] = '\0';
    // A forked child is no new program: it would read its parent's model, and write over that.
    const bool own_program = calls::this_process().generation == 1;
    if (!wanted.load.empty() && own_program && !name_model(load_from, longest_path, wanted.load, wanted.rank))
        return false;
    if (!wanted.save.empty() && own_program && !name_model(save_path_, longest_path, wanted.save, wanted.rank))
        return false;
    if (wanted.directory.empty()) return true;
    utsname node{};
    direct::call(SYS_uname, direct::address(&node));
    const int length =
        snprintf(facts_path_, longest_path, "%.*s/%.64s.%d.%lld.predict", static_cast<int>(wanted.directory.size()),
                 wanted.directory.data(), node.nodename, direct::process_id(), static_cast<long long>(realtime_ns()));
    return static_cast<size_t>(length) < longest_path;
}

void predict_layer::on_file(const calls::named_file& file) {
    // One that is only asked about is none that is used; it comes again when it is opened.
    if (file.block_bytes != calls::none) known_->files().name(file);
}

void predict_layer::on_context(uint32_t id, std::span<const calls::context_frame> frames) {
    if (save_path_[0] != '\0') known_->name_context(id, frames);
}

void predict_layer::on_absence(std::string_view subject, uint64_t count) {
    const calls::patient_lock::guard here(absences_lock_);
    if (!here) return;
    const size_t room = sizeof absences_ - absences_bytes_;
    const int length =
        snprintf(absences_ + absences_bytes_, room, "absence %llu %.*s\n", static_cast<unsigned long long>(count),
                 static_cast<int>(subject.size()), subject.data());
    if (static_cast<size_t>(length) < room) absences_bytes_ += static_cast<size_t>(length);
}

void predict_layer::learn(const calls::call_record& record) {
    if (record.file == calls::known_files::ignored) return;
    calls::thread_state& thread = calls::this_thread();
    ++thread.inside;
    if (thread_model* const mine = known_->model_of(thread)) {
        const calls::function_entry& entry = calls::entry_of(record.function);
        calls::tick_times& times = known_->times();
        observed_call call;
        call.context = record.context;
        call.function = name_numbers[record.function];
        call.what = {operation_of(entry.does), record.file, record.offset, record.bytes};
        call.truncates = entry.does == calls::kind::open && (record.argument & O_TRUNC) != 0;
        call.moved = record.moved;
        call.start_ns = times.ns(record.start);
        call.wait_ns = times.ns(record.start + record.wait) - call.start_ns;
        call.duration_ns = times.ns(record.start + record.duration) - call.start_ns;
        call.beside_others = beside_others_ != nullptr && beside_others_(record);
        mine->learn(call);
    }
    if (!began_.load(std::memory_order_relaxed)) [[unlikely]] {
        if (!began_.exchange(true)) write_facts("none");  // for a process that is killed
    }
    --thread.inside;
}

bool predict_layer::forecast(const io_forecast::question& asked, io_forecast::access* accesses,
                             io_forecast::answer& found) {
    const calls::own_work ours;
    process_forecast whole(known_->each().least_pause_ns);
    if (!whole.begin(asked, known_->times().now())) return false;
    known_->each_model([&](thread_model& one) { whole.add(one); });
    whole.finish(known_->files(), calls::known_files::paths(), accesses, found);
    return true;
}

/// Without thread-local variables, of which threads of ours have none: so no lock is taken and no file is named.
bool predict_layer::forecast_phases(coming_io::forecast& found) {
    process_forecast whole(known_->each().least_pause_ns);
    if (!whole.begin_of_phases(known_->times().now())) return false;
    known_->each_model([&](thread_model& one) { whole.add(one); });
    whole.finish(found);
    return found.whole.threads > 0;
}

void predict_layer::on_end(calls::ending how) {
    const calls::own_work ours;
    if (before_end_ != nullptr) before_end_();
    constexpr const char* names[] = {"exit", "exec", "abort"};
    if (!began_) return;
    if (save_path_[0] != '\0') save();
    write_facts(names[static_cast<int>(how)]);
}

void predict_layer::save() {
    const int error = known_->save(save_path_);
    saved_ = error == 0;
    if (saved_) return;
    static char complaint[longest_path + 100];
    const int length = snprintf(complaint, sizeof complaint, "halcyon: %s: the model cannot be saved: %s\n", save_path_,
                                strerrordesc_np(error));
    calls::standard_error::say(complaint, length);
}

// Apart, because of the room it needs: stacks may be small. One thread begins, and one ends.
[[gnu::noinline]] void predict_layer::write_facts(const char* ending) {
    uint64_t learnt = 0, unlearned = 0, missed = 0, bytes = 0;
    uint32_t models = 0, in_use = 0;
    known_->each_model([&](thread_model& one) {
        ++models;
        missed += one.missed();
        const model* const held = one.hold();
        if (held == nullptr) {
            ++in_use;
            return;
        }
        learnt += held->calls() - held->unlearned();
        unlearned += held->unlearned();
        bytes += held->bytes_peak();
        one.release();
    });
    if (facts_path_[0] == '\0') return;
    const char* const saved = save_path_[0] == '\0' ? "not wanted" : saved_ ? "yes" : "no";
    static char text[4096];
    int length = snprintf(
        text, sizeof text,
        "end %s\ncalls_learnt %llu\ncalls_without_room %llu\ncalls_missed %llu\nthreads %u\nthreads_beyond %u\n"
        "calls_of_threads_beyond %llu\nthreads_in_use_at_end %u\nfiles_unnamed %llu\nmodel_bytes %llu\nloaded %s\n"
        "saved %s\n%.*s",
        ending, static_cast<unsigned long long>(learnt), static_cast<unsigned long long>(unlearned),
        static_cast<unsigned long long>(missed), models, known_->threads_beyond(),
        static_cast<unsigned long long>(known_->calls_of_threads_beyond()), in_use,
        static_cast<unsigned long long>(known_->files().unnamed()), static_cast<unsigned long long>(bytes),
        loaded_ ? "yes" : "no", saved, static_cast<int>(absences_bytes_), absences_);
    const size_t end = std::min(static_cast<size_t>(length), sizeof text - 1);
    if (tell_more_ != nullptr) length += static_cast<int>(tell_more_(text + end, sizeof text - end));
    const calls::held_signals no_harm;
    const int fd = calls::descriptors::open_out_of_the_way(facts_path_, O_WRONLY | O_CREAT | O_TRUNC);
    const long written = fd < 0 ? fd : direct::pwrite(fd, text, static_cast<size_t>(length), 0);
    if (fd >= 0) direct::close(fd);
    if (written == length) return;
    static char complaint[longest_path + 100];
    const int said = snprintf(complaint, sizeof complaint, "halcyon: %s: cannot say here what was learnt: %s\n",
                              facts_path_, strerrordesc_np(written < 0 ? static_cast<int>(-written) : ENOSPC));
    calls::standard_error::say(complaint, said);
}

}  // namespace halcyon::predict
