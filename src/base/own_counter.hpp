#pragma once

#include <sys/single_threaded.h>

#include <atomic>

namespace halcyon {

/// Adds to a counter in shared memory that this process alone writes; returns what it was before. A signal's handler
/// may do so, too: it is one instruction. While the process has one thread, that does not lock the memory, which takes
/// several times as long.
///
/// Nothing written before it is seen later than it. For other orders there are the functions of std::atomic.
template <class Integer>
inline Integer add_to_own(std::atomic<Integer>& counter, Integer what) {
#if defined(__x86_64__)
    static_assert(sizeof(std::atomic<Integer>) == sizeof(Integer) && sizeof(Integer) >= 4);
    if (__libc_single_threaded) {
        __asm__ volatile("xadd %0, %1" : "+r"(what), "+m"(counter) : : "memory", "cc");
        return what;
    }
#endif
    return counter.fetch_add(what, std::memory_order_release);
}

}  // namespace halcyon
