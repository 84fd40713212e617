#pragma once

#include <algorithm>

#include "coordinate/coordinator/mean_speed.hpp"
#include "coordinate/estimates/begun_bytes.hpp"

namespace halcyon::coordinate {

/// Of one application while nobody else moved: the bytes of all its nodes by the time that passed. Reports of several
/// nodes are about the same time: each counts for as much as has passed since the one before.
class alone_speed {
  public:
    void begin_phase(double now_s) { phase_s_ = now_s; }
    /// Returns the seconds that count. None, in short reports, of what moved at the begin of a phase: caches take the
    /// first bytes faster than the storage does.
    double add(const begun_bytes::moved& what, double now_s) {
        if (now_s - what.begun_ago_s < phase_s_ + caches_fill_s && what.seconds < long_enough_s) return 0;
        const double seconds = std::clamp(now_s - until_s_, 0.0, what.seconds);
        until_s_ = std::max(until_s_, now_s);
        mean_.add(static_cast<double>(what.bytes), seconds);
        return seconds;
    }
    /// 0: not known.
    [[nodiscard]] double bytes_per_s() const { return mean_.bytes_per_s(); }
    /// That it is about.
    [[nodiscard]] double seconds() const { return mean_.seconds(); }

  private:
    static constexpr double caches_fill_s = 0.1, long_enough_s = 1;
    mean_speed mean_{10};
    double phase_s_ = -1e9, until_s_ = -1e9;
};

}  // namespace halcyon::coordinate
