#pragma once

#include <algorithm>
#include <cstdint>

namespace halcyon::offload {

/// How long the loop of a server with a core to itself dozes before it looks for ended iterations by itself; 0: it
/// sleeps until it is woken. To wake another core takes the simulation up to 30 us, more than to copy a small
/// iteration; what waits for its end is storing alone, which has the whole next iteration. `last_ns`: when the latest
/// iteration was complete; `length_ns`: of an iteration, 0 while unknown. A simulation that is late by another
/// iteration is taken to do something else.
[[nodiscard]] constexpr int64_t doze_ns(int64_t now_ns, int64_t last_ns, int64_t length_ns) {
    constexpr int64_t looks = 64;  // in an iteration
    constexpr int64_t shortest = 100'000, longest = 10'000'000;
    if (length_ns <= 0 || now_ns - last_ns > 2 * length_ns) return 0;
    return std::clamp(length_ns / looks, shortest, longest);
}

}  // namespace halcyon::offload
