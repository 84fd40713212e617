#pragma once

#include <algorithm>
#include <cstdint>

#include "coordinate/page/recent_mean.hpp"

namespace halcyon::coordinate {

/// What the last I/O phases of a node were like, for those without a forecast.
class phase_history {
  public:
    void began(double now_s) {
        if (began_s_ >= 0) starts_.add(now_s - began_s_);
        began_s_ = now_s;
    }
    void ended(int64_t bytes) {
        if (bytes > 0) bytes_.add(static_cast<double>(bytes));
    }
    /// `bytes` moved in `duration_s`; `alone`: no other application moved meanwhile. The fastest of many times is taken
    /// for the speed alone: whatever else happens makes I/O slower. It fades, so that one lucky time does not stand for
    /// ever, but not while others move: in a long time of interference it would come down to the speed beside them.
    void moved(int64_t bytes, double duration_s, bool alone) {
        constexpr double least_s = 0.02, kept = 0.995;
        if (bytes <= 0 || duration_s < least_s) return;
        fastest_ = std::max(fastest_ * (alone ? kept : 1), static_cast<double>(bytes) / duration_s);
    }

    // 0: not known.
    [[nodiscard]] double between_starts_s() const { return starts_.mean(); }
    [[nodiscard]] int64_t bytes() const { return static_cast<int64_t>(bytes_.mean()); }
    [[nodiscard]] double bytes_per_s_alone() const { return fastest_; }

  private:
    recent_mean starts_, bytes_;
    double began_s_ = -1;
    double fastest_ = 0;
};

}  // namespace halcyon::coordinate
