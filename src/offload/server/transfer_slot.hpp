#pragma once

#include <cstdint>

namespace halcyon::offload {

/// When this server may write so that the servers of a job take turns without a word between them: each divides the
/// estimated length of an iteration into as many slots as there are servers and waits for its own
/// (Dorier 2014, section 3.3.4).
class transfer_slot {
  public:
    transfer_slot(bool enabled, int server, int servers) : enabled_(enabled), server_(server), servers_(servers) {}

    /// An iteration became complete at `now_ns`. Returns how long to wait before writing it.
    int64_t delay_ns(int64_t now_ns) {
        if (last_ns_ != 0) {
            const int64_t length = now_ns - last_ns_;
            // Weighted mean that forgets half of the past every other iteration.
            estimate_ns_ = estimate_ns_ == 0 ? length : (7 * estimate_ns_ + 3 * length) / 10;
        }
        last_ns_ = now_ns;
        return enabled_ && servers_ > 0 ? estimate_ns_ / servers_ * server_ : 0;
    }
    [[nodiscard]] int64_t estimate_ns() const { return estimate_ns_; }
    /// When the latest iteration was complete.
    [[nodiscard]] int64_t last_ns() const { return last_ns_; }

  private:
    bool enabled_;
    int64_t server_, servers_;
    int64_t last_ns_ = 0;
    int64_t estimate_ns_ = 0;
};

}  // namespace halcyon::offload
