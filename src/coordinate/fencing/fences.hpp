#pragma once

#include <cstdint>

namespace halcyon::coordinate {

/// Fencing numbers of one coordinator: its epoch in the upper half, a counter in the lower one. Those of a later epoch
/// are all higher.
class fences {
  public:
    explicit fences(uint64_t epoch) : next_((epoch << 32U) + 1), epoch_(epoch) {}

    uint64_t take() { return next_++; }
    [[nodiscard]] uint64_t epoch() const { return epoch_; }
    static uint64_t epoch_of(uint64_t fence) { return fence >> 32U; }
    /// Of 2^32 numbers a million are left.
    [[nodiscard]] bool nearly_used_up() const { return (next_ & 0xffffffffU) > 0xffffffffU - 1'000'000; }

  private:
    uint64_t next_;
    uint64_t epoch_;
};

}  // namespace halcyon::coordinate
