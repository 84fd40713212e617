#pragma once

#include <linux/futex.h>

#include <ctime>

#include "calls/memory_backend/job_processes.hpp"
#include "calls/state/blocked_signals.hpp"
#include "calls/state/direct_call.hpp"

namespace halcyon::calls::in_memory {

/// 0; -ETIMEDOUT, -EAGAIN (the word says something else), or -EINTR.
inline int wait_for_change(std::atomic<uint32_t>& word, uint32_t now, long milliseconds) {
    const timespec longest{milliseconds / 1000, milliseconds % 1000 * 1'000'000};
    return static_cast<int>(
        direct::call(SYS_futex, direct::address(&word), FUTEX_WAIT, now, direct::address(&longest), 0, 0));
}
inline void wake(std::atomic<uint32_t>& word, int most) {
    direct::call(SYS_futex, direct::address(&word), FUTEX_WAKE, most, 0, 0, 0);
}

/// Holds a lock between all threads of all processes of the job, with signals blocked. The word says whose slot holds
/// it, and whether anybody waits. A lock whose process has ended is taken over, and things are as that process left
/// them: a name, a chunk or an inode may be lost, until the memory goes.
class held_job_lock {
  public:
    held_job_lock(space& of, job_processes& processes, std::atomic<uint32_t>& word)
        : word_(word), own_(processes.slot()) {
        const uint32_t name = own_ < 0 ? name_bits : static_cast<uint32_t>(own_ + 1);
        for (int tries = 0; tries < turns; ++tries) {
            uint32_t nobody = 0;
            if (word_.compare_exchange_weak(nobody, name, std::memory_order_acquire)) return;
        }
        for (;;) {
            uint32_t now = word_.load(std::memory_order_relaxed);
            if (now == 0) {
                if (word_.compare_exchange_strong(now, name | waited_for, std::memory_order_acquire)) return;
                continue;
            }
            if ((now & waited_for) == 0 && !word_.compare_exchange_strong(now, now | waited_for)) continue;
            now |= waited_for;
            if (wait_for_change(word_, now, patience_ms) != -ETIMEDOUT) continue;
            const int holder = static_cast<int>(now & name_bits) - 1;
            if (processes.is_alive(holder, own_)) continue;
            if (!word_.compare_exchange_strong(now, name | waited_for, std::memory_order_acquire)) continue;
            of.head.taken_over.fetch_add(1, std::memory_order_relaxed);
            return;
        }
    }
    ~held_job_lock() {
        if ((word_.exchange(0, std::memory_order_release) & waited_for) != 0) wake(word_, 1);
    }
    held_job_lock(const held_job_lock&) = delete;
    held_job_lock& operator=(const held_job_lock&) = delete;

    /// Slot of the process.
    [[nodiscard]] int own() const { return own_; }

  private:
    static constexpr uint32_t name_bits = 0xffff;
    static constexpr uint32_t waited_for = uint32_t{1} << 31;
    static constexpr int turns = 100;
    static constexpr long patience_ms = 10;

    const blocked_signals whole_;
    std::atomic<uint32_t>& word_;
    const int own_;
};

}  // namespace halcyon::calls::in_memory
