#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace halcyon::coordinate {

/// Positions that decisions may look at in searches: so many a second of the coordinator's clock, those of one second
/// at once, and a quarter of these in one decision. So that hard situations, which each message may change, leave it
/// time for everything else, and the next heartbeat is not kept waiting for long (`lease_silence_s`).
class search_budget {
  public:
    explicit search_budget(double positions_per_s) : per_s_(positions_per_s), left_(positions_per_s) {}

    uint64_t left(double now_s) {
        left_ = std::min(per_s_, left_ + per_s_ * std::max(0.0, now_s - at_s_));
        at_s_ = std::max(at_s_, now_s);
        return static_cast<uint64_t>(std::min(left_, std::ceil(per_s_ * of_one_decision)));
    }
    /// A few more than were left, perhaps: each group of a decision has some in any case.
    void spend(uint64_t positions) { left_ = std::max(0.0, left_ - static_cast<double>(positions)); }

  private:
    static constexpr double of_one_decision = 0.25;
    double per_s_;
    double left_;
    double at_s_ = 0;
};

}  // namespace halcyon::coordinate
