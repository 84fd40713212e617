#pragma once

#include <cstdint>

#include "base/clock.hpp"

namespace halcyon::logfs {

/// A number that nobody else is likely to have. `here`: anything of the caller's.
inline uint64_t rare_number(const void* here) {
    uint64_t mixed = static_cast<uint64_t>(realtime_ns()) ^ (reinterpret_cast<uint64_t>(here) << 20);
    mixed ^= static_cast<uint64_t>(monotonic_ns()) << 32;
    mixed = (mixed ^ (mixed >> 31)) * 0x9E3779B97F4A7C15u;
    return mixed ^ (mixed >> 29);
}

}  // namespace halcyon::logfs
