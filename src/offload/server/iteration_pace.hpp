#pragma once

#include <cstdint>

namespace halcyon::offload {

/// How long an iteration takes, by when the ones before became complete.
class iteration_pace {
  public:
    /// An iteration became complete at `now_ns`.
    void complete(int64_t now_ns) {
        if (last_ns_ != 0) {
            const int64_t length = now_ns - last_ns_;
            // Weighted mean that forgets half of the past every other iteration.
            estimate_ns_ = estimate_ns_ == 0 ? length : (7 * estimate_ns_ + 3 * length) / 10;
        }
        last_ns_ = now_ns;
    }
    /// 0: not known yet.
    [[nodiscard]] int64_t estimate_ns() const { return estimate_ns_; }
    /// When the latest iteration was complete.
    [[nodiscard]] int64_t last_ns() const { return last_ns_; }

  private:
    int64_t last_ns_ = 0;
    int64_t estimate_ns_ = 0;
};

}  // namespace halcyon::offload
