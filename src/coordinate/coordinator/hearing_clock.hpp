#pragma once

#include <algorithm>

namespace halcyon::coordinate {

/// The time in which the coordinator could hear. It runs as the clock does, but while the coordinator was not run (its
/// process stopped, its machine asleep or overloaded) it stands still: of a gap between two looks at the clock no more
/// than `most_gap_s` counts. Whatever punishes for silence is measured by it.
class hearing_clock {
  public:
    hearing_clock(double now_s, double most_gap_s) : clock_s_(now_s), most_gap_s_(most_gap_s) {}

    /// Times that run backwards or are no number change nothing. Returns how long it was not run.
    double look(double now_s) {
        const double gap_s = now_s - clock_s_;
        if (!(gap_s > 0)) return 0;
        clock_s_ = now_s;
        heard_s_ += std::min(gap_s, most_gap_s_);
        return std::max(0.0, gap_s - most_gap_s_);
    }
    [[nodiscard]] double clock_s() const { return clock_s_; }
    [[nodiscard]] double heard_s() const { return heard_s_; }

  private:
    double clock_s_;
    double most_gap_s_;
    double heard_s_ = 0;
};

}  // namespace halcyon::coordinate
