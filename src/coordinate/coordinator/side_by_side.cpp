#include "coordinate/coordinator/side_by_side.hpp"

#include <algorithm>
#include <vector>

namespace halcyon::coordinate {

namespace {

/// After so many observations a pair is known.
constexpr uint32_t observations_of_known = 8;
/// A known pair that is slower than expected by more than this has an unseen writer beside it, or has changed: it is
/// learnt only after so many reports in a row.
constexpr double surprising = 0.8;
/// Of each application. An unseen writer is known earlier than that.
constexpr size_t surprises_believed = 64;
/// Of more movers, no speeds are compared: that is work for each pair of them, at each report. And nothing is learnt of
/// an application beside more that share its storage: each of them is too small a part of what slows it down, and the
/// table of pairs would forget all others.
constexpr size_t most_compared = 32;
/// Speeds are relative to the usual one, so as many are above 1 as below. But one that is much faster than usual
/// (caches took it) must not hide others that are slower.
constexpr double fastest = 1.25;

}  // namespace

void side_by_side::movers_changed(double now_s) {
    changed_s_ = now_s;
    speeds_.clear();
}

void side_by_side::disturbed(double until_s) {
    disturbed_until_s_ = std::max(disturbed_until_s_, until_s);
}

bool side_by_side::all_known(std::span<const policy::application> movers) const {
    if (movers.size() > most_compared) return false;
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

/// When all have told their speeds, what they have together tells what is left.
void side_by_side::compare_all(uint64_t one, std::span<const policy::application> movers, double speed) {
    speeds_[one] = std::min(speed, fastest);
    if (speeds_.size() < movers.size()) return;
    double expected = 0;
    double measured = 0;
    for (const auto& each : movers) {
        expected += each.demand * expected_speed(each, movers);
        measured += each.demand * speeds_[each.id];
    }
    together_.observe(expected, measured);
    speeds_.clear();
}

void side_by_side::report(uint64_t one, std::span<const policy::application> movers, double speed, double begin_s,
                          double now_s) {
    if (!(speed > 0) || begin_s < changed_s_ || begin_s < disturbed_until_s_ || !(begin_s < now_s)) return;
    const auto self = std::ranges::find(movers, one, &policy::application::id);
    if (self == movers.end()) return;
    told_s_ = now_s;
    if (movers.size() == 1) {
        alone_s_ = now_s;
        return alone_.observe(self->demand, self->demand * std::min(speed, fastest));
    }
    const bool known = all_known(movers);
    if (known) compare_all(one, movers, speed);
    const bool surprises = known && !alone_lately() && speed < surprising * expected_speed(*self, movers);
    surprises_ = surprises ? surprises_ + 1 : 0;
    if (unseen_share() > 0 || (surprises && surprises_ < surprises_believed * movers.size())) return;
    std::vector<const policy::application*> others;
    for (const auto& other : movers) {
        if (other.id == one || !policy::share_targets(*self, other)) continue;
        if (others.size() == most_compared) return;
        others.push_back(&other);
    }
    if (!others.empty()) learned_.observe(*self, others, speed);
}

}  // namespace halcyon::coordinate
