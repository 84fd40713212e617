#pragma once

#include <atomic>
#include <cstdint>

#include "base/futex.hpp"

namespace halcyon::logfs {

/// Keeps threads of one process apart. A signal's handler must not take it while its thread may have it.
///
/// 0: free; 1: taken; 2: taken, and others sleep.
class short_lock {
  public:
    void lock() {
        uint32_t free = 0;
        if (word_.compare_exchange_strong(free, 1, std::memory_order_acquire)) [[likely]]
            return;
        while (word_.exchange(2, std::memory_order_acquire) != 0) futex_wait(word_, 2, -1);
    }
    void unlock() {
        if (word_.exchange(0, std::memory_order_release) == 2) futex_wake(word_, 1);
    }
    /// In a forked child: the threads that had it or waited for it are not here.
    void forget_others() { word_.store(0, std::memory_order_relaxed); }

  private:
    std::atomic<uint32_t> word_{0};
};

}  // namespace halcyon::logfs
