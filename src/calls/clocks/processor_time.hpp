#pragma once

#include <time.h>

#include <cstdint>

#include "calls/state/direct_call.hpp"

namespace halcyon::calls {

/// Nanoseconds of processor time that this thread has used.
inline int64_t processor_ns() {
    timespec now{};
    direct::call(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, direct::address(&now));
    return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

}  // namespace halcyon::calls
