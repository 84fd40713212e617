#pragma once

#include <cmath>

namespace halcyon::coordinate {

/// How fast applications moved that had the storage for themselves, over the last seconds of that: taken for the speed
/// of one of which only the bytes are known.
class storage_speed {
  public:
    /// One moved at `bytes_per_s` in all, for `seconds`.
    void moved(double bytes_per_s, double seconds) {
        if (!(bytes_per_s > 0) || !(seconds > 0)) return;
        const double kept = std::exp2(-seconds / half_life_s);
        bytes_ = bytes_ * kept + bytes_per_s * seconds;
        seconds_ = seconds_ * kept + seconds;
    }
    /// 0: not known.
    [[nodiscard]] double bytes_per_s() const { return seconds_ > 0 ? bytes_ / seconds_ : 0; }

  private:
    static constexpr double half_life_s = 10;
    double bytes_ = 0, seconds_ = 0;
};

}  // namespace halcyon::coordinate
