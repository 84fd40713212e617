#pragma once

#include <atomic>
#include <cstdint>

#include "base/clock.hpp"
#include "calls/state/direct_call.hpp"

namespace halcyon::calls {

/// How long one thread waits for another: in turns of the processor given away, and then by the clock. Nobody waits
/// without end: the other may have been stopped (by a debugger, a garbage collector, a signal handler that waits for
/// the very thread that waits here).
class patience {
  public:
    /// Of the first wait in vain.
    static constexpr int64_t longest_wait_ns = 2'000'000'000;

    /// The more often it ended before, the shorter it is: all waits in vain together take twice the longest.
    explicit patience(std::atomic<uint32_t>& ended) : ended_(ended) {}

    /// Gives the processor away; false when the wait has been too long.
    bool wait() {
        direct::yield();
        if (++turns_ < turns_before_clock) return true;
        const int64_t now = monotonic_ns();
        if (since_ == 0) since_ = now;
        const uint32_t before = ended_.load(std::memory_order_relaxed);
        if (now - since_ < (before < 62 ? longest_wait_ns >> before : 0)) return true;
        ended_.fetch_add(1, std::memory_order_relaxed);
        return false;
    }

  private:
    static constexpr int turns_before_clock = 1000;

    std::atomic<uint32_t>& ended_;
    int turns_ = 0;
    int64_t since_ = 0;
};

}  // namespace halcyon::calls
