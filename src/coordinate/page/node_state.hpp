#pragma once

#include <cstdint>
#include <vector>

#include "coordinate/protocol/messages.hpp"

namespace halcyon::coordinate {

/// The storage targets that the processes of one node use at one file system, of those that are in a phase now or have
/// moved bytes since the last look.
struct node_targets {
    bool all = false;  ///< one of these processes does not know its targets, or moves in no phase that it has announced
    bool told = false;                ///< one of them is in a phase since before the coordinator was told last
    std::vector<uint32_t> some = {};  ///< in ascending order, `most_targets` at most; none with `all`

    bool operator==(const node_targets&) const = default;
};

/// What the processes of one node and job do at one file system, added up. Times are in seconds.
struct node_state {
    int64_t processes = 0;  ///< that have a place in the page
    int64_t active = 0;     ///< of them, with calls under way or held back
    int64_t under_way = 0;  ///< calls that move bytes
    int64_t waiting = 0;    ///< calls that are held back, and phases that programs have announced
    int64_t announced = 0;  ///< of these, phases whose program does not wait for the turn yet
    uint64_t begun = 0;     ///< phases of processes, ever
    int64_t moved = 0;      ///< bytes under leases, ever
    int64_t unasked = 0;    ///< bytes without one, ever
    int64_t pool = 0;       ///< bytes of the lease that no process has taken
    uint64_t round = 0;     ///< the highest that was begun by a process that is in a collective call, or was last
    /// Aggregators in a collective call that may still begin a round below the stop.
    int64_t behind = 0;
    coordinate::operation operation = coordinate::operation::write;  ///< of most active processes, or of all
    node_targets targets;

    // By forecast, 0: not known.
    double forecasts = 0;    ///< when the latest was told, by the clock of the page
    int64_t bytes_left = 0;  ///< of all
    double left_s = 0;       ///< of the longest, without others
    double next_in_s = 0;    ///< of the first
    double next_deviation_s = 0;
    double next_alone_s = 0;
    double next_probability = 0;
    int64_t next_bytes = 0;  ///< of all

    bool operator==(const node_state&) const = default;
};

}  // namespace halcyon::coordinate
