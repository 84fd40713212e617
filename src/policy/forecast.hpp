#pragma once

#include <cstdint>

namespace halcyon::policy {

/// What an access does to its file.
enum class operation : uint8_t { open, close, read, write, copy, sync };

/// For offsets, sizes and times.
inline constexpr int64_t not_known = -1;

/// One access of a process to a file.
struct access {
    operation what = operation::open;
    uint32_t file = 0;           ///< whatever number whoever made it gives to files; 0: not known
    int64_t offset = not_known;  ///< bytes; also not known where the operation has none
    int64_t bytes = not_known;   ///< likewise
};

/// An access that is expected. Times are in nanoseconds, from the end of the last call that was seen.
struct expected_access {
    access what;
    int64_t begins_ns = 0;
    int64_t deviation_ns = 0;  ///< standard deviation of begins_ns
    int64_t duration_ns = 0;
    double probability = 0;  ///< that this access comes, and all before it came
    bool new_file =
        false;  ///< an open of a file that has no number yet: its own stands for it in the forecasts behind this one
};

/// What is left of a burst of accesses, between two pauses.
struct expected_phase {
    uint64_t calls_done = 0;
    uint64_t calls_left = 0;
    int64_t bytes_left = 0;
    int64_t time_left_ns = 0;  ///< from the end of the last call to the end of the phase's last one
    double confidence = 0;     ///< 0 to 1
};

/// When the next burst begins. Times are from the end of the last call.
struct expected_period {
    int64_t next_in_ns = not_known;  ///< not_known: no two bursts were seen yet
    int64_t deviation_ns = 0;        ///< root mean square of the last errors
    double confidence = 0;           ///< 0 to 1
    // Nine of ten bursts begin between these; not_known: no forecast has been compared with what came yet.
    int64_t earliest_ns = not_known;
    int64_t latest_ns = not_known;
};

}  // namespace halcyon::policy
