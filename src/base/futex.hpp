#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <climits>
#include <cstdint>
#include <ctime>

namespace halcyon {

/// Sleeps while `word` holds `expected`, at most `timeout_ns` (negative: no limit). May wake for no reason.
inline void futex_wait(std::atomic<uint32_t>& word, uint32_t expected, int64_t timeout_ns) {
    timespec limit{timeout_ns / 1'000'000'000, timeout_ns % 1'000'000'000};
    // Not FUTEX_PRIVATE_FLAG: the word is shared between processes.
    ::syscall(SYS_futex, &word, FUTEX_WAIT, expected, timeout_ns < 0 ? nullptr : &limit, nullptr, 0);
}

/// Wakes up to `count` sleepers.
inline void futex_wake(std::atomic<uint32_t>& word, int count = INT_MAX) {
    ::syscall(SYS_futex, &word, FUTEX_WAKE, count, nullptr, nullptr, 0);
}

inline void cpu_relax() {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#else
    std::atomic_signal_fence(std::memory_order_seq_cst);
#endif
}

}  // namespace halcyon
