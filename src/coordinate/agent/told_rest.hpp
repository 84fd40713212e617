#pragma once

#include <cmath>
#include <cstdint>

#include "coordinate/page/node_state.hpp"

namespace halcyon::coordinate {

/// What the coordinator was told of the rest of a phase.
class told_rest {
  public:
    void tell(int64_t bytes, double seconds, double now_s) {
        bytes_ = bytes;
        seconds_ = seconds;
        at_s_ = now_s;
    }
    /// A forecast has come since, and says something else by more than a quarter.
    [[nodiscard]] bool is_off(const node_state& now) const {
        if (now.forecasts <= at_s_) return false;
        const auto differ = [](double told, double by_now) {
            return by_now > 0 && std::abs(told - by_now) > 0.25 * by_now;
        };
        return differ(static_cast<double>(bytes_), static_cast<double>(now.bytes_left)) || differ(seconds_, now.left_s);
    }

  private:
    int64_t bytes_ = 0;
    double seconds_ = 0;
    double at_s_ = 0;
};

}  // namespace halcyon::coordinate
