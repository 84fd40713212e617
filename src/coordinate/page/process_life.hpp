#pragma once

#include <cstdint>

namespace halcyon::coordinate {

/// When the process began, in ticks since the node's start; 0: there is none of this number, or it is dead and nobody
/// has waited for it yet. Makes system calls only, none of which is the C library's.
uint64_t start_of_process(int pid);

/// The PID namespace of this process; 0: not known. Likewise.
uint64_t own_pid_namespace();

/// Whether /proc shows processes by the numbers that they have for this one: a new PID namespace may still have the
/// /proc of its parent, in which these numbers are of others, or of nobody. Likewise.
bool proc_numbers_processes_as_here();

/// Bytes that the process has given to and got from system calls that read and write, ever, whatever they went to: the
/// system's own account, without memory that is mapped. Negative: it does not say. Likewise.
int64_t bytes_of_process(int pid);

}  // namespace halcyon::coordinate
