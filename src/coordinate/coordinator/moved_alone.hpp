#pragma once

#include <cstdint>

#include "coordinate/coordinator/mean_speed.hpp"

namespace halcyon::coordinate {

/// Of applications that had the storage for themselves, in the last seconds of that: their speed, and how large they
/// were, since a larger one may be faster. 0: nobody moved alone yet.
class moved_alone {
  public:
    void add(double bytes_per_s, int64_t processes, int64_t nodes, double seconds) {
        speed_.add(bytes_per_s * seconds, seconds);
        processes_.add(static_cast<double>(processes) * seconds, seconds);
        nodes_.add(static_cast<double>(nodes) * seconds, seconds);
    }
    [[nodiscard]] double bytes_per_s() const { return speed_.bytes_per_s(); }
    [[nodiscard]] double processes() const { return processes_.mean(); }
    [[nodiscard]] double nodes() const { return nodes_.mean(); }

  private:
    mean_speed speed_{10};
    fading_mean processes_{10}, nodes_{10};
};

}  // namespace halcyon::coordinate
