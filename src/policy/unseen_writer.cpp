#include "policy/unseen_writer.hpp"

#include <algorithm>
#include <cmath>

#include "policy/sound_values.hpp"

namespace halcyon::policy {

namespace {

/// Below so many standard errors, noise explains a slow-down as well.
constexpr double errors_needed = 2;
/// Observations of several nodes, and those that follow one another, are about the same moments: so many together tell
/// as much as one that is independent.
constexpr double about_same_moment = 8;
/// No mean is as exact as many observations that agree would have it: the speed that they are relative to is a mean,
/// too.
constexpr double least_error = 0.05;
constexpr double least_count = 2 * about_same_moment;
constexpr double most = 0.999;

}  // namespace

void unseen_writer::observe(double expected, double measured) {
    if (!sound::positive(expected) || !sound::positive(measured)) return;
    const double deficit = std::clamp(1 - measured / expected, -1.0, 1.0);
    count_ = std::min(count_ + 1, std::max(remembered_, 1.0));
    const double step = 1 / count_;
    const double before = deficit - deficit_;
    deficit_ += step * before;
    spread_ += step * (before * (deficit - deficit_) - spread_);
    free_ += step * (1 - std::min(measured, 2.0) - free_);
}

double unseen_writer::standard_error() const {
    if (count_ < 2) return 1;
    return std::max(least_error, std::sqrt(spread_ * about_same_moment / (count_ - 1)));
}

double unseen_writer::share() const {
    if (count_ < least_count || deficit_ <= errors_needed * standard_error()) return 0;
    // Slowed down, so the storage is at its limit: what the known ones leave is taken.
    return std::clamp(free_, 0.0, most);
}

}  // namespace halcyon::policy
