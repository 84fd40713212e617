#pragma once

#include <cstddef>
#include <cstdint>

#include "base/shared_layout.hpp"

/// How libhalcyon asks libhalcyon-io, which may come from another release, what I/O the process is about to do: a table
/// with a version, of plain values with fixed places.
namespace halcyon::io_forecast {

inline constexpr uint32_t version = 2;
inline constexpr size_t longest_path = 512;
inline constexpr int64_t not_known = -1;

/// An access that is expected. Times count from the moment of the forecast.
struct access {
    uint32_t operation;  ///< 0 open, 1 close, 2 read, 3 write, 4 copy, 5 sync
    uint32_t new_file;   ///< 1: opens a file that the process did not use before
    int64_t offset;
    int64_t bytes;
    int64_t begins_ns;
    int64_t deviation_ns;
    int64_t duration_ns;
    double probability;
    uint32_t thread;
    uint32_t ahead;  ///< of a new file: it is the first, second, … of those to come with such a name; 0: of others
    char path[longest_path];  ///< ended by 0; "": not known
};

struct question {
    uint64_t most;      ///< accesses
    int64_t window_ns;  ///< those that begin within it; not_known: however late
};

struct answer {
    uint64_t count;     ///< of accesses
    uint32_t complete;  ///< 1: there are no more of those that were asked for
    uint32_t threads;   ///< whose I/O is forecast
    uint32_t late;      ///< threads left out, since they have not done for long what was expected of them
    uint32_t busy;      ///< threads left out, since they were learning all the time
    uint64_t calls_done;
    uint64_t calls_left;
    int64_t bytes_left;
    int64_t time_left_ns;
    double phase_confidence;
    int64_t next_phase_ns;
    int64_t next_phase_deviation_ns;
    double next_phase_confidence;
    int64_t next_phase_earliest_ns;  ///< nine of ten phases begin between these; not_known: nothing to judge by yet
    int64_t next_phase_latest_ns;
    int64_t rest_buffer_bytes;
    int64_t phase_buffer_bytes;
    int64_t flush_in_ns;
    int64_t flush_for_ns;
};

struct source {
    uint32_t version;
    /// False when there is no memory to walk ahead in. `accesses`: room for as many as are asked for.
    bool (*forecast)(const question& asked, access* accesses, answer& found);
};

/// Of libhalcyon-io, by the name `halcyon_io_forecast`: null when it knows no forecasts of that version, or the layer
/// `predict` is not on.
using entry_point = const source*(uint32_t wanted);

static_assert(has_copied_layout<access, 576, 8>() && has_copied_layout<question, 16, 8>());
static_assert(has_copied_layout<answer, 136, 8>() && has_copied_layout<source, 16, 8>());

}  // namespace halcyon::io_forecast
