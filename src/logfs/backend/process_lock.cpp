#include "logfs/backend/process_lock.hpp"

#include <linux/futex.h>
#include <time.h>

#include <cerrno>

#include "calls/backends/mounts.hpp"
#include "calls/state/direct_call.hpp"

namespace halcyon::logfs {
namespace {

namespace direct = calls::direct;

struct numbered_thread {
    uint32_t number;
    uint32_t process;  ///< `processes`, when the number was asked for
};
constinit thread_local numbered_thread here __attribute__((tls_model("initial-exec"))) = {0, 0};
constinit std::atomic<uint32_t> processes{1};

}  // namespace

uint32_t this_thread_number() {
    const uint32_t process = processes.load(std::memory_order_relaxed);
    if (here.process == process) [[likely]]
        return here.number;
    const auto number = static_cast<uint32_t>(direct::thread_id());
    if (calls::backends::shares_memory_with_parent()) return number;  // the memory is its parent's, the number its own
    here.number = number;
    std::atomic_signal_fence(std::memory_order_seq_cst);  // a handler finds both, or asks again
    here.process = process;
    return number;
}

void renumber_threads() {
    processes.fetch_add(1, std::memory_order_relaxed);
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
