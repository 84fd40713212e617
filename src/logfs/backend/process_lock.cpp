#include "logfs/backend/process_lock.hpp"

#include <linux/futex.h>
#include <time.h>

#include <cerrno>

#include "calls/backends/mounts.hpp"
#include "calls/state/direct_call.hpp"

namespace halcyon::logfs {
namespace {

namespace direct = calls::direct;

}  // namespace

constinit thread_local numbered_thread numbered_here = {0, 0};
constinit std::atomic<uint32_t> numbered_processes{1};

uint32_t ask_thread_number() {
    const uint32_t process = numbered_processes.load(std::memory_order_relaxed);
    const auto number = static_cast<uint32_t>(direct::thread_id());
    if (calls::backends::shares_memory_with_parent()) return number;  // the memory is its parent's, the number its own
    numbered_here.number = number;
    std::atomic_signal_fence(std::memory_order_seq_cst);  // a handler finds both, or asks again
    numbered_here.process = process;
    return number;
}

void renumber_threads() {
    numbered_processes.fetch_add(1, std::memory_order_relaxed);
}

/// A thread that ended says nothing: it is looked for now and then.
bool process_lock::wait(uint32_t self) {
    constexpr timespec patience{0, 20'000'000};
    for (;;) {
        uint32_t now = word_.load(std::memory_order_relaxed);
        if (now == 0) {
            if (word_.compare_exchange_weak(now, self | others_sleep, std::memory_order_acquire)) return true;
            continue;
        }
        const uint32_t with_sleepers = now | others_sleep;
        if (now != with_sleepers && !word_.compare_exchange_weak(now, with_sleepers, std::memory_order_relaxed))
            continue;
        const long woken = direct::call(SYS_futex, direct::address(&word_), FUTEX_WAIT_PRIVATE,
                                        static_cast<int>(with_sleepers), direct::address(&patience));
        // A child of vfork is another process than its parent's threads, and as such would not find them.
        if (woken != -ETIMEDOUT || calls::backends::shares_memory_with_parent()) continue;
        if (!direct::has_ended(static_cast<int>(with_sleepers & ~others_sleep))) continue;
        now = with_sleepers;
        if (word_.compare_exchange_strong(now, self | others_sleep, std::memory_order_acquire)) return false;
    }
}

void process_lock::wake_next() {
    word_.store(0, std::memory_order_release);
    direct::call(SYS_futex, direct::address(&word_), FUTEX_WAKE_PRIVATE, 1);
}

}  // namespace halcyon::logfs
