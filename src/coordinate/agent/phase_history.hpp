#pragma once

#include <algorithm>
#include <cstdint>

#include "coordinate/agent/speed_window.hpp"
#include "coordinate/agent/usual_speed.hpp"
#include "coordinate/estimates/caches_fill.hpp"
#include "coordinate/estimates/recent_mean.hpp"

namespace halcyon::coordinate {

/// What the last I/O phases of a node were like, for those without a forecast.
class phase_history {
  public:
    struct compared : speed_window::moved {
        double speed = 0;  ///< relative to the usual one alone of windows like it; 0: not known
    };

    void began(double now_s) {
        if (began_s_ >= 0) starts_.add(now_s - began_s_);
        began_s_ = now_s;
        told_s_ = 0;
        is_long_ = false;
    }
    void ended(int64_t bytes) {
        window_.clear();
        short_ones_ = is_long_ ? 0 : short_ones_ + 1;
        if (bytes > 0) bytes_.add(static_cast<double>(bytes));
    }
    /// `bytes` moved in `duration_s`; `alone`: no other application moved meanwhile. Beside others it is slower, which
    /// tells nothing of the speed alone, but that it is no less. `under_way`: calls that have begun in it or before,
    /// and have not ended. Returns the window of which it is now known what moved, where the speed alone is known of
    /// windows like it; none: seconds of 0.
    compared moved(int64_t bytes, double duration_s, bool alone, int64_t under_way = 0) {
        if (alone != window_alone_) window_.change();
        window_alone_ = alone;
        told_s_ += duration_s;
        const speed_window::moved known = window_.add(bytes, duration_s, under_way);
        if (!(known.seconds > 0)) return {};
        const bool is_first = told_s_ - known.begun_ago_s < caches_fill_s;
        is_long_ = is_long_ || !is_first;
        const bool is_of_short_ones = is_first && later_.alone.is_known() && short_ones_ >= most_short_ones;
        const bool is_like_usual = is_first ? !later_.alone.is_known() : later_.alone.is_known() || !was_alone();
        const double usual = is_of_short_ones ? first_.alone.bytes_per_s() : bytes_per_s_alone();
        (is_first ? first_ : later_).add(known, alone);
        if (!is_like_usual && !is_of_short_ones) return {};
        return {known, usual > 0 && was_alone() ? known.bytes_per_s() / usual : 0};
    }

    // 0: not known.
    [[nodiscard]] double between_starts_s() const { return starts_.mean(); }
    [[nodiscard]] int64_t bytes() const { return static_cast<int64_t>(bytes_.mean()); }
    [[nodiscard]] double bytes_per_s_alone() const {
        for (const speeds* const of : {&later_, &first_})
            if (of->alone.is_known()) return of->alone.bytes_per_s();
        return later_.fastest_beside > 0 ? later_.fastest_beside : first_.fastest_beside;
    }
    /// Whether any of it was seen alone: else what is known of the speed alone is only that it is no less.
    [[nodiscard]] bool was_alone() const { return later_.alone.is_known() || first_.alone.is_known(); }

  private:
    /// So many phases in a row without a window but those that begin with a phase, and these are told again: there are
    /// no others any more. Each is relative to such windows, since caches take a part of them.
    static constexpr int64_t most_short_ones = 8;

    struct speeds {
        usual_speed alone;
        double fastest_beside = 0;

        void add(const speed_window::moved& known, bool is_alone) {
            if (is_alone)
                alone.add(known.bytes_per_s(), known.seconds);
            else
                fastest_beside = std::max(fastest_beside, known.bytes_per_s());
        }
    };

    recent_mean starts_, bytes_;
    speed_window window_;
    bool window_alone_ = true;
    double began_s_ = -1;
    double told_s_ = 0;       ///< of the phase
    bool is_long_ = false;    ///< likewise: it has a window that does not begin with it
    int64_t short_ones_ = 0;  ///< phases without one since the latest that had one
    speeds first_, later_;    ///< of windows that begin with a phase, which count only where no others are known
};

}  // namespace halcyon::coordinate
