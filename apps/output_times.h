#pragma once

// Where the time of an output phase goes. Writers print it, for people and for scripts.

#include <mpi.h>

enum step { step_open, step_write, step_read, step_sync, step_close, step_count };

/// Of one rank, in seconds. `last`: when the step before ended; `skipped`: what is no part of the output.
struct output_times {
    double begin, last, skipped, spent[step_count];
};

/// All ranks begin together.
void begin_output(struct output_times* times);

/// The time since the last step's end was spent on `step`.
void end_step(struct output_times* times, enum step step);

/// The time since the last step's end is no part of the output.
void skip_time(struct output_times* times);

/// Rank 0 prints the bytes and files of all ranks together, the time from the begin to the end of the last rank, and of
/// each step the time of the slowest rank and the sum over all ranks:
///
///     wrote 192512000 bytes, 1 files, 0.750000 s
///       open 0.001200 0.004000
void print_output(const struct output_times* times, const char* done, long bytes_of_rank, long files);

/// Ends all ranks where a call of MPI failed.
void check_mpi(int code, const char* what);

/// The hint for writing small pieces with others between them. `sieve`: disable, enable, or default: none. To be freed.
MPI_Info sieving_hint(const char* sieve);
