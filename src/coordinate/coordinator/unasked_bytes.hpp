#pragma once

#include <algorithm>
#include <cstdint>

#include "coordinate/coordinator/mean_speed.hpp"

namespace halcyon::coordinate {

/// Whether what moves unasked is much beside what moves under turns. Little of it changes no speed that is worth
/// knowing, and must not keep anybody's speed from being learnt: one byte now and then is no I/O.
class unasked_bytes {
  public:
    /// Of one report; `beside_bytes_per_s`: that those with a turn move, 0 where that is not known. True: much.
    bool add(int64_t bytes, double beside_bytes_per_s, double now_s) {
        mean_.add(static_cast<double>(bytes), std::min(now_s - told_s_, longest_s));
        told_s_ = now_s;
        return mean_.mean() >= least_part * beside_bytes_per_s;
    }

  private:
    static constexpr double least_part = 0.05;
    /// The time that the first report behind a pause is about, at most: agents tell more often.
    static constexpr double longest_s = 0.5;
    fading_mean mean_{0.5};
    double told_s_ = -1e9;
};

}  // namespace halcyon::coordinate
