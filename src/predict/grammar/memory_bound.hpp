#pragma once

#include <cstddef>

namespace halcyon::predict {

/// How many bytes the parts of one grammar may take together, and how many they take.
class memory_bound {
  public:
    explicit memory_bound(size_t bytes) : limit_(bytes) {}

    /// False when it would be too much; nothing is taken then.
    [[nodiscard]] bool take(size_t bytes) {
        if (bytes > limit_ - used_) return false;
        used_ += bytes;
        if (used_ > peak_) peak_ = used_;
        return true;
    }
    void give_back(size_t bytes) { used_ -= bytes; }

    [[nodiscard]] size_t limit() const { return limit_; }
    [[nodiscard]] size_t used() const { return used_; }
    [[nodiscard]] size_t peak() const { return peak_; }

  private:
    size_t limit_;
    size_t used_ = 0;
    size_t peak_ = 0;
};

}  // namespace halcyon::predict
