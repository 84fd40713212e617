#pragma once

#include <atomic>
#include <cstdint>

#include "calls/state/blocked_signals.hpp"

namespace halcyon::logfs {

/// What a thread knows of itself; initial-exec: also for handlers.
struct numbered_thread {
    uint32_t number;
    uint32_t process;  ///< `numbered_processes`, when the number was asked for
};
extern constinit thread_local numbered_thread numbered_here __attribute__((tls_model("initial-exec")));
extern constinit std::atomic<uint32_t> numbered_processes;
uint32_t ask_thread_number();

/// The calling thread, as locks call it; asks the kernel once in a thread. Never 0.
inline uint32_t this_thread_number() {
    if (numbered_here.process == numbered_processes.load(std::memory_order_relaxed)) [[likely]]
        return numbered_here.number;
    return ask_thread_number();
}
/// In a forked child, whose threads have other numbers than its parent's.
void renumber_threads();

/// Keeps threads of a process apart. What is taken with all signals blocked (held_lock) no handler finds taken by its
/// own thread, and no jump leaves; who takes it otherwise sees to both (node_use).
///
/// 0: free; else the thread that has it, with `others_sleep` where others may wait.
class process_lock {
  public:
    /// It is the thread's `self` on return. False: the one that had it ended in the middle of something.
    [[nodiscard]] bool lock(uint32_t self) {
        uint32_t free = 0;
        if (word_.compare_exchange_strong(free, self, std::memory_order_acquire)) [[likely]]
            return true;
        return wait(self);
    }
    /// For who would rather go without than wait.
    [[nodiscard]] bool try_lock(uint32_t self) {
        uint32_t free = 0;
        return word_.compare_exchange_strong(free, self, std::memory_order_acquire);
    }
    /// Nothing, where another one has it: in a forked child, and behind a jump.
    void unlock(uint32_t self) {
        uint32_t now = self;
        if (word_.compare_exchange_strong(now, 0, std::memory_order_release)) [[likely]]
            return;
        if (now == (self | others_sleep)) wake_next();
    }
    [[nodiscard]] bool is_free() const { return word_.load(std::memory_order_relaxed) == 0; }
    [[nodiscard]] bool is_of(uint32_t self) const {
        return (word_.load(std::memory_order_relaxed) & ~others_sleep) == self;
    }
    /// In a forked child: the threads that had it or waited for it are not here.
    void forget_others() { word_.store(0, std::memory_order_relaxed); }

  private:
    static constexpr uint32_t others_sleep = uint32_t{1} << 31;

    bool wait(uint32_t self);
    void wake_next();

    std::atomic<uint32_t> word_{0};
};

/// Its thread may have it already, while it forks (log_nodes::keep_still).
class held_lock {
  public:
    explicit held_lock(process_lock& of) : lock_(of), self_(this_thread_number()), was_held_(of.is_of(self_)) {
        if (!was_held_) static_cast<void>(lock_.lock(self_));
    }
    ~held_lock() {
        if (!was_held_) lock_.unlock(self_);
    }
    held_lock(const held_lock&) = delete;
    held_lock& operator=(const held_lock&) = delete;

  private:
    const calls::blocked_signals whole_;
    process_lock& lock_;
    const uint32_t self_;
    const bool was_held_;
};

}  // namespace halcyon::logfs
