#pragma once

#include <cmath>

namespace halcyon::coordinate {

/// Of all bytes by all time, those of long ago for less: a report of few calls in little time counts for little.
class mean_speed {
  public:
    explicit mean_speed(double half_life_s) : half_life_s_(half_life_s) {}

    void add(double bytes, double seconds) {
        const double kept = std::exp2(-seconds / half_life_s_);
        bytes_ = bytes_ * kept + bytes;
        seconds_ = seconds_ * kept + seconds;
    }
    /// 0: not known.
    [[nodiscard]] double bytes_per_s() const { return seconds_ > 0 ? bytes_ / seconds_ : 0; }
    /// That it is about.
    [[nodiscard]] double seconds() const { return seconds_; }

  private:
    double half_life_s_;
    double bytes_ = 0, seconds_ = 0;
};

}  // namespace halcyon::coordinate
