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

/// Of one that is not counted yet. The targets of those that are gone are forgotten when they may be most of all.
bool movers::may_have_company(const registry& all, const job& of) {
    if (gone_ > counted_) {
        taken_.clear();
        gone_ = 0;
        for (auto id = all.active().begin(); counted_ > 0 && id != all.active().end(); ++id)
            if (const job& one = all.jobs().at(*id); *id != of.id && one.counted_mover) taken_.add(one.targets);
    }
    return taken_.group_at(of.targets) != policy::target_groups::nobody;
}

/// Where applications use targets of their own, that is no look at all of them.
void movers::count(registry& all, job& of, int64_t more, double now_s) {
    of.forget_speed(now_s);
    const bool alone = more > 0 ? !may_have_company(all, of) : of.others == 0;
    of.others = 0;
    if (more > 0) {
        taken_.add(of.targets);
        ++counted_;
    } else {
        --counted_;
        ++gone_;
    }
    if (alone) return;
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
