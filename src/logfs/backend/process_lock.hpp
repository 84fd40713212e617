#pragma once

#include <linux/futex.h>

#include <atomic>
#include <cstdint>

#include "calls/state/blocked_signals.hpp"
#include "calls/state/direct_call.hpp"

namespace halcyon::logfs {

/// Keeps threads of a process apart. Taken by held_lock alone, with all signals blocked: no handler runs in a thread
/// that has it, and none jumps away from it.
///
/// 0: free; 1: taken; 2: taken, and others sleep.
class process_lock {
  public:
    void lock() {
        uint32_t free = 0;
        if (word_.compare_exchange_strong(free, 1, std::memory_order_acquire)) [[likely]]
            return;
        while (word_.exchange(2, std::memory_order_acquire) != 0)
            calls::direct::call(SYS_futex, calls::direct::address(&word_), FUTEX_WAIT_PRIVATE, 2, 0);
    }
    void unlock() {
        if (word_.exchange(0, std::memory_order_release) == 2)
            calls::direct::call(SYS_futex, calls::direct::address(&word_), FUTEX_WAKE_PRIVATE, 1);
    }
    [[nodiscard]] bool is_free() const { return word_.load(std::memory_order_relaxed) == 0; }
    /// In a forked child: the threads that had it or waited for it are not here.
    void forget_others() { word_.store(0, std::memory_order_relaxed); }

  private:
    std::atomic<uint32_t> word_{0};
};

class held_lock {
  public:
    explicit held_lock(process_lock& of) : lock_(of) { lock_.lock(); }
    ~held_lock() { lock_.unlock(); }
    held_lock(const held_lock&) = delete;
    held_lock& operator=(const held_lock&) = delete;

  private:
    const calls::blocked_signals whole_;
    process_lock& lock_;
};

}  // namespace halcyon::logfs
