#include "coordinate/coordinator/expected_waits.hpp"

#include <algorithm>

namespace halcyon::coordinate {

void expected_waits::look(const registry& all, const users& by_user, const settings& how, const policy::outlook& from,
                          policy::decider& with) {
    jobs_.clear();
    ahead_.clear();
    for (const uint64_t id : all.active()) {
        const job& one = all.jobs().at(id);
        if (!one.in_phase() || (!one.connected() && !one.has.any())) continue;
        double from_s = one.has.any() ? 0 : by_user.barred_until_s(one);
        if (one.proven) from_s = std::min(from_s, one.since_s + how.bounds.starvation_s);
        policy::application& as = ahead_.add(from_s);
        one.describe(as, from.now_s);
        how.complete(as);
        jobs_.push_back(id);
    }
    ahead_.look(from, with);
}

double expected_waits::of(uint64_t job) const {
    const auto at = std::ranges::lower_bound(jobs_, job);
    return at != jobs_.end() && *at == job ? ahead_.turn_in_s(static_cast<size_t>(at - jobs_.begin())) : 0;
}

}  // namespace halcyon::coordinate
