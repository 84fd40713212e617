#pragma once

#include <algorithm>
#include <cstdint>

namespace halcyon::coordinate {

/// Bytes per second that an agent's node moves while it has the turn, from its reports.
class link_speed {
  public:
    void observe(int64_t bytes, double seconds) {
        if (bytes <= 0 || !(seconds > 0)) return;
        const double seen = static_cast<double>(bytes) / seconds;
        bytes_per_s_ += (seen - bytes_per_s_) * (bytes_per_s_ > 0 ? latest_weight : 1);
    }
    /// 0: not known yet.
    [[nodiscard]] double bytes_per_s() const { return bytes_per_s_; }
    /// Bytes of a lease that lasts `seconds`; `first` where the speed is not known.
    [[nodiscard]] int64_t lease(double seconds, int64_t first, int64_t least, int64_t most) const {
        const double wanted = bytes_per_s_ > 0 ? bytes_per_s_ * seconds : static_cast<double>(first);
        return static_cast<int64_t>(
            std::clamp(wanted, static_cast<double>(std::min(least, most)), static_cast<double>(most)));
    }

  private:
    static constexpr double latest_weight = 0.25;
    double bytes_per_s_ = 0;
};

}  // namespace halcyon::coordinate
