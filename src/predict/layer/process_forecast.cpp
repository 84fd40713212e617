#include "predict/layer/process_forecast.hpp"

#include <algorithm>
#include <cstring>

#include "calls/state/direct_call.hpp"

namespace halcyon::predict {
namespace direct = calls::direct;

namespace {

bool writes(const policy::access& what) {
    return what.what == policy::operation::write || what.what == policy::operation::copy;
}

int64_t end_of(const forecast& step) {
    return step.access.begins_ns + step.access.duration_ns;
}

}  // namespace

process_forecast::~process_forecast() {
    if (pages_ != nullptr) direct::call(SYS_munmap, direct::address(pages_), sizeof(pages));
}

bool process_forecast::begin(const io_forecast::question& asked, int64_t now_ns) {
    pages_ = static_cast<pages*>(direct::map_memory(sizeof(pages)));
    asked_ = asked;
    wanted_ = asked.most;
    asked_.most = std::min<uint64_t>(asked.most, most);
    now_ = now_ns;
    found_.next_phase_ns = io_forecast::not_known;
    found_.next_phase_earliest_ns = found_.next_phase_latest_ns = io_forecast::not_known;
    found_.phase_confidence = 1;
    return pages_ != nullptr;
}

bool process_forecast::begin_of_phases(int64_t now_ns) {
    phases_alone_ = true;
    return begin({most, io_forecast::not_known}, now_ns);
}

void process_forecast::add(thread_model& thread) {
    model* const of = thread.hold();
    if (of == nullptr)
        ++found_.busy;
    else if (!add(*of, thread))
        ++found_.late;
    if (of != nullptr) thread.release();
}

bool process_forecast::add(model& of, const thread_model& thread) {
    // A model that was loaded, and has seen nothing yet, begins now.
    const int64_t elapsed = of.calls() == 0 ? 0 : std::max<int64_t>(now_ - of.last_end_ns(), 0);
    course gone = walk_ahead(of, elapsed);
    gone.delay = -elapsed;
    if (gone.steps > 0) {
        const policy::expected_access& first = pages_->walk[0].access;
        if (elapsed - first.begins_ns > first.begins_ns + 3 * first.deviation_ns + least_pause_) return false;
        gone.delay = -std::min(elapsed, first.begins_ns);
    }
    ++found_.threads;
    add_phase(of, thread, gone);
    add_period(of, gone, elapsed);
    merge(of, gone, thread.thread());
    return true;
}

/// Walks ahead, ever farther, until there is as much as was asked for and two pauses.
process_forecast::course process_forecast::walk_ahead(model& of, int64_t elapsed) {
    course gone;
    for (size_t room = 256;; room *= 4) {
        room = std::min(room, most);
        const std::span<forecast> rest(pages_->walk + gone.steps, room - gone.steps);
        gone.steps += gone.steps == 0 ? of.ahead(rest) : of.further_ahead(rest);
        find_pauses(gone, of.bursts().pause_ns());
        if (gone.steps < room) return gone;
        // One that never paused will hardly do so now.
        const bool has_pauses = gone.second_end != npos || of.bursts().completed() == 0;
        const bool has_window =
            asked_.window_ns < 0 || pages_->walk[room - 1].access.begins_ns > asked_.window_ns + elapsed;
        const bool has_most = phases_alone_ || room >= asked_.most;
        if (room == most || (has_most && has_pauses && has_window)) {
            cut_off_ = true;
            return gone;
        }
    }
}

/// As model::phase(), of the walk that was made.
policy::expected_phase process_forecast::rest_of_phase(const model& of, const course& gone) const {
    if (gone.first_end == npos) return of.bursts().rest_by_habit(of.last_end_ns());
    policy::expected_phase rest;
    rest.calls_done = of.bursts().calls();
    rest.calls_left = gone.first_end;
    rest.confidence = 1;
    for (size_t i = 0; i < gone.first_end; ++i) {
        const policy::expected_access& access = pages_->walk[i].access;
        if (transfers(access.what.what)) rest.bytes_left += std::max<int64_t>(access.what.bytes, 0);
        rest.time_left_ns = access.begins_ns + access.duration_ns;
        rest.confidence = access.probability;
    }
    return rest;
}

void process_forecast::find_pauses(course& gone, int64_t pause) const {
    gone.first_end = gone.second_end = npos;
    int64_t end = 0;
    for (size_t i = 0; i < gone.steps; ++i) {
        const forecast& step = pages_->walk[i];
        if (step.access.begins_ns - end > pause) {
            (gone.first_end == npos ? gone.first_end : gone.second_end) = i;
            if (gone.second_end != npos) return;
        }
        end = end_of(step);
    }
}

int64_t process_forecast::written(size_t from, size_t to) const {
    int64_t bytes = 0;
    for (size_t i = from; i < to; ++i) {
        const policy::access& what = pages_->walk[i].access.what;
        if (writes(what)) bytes += std::max<int64_t>(what.bytes, 0);
    }
    return bytes;
}

void process_forecast::add_phase(const model& of, const thread_model& thread, const course& gone) {
    const policy::expected_phase rest = rest_of_phase(of, gone);
    found_.calls_done += rest.calls_done;
    found_.calls_left += rest.calls_left;
    found_.bytes_left += rest.bytes_left;
    found_.time_left_ns = std::max(found_.time_left_ns, std::max<int64_t>(rest.time_left_ns + gone.delay, 0));
    found_.phase_confidence = std::min(found_.phase_confidence, rest.confidence);
    // Of a walk that ends before the phase does, what the phase before wrote is the best guess.
    const int64_t before = thread.written_before();
    found_.rest_buffer_bytes +=
        gone.first_end != npos ? written(0, gone.first_end) : std::max<int64_t>(before - thread.written(), 0);
    found_.phase_buffer_bytes += std::max(gone.second_end != npos ? written(gone.first_end, gone.second_end) : 0,
                                          std::max(before, thread.written()));
}

/// The next phase of the process is the earliest one of its threads, and so are the bounds of its begin.
void process_forecast::add_period(const model& of, const course& gone, int64_t elapsed) {
    phase_course walked;
    if (gone.first_end != npos) {
        walked.begins_ns = pages_->walk[gone.first_end].access.begins_ns;
        if (gone.first_end > 0) walked.rest_ns = end_of(pages_->walk[gone.first_end - 1]);
        // A call of the phase that is late makes all behind it as late; in the pause, time does its part.
        if (gone.first_end > 0) walked.begins_ns += elapsed + gone.delay, walked.rest_ns += elapsed + gone.delay;
    }
    const policy::expected_period next = of.period(walked, elapsed);
    if (next.next_in_ns == policy::not_known) return;
    const auto earlier = [](int64_t one, int64_t other) {
        return one == io_forecast::not_known || other == io_forecast::not_known ? std::max(one, other)
                                                                                : std::min(one, other);
    };
    found_.next_phase_earliest_ns = earlier(found_.next_phase_earliest_ns, next.earliest_ns);
    found_.next_phase_latest_ns = earlier(found_.next_phase_latest_ns, next.latest_ns);
    if (found_.next_phase_ns != io_forecast::not_known && found_.next_phase_ns <= next.next_in_ns) return;
    found_.next_phase_ns = next.next_in_ns;
    found_.next_phase_deviation_ns = next.deviation_ns;
    found_.next_phase_confidence = next.confidence;
}

/// What is there of the kind of a new file: where that is, the new one will be.
uint32_t process_forecast::file_there(const model& of, const forecast& step) {
    const uint32_t file = step.access.what.file;
    if (of.files().find(file) != nullptr) return file;
    const recent_files::file* const last = of.files().at(0, step.name_class);
    return last == nullptr ? 0 : last->id;
}

void process_forecast::merge(const model& of, const course& gone, uint32_t thread) {
    const step* const before = pages_->steps[kept_in_];
    kept_in_ = 1 - kept_in_;
    step* const merged = pages_->steps[kept_in_];
    size_t old = 0, added = 0, count = 0;
    const auto begin_of = [&](size_t i) { return std::max<int64_t>(pages_->walk[i].access.begins_ns + gone.delay, 0); };
    while (count < most && (old < count_ || added < gone.steps)) {
        const bool is_old =
            added == gone.steps || (old < count_ && before[old].what.access.begins_ns <= begin_of(added));
        if (is_old) {
            merged[count++] = before[old++];
            continue;
        }
        const forecast& step = pages_->walk[added];
        merged[count] = {step, thread, phases_alone_ ? file_there(of, step) : 0};
        merged[count++].what.access.begins_ns = begin_of(added++);
    }
    if (old < count_ || added < gone.steps) {
        cut_off_ = true;
        known_until_ = std::min(known_until_, merged[count - 1].what.access.begins_ns);
    }
    // A walk that has come to its end says nothing of what is behind.
    const int64_t end = gone.steps == 0 ? 0 : begin_of(gone.steps - 1);
    known_until_ = std::min(known_until_, end);
    if (asked_.window_ns >= 0 && end <= asked_.window_ns) window_is_known_ = false;
    count_ = count;
}

/// The longest time in which no thread is expected to do anything, as far as all of them are known.
void process_forecast::find_flush(io_forecast::answer& found) const {
    found.flush_in_ns = found.flush_for_ns = io_forecast::not_known;
    int64_t end = 0;
    for (size_t i = 0; i < count_; ++i) {
        const forecast& step = pages_->steps[kept_in_][i].what;
        if (step.access.begins_ns > known_until_) break;
        if (step.access.begins_ns - end > std::max(found.flush_for_ns, least_pause_)) {
            found.flush_in_ns = end;
            found.flush_for_ns = step.access.begins_ns - end;
        }
        end = std::max(end, end_of(step));
    }
    if (found.flush_in_ns != io_forecast::not_known || found.next_phase_ns <= found.time_left_ns) return;
    found.flush_in_ns = found.time_left_ns;
    found.flush_for_ns = found.next_phase_ns - found.time_left_ns;
}

/// The path of the access at `i`: of a new file what its name is likely to be, each new file of its kind going on from
/// the one before, whichever thread opens it.
void process_forecast::name(size_t i, file_book& files, calls::file_paths& paths, io_forecast::access* out) const {
    const step* const steps = pages_->steps[kept_in_];
    const forecast& what = steps[i].what;
    if (what.access.new_file) {
        uint32_t before = 0;
        for (size_t j = i; j-- > 0 && before == 0;) {
            if (steps[j].what.access.new_file && steps[j].what.name_class == what.name_class) before = out[j].ahead;
        }
        out[i].ahead = before + 1;
        files.next_path(what.name_class, before + 1, out[i].path, sizeof out[i].path);
        return;
    }
    if (paths.path_of(what.access.what.file, out[i].path, sizeof out[i].path)) return;
    // Perhaps it is opened on this walk.
    for (size_t j = i; j-- > 0;) {
        const forecast& open = steps[j].what;
        if (!open.access.new_file || steps[j].thread != steps[i].thread ||
            open.access.what.file != what.access.what.file)
            continue;
        std::memcpy(out[i].path, out[j].path, sizeof out[i].path);
        return;
    }
}

void process_forecast::finish(file_book& files, calls::file_paths& paths, io_forecast::access* out,
                              io_forecast::answer& found) {
    found = found_;
    if (found.threads == 0) found.phase_confidence = 0;
    size_t count = 0;
    bool more = false;
    for (; count < count_ && count < asked_.most; ++count) {
        const step& kept = pages_->steps[kept_in_][count];
        const policy::expected_access& from = kept.what.access;
        if (asked_.window_ns >= 0 && from.begins_ns > asked_.window_ns) break;
        out[count] = {static_cast<uint32_t>(from.what.what),
                      from.new_file ? 1U : 0U,
                      from.what.offset,
                      from.what.bytes,
                      from.begins_ns,
                      from.deviation_ns,
                      from.duration_ns,
                      from.probability,
                      kept.thread,
                      0,
                      ""};
        name(count, files, paths, out);
    }
    if (asked_.window_ns >= 0 && count < count_)
        more = pages_->steps[kept_in_][count].what.access.begins_ns <= asked_.window_ns;
    found.count = count;
    const bool all = asked_.window_ns < 0 ? count == wanted_ : !more && window_is_known_;
    found.complete = all && found.busy == 0 && found.late == 0 ? 1 : 0;
    find_flush(found);
}

void process_forecast::finish(coming_io::forecast& found) const {
    static_assert(coming_io::forecast::most == most);
    found.whole = found_;
    found.cut_off = cut_off_;
    found.count = count_;
    for (size_t i = 0; i < count_; ++i) {
        const step& from = pages_->steps[kept_in_][i];
        const policy::expected_access& access = from.what.access;
        const bool moves = transfers(access.what.what) || access.what.what == policy::operation::sync;
        found.accesses[i] = {from.file, moves, std::max<int64_t>(access.what.bytes, 0), access.begins_ns,
                             access.duration_ns};
    }
}

}  // namespace halcyon::predict
