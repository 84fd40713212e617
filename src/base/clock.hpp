#pragma once

#include <cstdint>
#include <ctime>

namespace halcyon {

/// Nanoseconds of CLOCK_MONOTONIC: for durations within one node.
inline int64_t monotonic_ns() {
    timespec t{};
    clock_gettime(CLOCK_MONOTONIC, &t);
    return int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

/// Nanoseconds of CLOCK_REALTIME since 1970: for records that several nodes write.
inline int64_t realtime_ns() {
    timespec t{};
    clock_gettime(CLOCK_REALTIME, &t);
    return int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

inline double in_seconds(int64_t ns) {
    return static_cast<double>(ns) / 1e9;
}

}  // namespace halcyon
