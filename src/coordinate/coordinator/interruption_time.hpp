#pragma once

#include <algorithm>
#include <optional>

#include "coordinate/estimates/recent_mean.hpp"

namespace halcyon::coordinate {

/// How long interruptions take: from a recall to the next grant, the mean of the last eight. One that is slow to stop
/// makes all interruptions look dear, so that no more than `most_s` is believed of any.
class interruption_time {
  public:
    static constexpr double most_s = 1;

    void recalled(double now_s) { since_s_ = now_s; }
    void granted(double now_s) {
        if (since_s_) mean_.add(std::clamp(now_s - *since_s_, 0.0, most_s));
        since_s_.reset();
    }
    /// All have stopped, and nobody was to have the turn any more.
    void came_to_nothing() { since_s_.reset(); }
    /// Not less than what is assumed of all file systems.
    [[nodiscard]] double or_at_least(double assumed_s) const { return std::max(assumed_s, mean_.mean()); }

  private:
    recent_mean mean_;
    std::optional<double> since_s_;
};

}  // namespace halcyon::coordinate
