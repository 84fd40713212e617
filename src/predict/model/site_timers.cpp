#include "predict/model/site_timers.hpp"

#include <algorithm>
#include <cstdlib>

namespace halcyon::predict {

namespace {

constexpr double error_decay = 1.0 / 16;

}  // namespace

int64_t site_timers::timer::due() const {
    return (beat_error < interval_error ? beat : started) + intervals.next();
}

void site_timers::timer::begin(int64_t start_ns) {
    if (intervals.count() == 0) {
        beat = start_ns;
    } else {
        const int64_t interval = intervals.next();
        const int64_t late = start_ns - (beat + interval);
        const auto off = [](int64_t ns) { return static_cast<double>(std::abs(ns)); };
        interval_error += (off(start_ns - (started + interval)) - interval_error) * error_decay;
        beat_error += (off(late) - beat_error) * error_decay;
        // So far off is another beat.
        beat = std::abs(late) > interval / 2 ? start_ns : start_ns - late + late / 4;
    }
    intervals.learn(start_ns - started);
    started = start_ns;
}

void site_timers::learn(uint32_t symbol, bool is_first, int64_t pause_ns, int64_t start_ns, int64_t end_ns) {
    const auto known = timers_.begin() + count_;
    const auto found = std::find_if(timers_.begin(), known, [&](const timer& one) { return one.symbol == symbol; });
    if (found == known) {
        // Beyond their number, phases that begin otherwise are none of these clocks'.
        if (is_first && count_ < most) timers_[count_++] = {symbol, start_ns, 0, end_ns, {}, 0, 0};
        return;
    }
    if (is_first) {
        found->begin(start_ns);
    } else if (start_ns - found->ended > pause_ns) {
        // It waited for the phase of another site: its clock went on.
        found->started = found->beat = std::min(found->due(), start_ns);
    }
    found->ended = end_ns;
}

int64_t site_timers::next_ns(int64_t now_ns) const {
    int64_t next = policy::not_known;
    for (uint32_t i = 0; i < count_; ++i) {
        if (timers_[i].intervals.count() == 0) continue;
        const int64_t due = timers_[i].due();
        // One that did not come when it was due has ended, or comes at once.
        if (due + timers_[i].intervals.next() < now_ns) continue;
        if (next == policy::not_known || due < next) next = due;
    }
    return next == policy::not_known ? next : std::max(next, now_ns);
}

}  // namespace halcyon::predict
