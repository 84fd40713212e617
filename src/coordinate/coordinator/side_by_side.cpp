#include "coordinate/coordinator/side_by_side.hpp"

#include <algorithm>
#include <vector>

namespace halcyon::coordinate {

namespace {

/// After so many observations a pair is known.
constexpr uint32_t observations_of_known = 8;

}  // namespace

void side_by_side::movers_changed(double now_s) {
    changed_s_ = now_s;
    speeds_.clear();
}

void side_by_side::disturbed(double until_s) {
    disturbed_until_s_ = std::max(disturbed_until_s_, until_s);
}

bool side_by_side::all_known(std::span<const policy::application> movers) const {
    for (const auto& one : movers)
        for (const auto& other : movers)
            if (one.id != other.id && policy::share_targets(one, other) &&
                learned_.observations(one.id, other.id) < observations_of_known)
                return false;
    return true;
}

double side_by_side::expected_speed(const policy::application& one, std::span<const policy::application> movers) const {
    double slow_down = 1;
    for (const auto& other : movers)
        if (other.id != one.id && policy::share_targets(one, other))
            slow_down += learned_.between(one, other).first - 1;
    return 1 / slow_down;
}

void side_by_side::report(uint64_t one, std::span<const policy::application> movers, double speed, double begin_s,
                          double now_s) {
    if (!(speed > 0) || begin_s < changed_s_ || begin_s < disturbed_until_s_ || !(begin_s < now_s)) return;
    const auto self = std::ranges::find(movers, one, &policy::application::id);
    if (self == movers.end()) return;
    if (all_known(movers)) {  // also: alone
        speeds_[one] = std::min(speed, 1.0);
        if (speeds_.size() == movers.size()) {
            double expected = 0;
            double measured = 0;
            for (const auto& each : movers) {
                expected += each.demand * expected_speed(each, movers);
                measured += each.demand * speeds_[each.id];
            }
            unseen_.observe(expected, measured);
            speeds_.clear();
        }
    }
    if (unseen_.share() > 0) return;
    std::vector<const policy::application*> others;
    for (const auto& other : movers)
        if (other.id != one && policy::share_targets(*self, other)) others.push_back(&other);
    if (!others.empty()) learned_.observe(*self, others, speed);
}

}  // namespace halcyon::coordinate
