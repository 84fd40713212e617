#include "coordinate/coordinator/expected_waits.hpp"

#include <algorithm>
#include <tuple>

#include "policy/sound_values.hpp"

namespace halcyon::coordinate {

void expected_waits::look(const registry& all, const users& by_user, double starvation_s, double now_s) {
    waits_.clear();
    present_.clear();
    groups_.clear();
    for (const uint64_t id : all.active())
        if (const job& one = all.jobs().at(id); one.in_phase()) present_.push_back(&one);
    // Those with a turn are before all others.
    std::ranges::sort(present_, {},
                      [](const job* one) { return std::tuple(!one->has.any(), one->arrived_s, one->id); });
    for (const job* const one : present_) groups_.add(one->targets);
    before_s_.assign(present_.size(), 0);
    for (uint32_t i = 0; i < present_.size(); ++i) {
        const job& one = *present_[i];
        double& sum_s = before_s_[groups_.group_of(i)];
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
