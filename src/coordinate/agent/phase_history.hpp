#pragma once

#include <algorithm>
#include <cstdint>

#include "coordinate/page/begun_bytes.hpp"
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
        begun_.clear();
        if (bytes > 0) bytes_.add(static_cast<double>(bytes));
    }
    /// `bytes` moved in `duration_s`; `alone`: no other application moved meanwhile. The fastest of many times is taken
    /// for the speed alone: whatever else happens makes I/O slower. It fades, so that one lucky time does not stand for
    /// ever, but not while others move: in a long time of interference it would come down to the speed beside them.
    /// `under_way`: calls have begun in it that have not ended. Returns the speed of the interval of which it is now
    /// known what moved; 0: of none.
    double moved(int64_t bytes, double duration_s, bool alone, bool under_way = false) {
        constexpr double least_s = 0.02, kept = 0.995;
        all_alone_ = all_alone_ && alone;
        const auto known = begun_.add(bytes, duration_s, under_way);
        if (!known) return 0;
        const double seen = static_cast<double>(known->bytes) / known->seconds;
        if (known->seconds >= least_s) fastest_ = std::max(fastest_ * (all_alone_ ? kept : 1), seen);
        all_alone_ = alone;
        return seen;
    }

    // 0: not known.
    [[nodiscard]] double between_starts_s() const { return starts_.mean(); }
    [[nodiscard]] int64_t bytes() const { return static_cast<int64_t>(bytes_.mean()); }
    [[nodiscard]] double bytes_per_s_alone() const { return fastest_; }

  private:
    recent_mean starts_, bytes_;
    begun_bytes begun_;
    bool all_alone_ = true;  ///< in the intervals of which it is not known yet what moved
    double began_s_ = -1;
    double fastest_ = 0;
};

}  // namespace halcyon::coordinate
