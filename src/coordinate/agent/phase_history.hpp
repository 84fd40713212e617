#pragma once

#include <algorithm>
#include <cstdint>

#include "coordinate/agent/speed_window.hpp"
#include "coordinate/agent/usual_speed.hpp"
#include "coordinate/estimates/recent_mean.hpp"

namespace halcyon::coordinate {

/// What the last I/O phases of a node were like, for those without a forecast.
class phase_history {
  public:
    void began(double now_s) {
        if (began_s_ >= 0) starts_.add(now_s - began_s_);
        began_s_ = now_s;
    }
    void ended(int64_t bytes) {
        window_.clear();
        if (bytes > 0) bytes_.add(static_cast<double>(bytes));
    }
    /// `bytes` moved in `duration_s`; `alone`: no other application moved meanwhile. Beside others it is slower, which
    /// tells nothing of the speed alone, but that it is no less. `under_way`: calls that have begun in it or before,
    /// and have not ended. Returns the window of which it is now known what moved; none: seconds of 0.
    speed_window::moved moved(int64_t bytes, double duration_s, bool alone, int64_t under_way = 0) {
        if (alone != window_alone_) window_.change();
        window_alone_ = alone;
        const speed_window::moved known = window_.add(bytes, duration_s, under_way);
        if (known.seconds > 0 && alone)
            alone_.add(known.bytes_per_s(), known.seconds);
        else if (known.seconds > 0)
            fastest_beside_ = std::max(fastest_beside_, known.bytes_per_s());
        return known;
    }

    // 0: not known.
    [[nodiscard]] double between_starts_s() const { return starts_.mean(); }
    [[nodiscard]] int64_t bytes() const { return static_cast<int64_t>(bytes_.mean()); }
    [[nodiscard]] double bytes_per_s_alone() const { return was_alone() ? alone_.bytes_per_s() : fastest_beside_; }
    /// Whether any of it was seen alone: else what is known of the speed alone is only that it is no less.
    [[nodiscard]] bool was_alone() const { return alone_.is_known(); }

  private:
    recent_mean starts_, bytes_;
    speed_window window_;
    bool window_alone_ = true;
    double began_s_ = -1;
    usual_speed alone_;
    double fastest_beside_ = 0;
};

}  // namespace halcyon::coordinate
