#pragma once

#include <cstdint>

namespace halcyon::coordinate {

/// What the system tells of a process; by system calls only, none of which is the C library's.
struct process_life {
    /// There is none of this number, or it is dead and nobody has waited for it yet. Not where the system only does not
    /// tell: it has no descriptor or memory for that, or hides processes of others.
    bool is_dead = false;
    /// When the process began, in ticks since the node's start; 0: it is dead, or this is not known.
    uint64_t start = 0;
    /// Tells the program that it runs from those that it ran before: by where its code and its stack begin, which the
    /// system chooses anew for each. 0: this process may not know.
    uint64_t program = 0;
};
process_life life_of_process(int pid);
inline uint64_t start_of_process(int pid) {
    return life_of_process(pid).start;
}

/// The PID namespace of this process; 0: not known. Likewise.
uint64_t own_pid_namespace();
/// Likewise: the time namespace (base/node_identity.hpp).
uint64_t own_time_namespace();

/// Whether /proc shows processes by the numbers that they have for this one: a new PID namespace may still have the
/// /proc of its parent, in which these numbers are of others, or of nobody. Likewise.
bool proc_numbers_processes_as_here();

/// Bytes that the process has given to and got from system calls that read and write, ever, whatever they went to: the
/// system's own account, without memory that is mapped. Negative: it does not say. Likewise.
int64_t bytes_of_process(int pid);

}  // namespace halcyon::coordinate
