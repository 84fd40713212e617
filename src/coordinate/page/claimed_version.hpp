#pragma once

#include <atomic>
#include <cstdint>

#include "base/clock.hpp"
#include "calls/state/direct_call.hpp"

namespace halcyon::coordinate {

/// Of something in the page that several threads of a process write, one at a time, and that others read: its version
/// is odd while it changes. Makes the version odd, for this thread alone, and returns it; one more is to be stored
/// behind the change. A thread that does not come to its end, because it was cancelled, or has less priority than this
/// one, is not waited for any longer than a second.
inline uint32_t claim_version(std::atomic<uint32_t>& of) {
    constexpr int64_t patience_ns = 1'000'000'000;
    const int64_t since_ns = monotonic_ns();
    uint32_t version = of.load(std::memory_order_relaxed);
    for (;;) {
        if (version % 2 == 0 &&
            of.compare_exchange_strong(version, version + 1, std::memory_order_acquire, std::memory_order_relaxed))
            return version + 1;
        if (version % 2 == 0) continue;
        if (monotonic_ns() - since_ns > patience_ns) return version;
        calls::direct::yield();
        version = of.load(std::memory_order_relaxed);
    }
}

}  // namespace halcyon::coordinate
