#include "coordinate/coordinator/movers.hpp"

#include <utility>

#include "coordinate/coordinator/turn_keeper.hpp"
#include "policy/interference.hpp"

namespace halcyon::coordinate {

const std::vector<policy::application>& movers::list(const registry& all, double now_s) {
    if (known_) return list_;
    list_.clear();
    for (const uint64_t id : all.active()) {
        const job& one = all.jobs().at(id);
        if (one.moves()) one.describe(list_.emplace_back(), now_s);
    }
    known_ = true;
    return list_;
}

void movers::count(registry& all, job& of, int64_t more, double now_s) {
    of.forget_speed(now_s);
    of.others = 0;
    for (const uint64_t id : all.active()) {
        job& one = *all.find_job(id);
        if (id == of.id || !one.counted_mover || !policy::share_targets(of.targets, one.targets)) continue;
        one.forget_speed(now_s);
        one.others += more;
        of.others += more > 0 ? 1 : 0;
    }
}

void movers::tell(registry& all, outbox& out) {
    if (std::exchange(told_, true)) return;
    for (const uint64_t id : all.active())
        if (job& one = *all.find_job(id); one.counted_mover) turn_keeper::tell_others(one, out);
}

}  // namespace halcyon::coordinate
