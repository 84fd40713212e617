#pragma once

#include <cstdint>

namespace halcyon::coordinate {

/// When the process began, in ticks since the node's start; 0: there is none of this number, or it is dead and nobody
/// has waited for it yet. Makes system calls only, none of which is the C library's.
uint64_t start_of_process(int pid);

}  // namespace halcyon::coordinate
