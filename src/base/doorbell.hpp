#pragma once

#include "base/futex.hpp"
#include "base/shared_layout.hpp"

namespace halcyon {

/// Wakes one sleeping consumer; lies in shared memory. Many producers, one consumer.
///
/// Protocol (Dekker's): a producer first publishes its work, then calls ring(); the consumer calls prepare(), then
/// looks for work once more, then sleep() or cancel(). Both sides put a full fence between their write and their
/// read, so either the consumer sees the work or the producer sees `asleep`. ring() makes a system call only when the
/// consumer sleeps. A consumer that will look for work again soon by itself dozes: ring_unless_dozing() leaves it
/// alone.
class doorbell {
  public:
    /// Producer. True if the consumer had to be woken.
    bool ring() {
        std::atomic_thread_fence(std::memory_order_seq_cst);
        return asleep_.load(std::memory_order_relaxed) != awake && wake();
    }
    /// Producer, for work that may wait until a consumer that dozes looks. True if the consumer had to be woken.
    bool ring_unless_dozing() {
        std::atomic_thread_fence(std::memory_order_seq_cst);
        return asleep_.load(std::memory_order_relaxed) == sleeping && wake();
    }

    /// Consumer: announces that it is about to sleep, or to doze.
    void prepare(bool to_doze = false) {
        asleep_.store(to_doze ? dozing : sleeping, std::memory_order_relaxed);
        std::atomic_thread_fence(std::memory_order_seq_cst);
    }
    /// Consumer: found work after prepare().
    void cancel() { asleep_.store(awake, std::memory_order_relaxed); }
    /// Consumer: sleeps until rung or `timeout_ns` has passed (negative: no limit).
    void sleep(int64_t timeout_ns) {
        if (const uint32_t how = asleep_.load(std::memory_order_acquire); how != awake)
            futex_wait(asleep_, how, timeout_ns);
        asleep_.store(awake, std::memory_order_relaxed);
    }

  private:
    static constexpr uint32_t awake = 0, sleeping = 1, dozing = 2;

    bool wake() {
        if (asleep_.exchange(awake, std::memory_order_acq_rel) == awake) return false;
        futex_wake(asleep_, 1);
        return true;
    }

    std::atomic<uint32_t> asleep_{awake};
};
static_assert(has_shared_layout<doorbell, 4, 4>());
static_assert(are_shared_atomics<uint32_t>);

}  // namespace halcyon
