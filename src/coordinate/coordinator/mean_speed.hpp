#pragma once

#include <cmath>

namespace halcyon::coordinate {

/// A mean over time, in which times of long ago count for less.
class fading_mean {
  public:
    explicit fading_mean(double half_life_s) : half_life_s_(half_life_s) {}

    /// `sum`: the value times the seconds.
    void add(double sum, double seconds) {
        const double kept = std::exp2(-seconds / half_life_s_);
        sum_ = sum_ * kept + sum;
        seconds_ = seconds_ * kept + seconds;
    }
    /// 0: not known.
    [[nodiscard]] double mean() const { return seconds_ > 0 ? sum_ / seconds_ : 0; }
    /// That it is about.
    [[nodiscard]] double seconds() const { return seconds_; }

  private:
    double half_life_s_;
    double sum_ = 0, seconds_ = 0;
};

/// Of all bytes by all time: a report of few calls in little time counts for little.
class mean_speed : public fading_mean {
  public:
    using fading_mean::fading_mean;
    [[nodiscard]] double bytes_per_s() const { return mean(); }
};

}  // namespace halcyon::coordinate
