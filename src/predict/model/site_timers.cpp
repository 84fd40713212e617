#include "predict/model/site_timers.hpp"

#include <algorithm>

namespace halcyon::predict {

void site_timers::learn(uint32_t symbol, bool is_first, int64_t pause_ns, int64_t start_ns, int64_t end_ns) {
    const auto known = timers_.begin() + count_;
    const auto found = std::find_if(timers_.begin(), known, [&](const timer& one) { return one.symbol == symbol; });
    if (found == known) {
        // Beyond their number, phases that begin otherwise are none of these clocks'.
        if (is_first && count_ < most) timers_[count_++] = {symbol, start_ns, end_ns, {}};
        return;
    }
    const int64_t due = found->started + found->intervals.next();
    if (is_first) {
        found->intervals.learn(start_ns - found->started);
        found->started = start_ns;
    } else if (start_ns - found->ended > pause_ns) {
        // It waited for the phase of another site: its clock went on.
        found->started = std::min(due, start_ns);
    }
    found->ended = end_ns;
}

int64_t site_timers::next_ns(int64_t now_ns) const {
    int64_t next = policy::not_known;
    for (uint32_t i = 0; i < count_; ++i) {
        if (timers_[i].intervals.count() == 0) continue;
        const int64_t due = timers_[i].started + timers_[i].intervals.next();
        // One that did not come when it was due has ended, or comes at once.
        if (due + timers_[i].intervals.next() < now_ns) continue;
        if (next == policy::not_known || due < next) next = due;
    }
    return next == policy::not_known ? next : std::max(next, now_ns);
}

}  // namespace halcyon::predict
