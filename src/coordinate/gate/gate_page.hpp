#pragma once

#include <atomic>
#include <cstdint>

#include "base/shared_layout.hpp"

namespace halcyon::coordinate {

/// The file that the processes of a command share with the one who starts them and opens their gate. It holds no
/// pointers. Times are in nanoseconds of CLOCK_MONOTONIC, which is why it serves the processes of one machine.
///
/// All up to `opens_ns` is written before the first process maps it. `opens_ns` is the starter's, and is written once;
/// the rest is counted by processes. python/halcyon/delta/gate.py writes and reads the same bytes.
struct gate_page {
    static constexpr uint64_t expected_magic = 0x3165'7461'6768'6368;  // "chhgate1"

    uint64_t magic;
    uint64_t bytes;
    int64_t limit_ns;               ///< no process is held longer
    char clock[128];                ///< node_clock_name() of the starter
    std::atomic<int64_t> opens_ns;  ///< processes go on at this time; 0: it is not known yet

    std::atomic<int64_t> first_arrived_ns;  ///< 0: none has
    std::atomic<int64_t> last_arrived_ns;
    std::atomic<int64_t> first_passed_ns;  ///< of processes that were held; 0: none was
    std::atomic<int64_t> last_passed_ns;
    std::atomic<uint32_t> arrived;  ///< processes that came to their first call before the gate was open
    std::atomic<uint32_t> passed;   ///< of those, they went on when it opened
    std::atomic<uint32_t> let;      ///< of those, they went on after `limit_ns`
    std::atomic<uint32_t> late;     ///< processes that found it open
};

static_assert(are_shared_atomics<int64_t, uint32_t>);
static_assert(has_shared_layout<gate_page, 208, 8>());
static_assert(offsetof(gate_page, opens_ns) == 152 && offsetof(gate_page, arrived) == 192);

}  // namespace halcyon::coordinate
