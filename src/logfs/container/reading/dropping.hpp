#pragma once

#include <cstdint>

#include "logfs/container/format/format.hpp"
#include "logfs/container/format/run.hpp"

namespace halcyon::logfs {

/// What a reader knows of one writer, from its index dropping.
struct dropping {
    uint32_t name_at = 0;  ///< in the table's names
    uint32_t clock = 0;    ///< those of one number were written by one clock
    int64_t pid = 0;
    int64_t created_ns = 0;
    int64_t clock_bound_ns = 0;  ///< not below 0
    uint64_t group = 0;
    uint64_t salt = 0;
    int32_t rank = -1;
    bool has_header = false;
    bool has_checks = false;
    bool is_closed = false;  ///< nothing follows
    bool rests = false;      ///< nothing follows, unless its process opens the container again
    bool is_cut = false;     ///< records behind `at` do not fit their check, and were never committed
    bool is_gone = false;    ///< removed by its writer, which wrote nothing
    bool has_damage = false;

    uint64_t state_sequence = 0;  ///< of the state that was taken
    int64_t data_bytes = 0;
    int64_t logical_end = 0;
    uint64_t writes = 0;
    uint64_t written_bytes = 0;
    uint32_t cuts = 0;
    uint32_t live_runs = 0;
    run live[2];                       ///< behind the records; the older one first
    uint32_t live_place = UINT32_MAX;  ///< among those that have such runs

    stream_place at;   ///< the records up to here were taken
    coding_base base;  ///< likewise
    stream_place committed;
    int64_t committed_bytes = 0;
};

}  // namespace halcyon::logfs
