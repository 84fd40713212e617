#pragma once

#include <linux/futex.h>

#include "calls/state/direct_call.hpp"
#include "coordinate/page/page.hpp"

namespace halcyon::coordinate {

/// Wakes the agent, within an application.
inline void ring_agent(page& shared) {
    shared.bell.ring([](std::atomic<uint32_t>& word) {
        calls::direct::call(SYS_futex, calls::direct::address(&word), FUTEX_WAKE, INT32_MAX);
    });
}

}  // namespace halcyon::coordinate
