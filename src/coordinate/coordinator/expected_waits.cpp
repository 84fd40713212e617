#include "coordinate/coordinator/expected_waits.hpp"

#include <algorithm>
#include <tuple>

#include "policy/groups.hpp"
#include "policy/sound_values.hpp"

namespace halcyon::coordinate {

expected_waits::expected_waits(const registry& all, const users& by_user, double starvation_s, double now_s) {
    std::vector<const job*> present;
    for (const uint64_t id : all.active())
        if (const job& one = all.jobs().at(id); one.in_phase()) present.push_back(&one);
    // Those with a turn are before all others.
    std::ranges::sort(present, {}, [](const job* one) { return std::tuple(!one->has.any(), one->arrived_s, one->id); });
    policy::target_groups groups;
    for (const job* const one : present) groups.add(one->targets);
    std::vector<double> before_s(present.size());  // by group
    for (uint32_t i = 0; i < present.size(); ++i) {
        const job& one = *present[i];
        double& sum_s = before_s[groups.group_of(i)];
        if (!one.has.any()) {
            const double starves_in_s = std::max(0.0, starvation_s - (now_s - one.since_s));
            const double barred_for_s = std::max(0.0, by_user.barred_until_s(one) - now_s);
            const double bound_s = one.proven ? starves_in_s : std::max(starves_in_s, barred_for_s);
            waits_.push_back({one.id, std::min(std::max(sum_s, barred_for_s), bound_s)});
        }
        const double left_s = one.left_s(now_s);
        sum_s += left_s >= 0 ? left_s : policy::sound::unknown_s;
    }
    std::ranges::sort(waits_, {}, &wait::job);
}

double expected_waits::of(uint64_t job) const {
    const auto at = std::ranges::lower_bound(waits_, job, {}, &wait::job);
    return at != waits_.end() && at->job == job ? at->expected_s : 0;
}

}  // namespace halcyon::coordinate
