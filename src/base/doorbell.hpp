#pragma once

#include "base/futex.hpp"
#include "base/shared_layout.hpp"

namespace halcyon {

/// Wakes one sleeping consumer; lies in shared memory. Many producers, one consumer.
///
/// Protocol (Dekker's): a producer first publishes its work, then calls ring(); the consumer calls prepare(), then
/// looks for work once more, then sleep() or cancel(). Both sides put a full fence between their write and their
/// read, so either the consumer sees the work or the producer sees `asleep`. ring() makes a system call only when the
/// consumer sleeps.
class doorbell {
  public:
    /// Producer. True if the consumer had to be woken.
    bool ring() {
        std::atomic_thread_fence(std::memory_order_seq_cst);
        if (asleep_.load(std::memory_order_relaxed) == 0) return false;
        if (asleep_.exchange(0, std::memory_order_acq_rel) == 0) return false;
        futex_wake(asleep_, 1);
        return true;
    }

    /// Consumer: announces that it is about to sleep.
    void prepare() {
        asleep_.store(1, std::memory_order_relaxed);
        std::atomic_thread_fence(std::memory_order_seq_cst);
    }
    /// Consumer: found work after prepare().
    void cancel() { asleep_.store(0, std::memory_order_relaxed); }
    /// Consumer: sleeps until rung or `timeout_ns` has passed (negative: no limit).
    void sleep(int64_t timeout_ns) {
        if (asleep_.load(std::memory_order_acquire) != 0) futex_wait(asleep_, 1, timeout_ns);
        asleep_.store(0, std::memory_order_relaxed);
    }

  private:
    std::atomic<uint32_t> asleep_{0};
};
static_assert(has_shared_layout<doorbell, 4, 4>());
static_assert(are_shared_atomics<uint32_t>);

}  // namespace halcyon
