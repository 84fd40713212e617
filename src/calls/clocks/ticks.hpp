#pragma once

#include <cstdint>
#include <ctime>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace halcyon::calls {

/// True where the processor's counter runs at one rate on all cores and the kernel itself keeps time by it. Set once,
/// at start; until then, and elsewhere, ticks are nanoseconds of CLOCK_MONOTONIC.
extern bool counter_is_steady __attribute__((visibility("hidden")));

/// Time in units of the machine's own; anchors (trace header) relate them to nanoseconds. Reading the counter takes a
/// third of what clock_gettime does, and a call is timed twice.
inline int64_t ticks() {
#if defined(__x86_64__)
    if (counter_is_steady) [[likely]]
        return static_cast<int64_t>(__rdtsc());
#endif
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

/// Decides what ticks() counts; to be called before the first of them is kept.
void choose_tick_source();

}  // namespace halcyon::calls
