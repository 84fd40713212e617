#pragma once

#include <algorithm>
#include <cstdint>

namespace halcyon {

/// How much of something is allowed: `per_s` in the long run, and `burst` at once after a pause.
struct rate_limit {
    double per_s = 0, burst = 0;
};

/// The tokens that a rate limit leaves now; starts full. The clock is the caller's; one that goes back gives nothing.
class token_bucket {
  public:
    explicit token_bucket(const rate_limit& limit, int64_t now_ns) : tokens_(limit.burst), filled_ns_(now_ns) {}

    /// False: not so many are left, and none was taken. More than the burst are never left.
    bool take(const rate_limit& limit, double tokens, int64_t now_ns) {
        fill(limit, now_ns);
        if (tokens > tokens_) return false;
        tokens_ -= tokens;
        return true;
    }
    [[nodiscard]] double tokens(const rate_limit& limit, int64_t now_ns) {
        fill(limit, now_ns);
        return tokens_;
    }

  private:
    void fill(const rate_limit& limit, int64_t now_ns) {
        if (now_ns <= filled_ns_) return;
        tokens_ = std::min(limit.burst, tokens_ + limit.per_s * static_cast<double>(now_ns - filled_ns_) * 1e-9);
        filled_ns_ = now_ns;
    }

    double tokens_;
    int64_t filled_ns_;
};

}  // namespace halcyon
