#pragma once

#include <fcntl.h>

#include "calls/memory_backend/space.hpp"

/// Locks of fcntl(2) on ranges of files, by the kernel's on the memfd: the range of inode n begins at n * 2^40.
namespace halcyon::calls::in_memory::record_locks {

/// F_SETLK, F_SETLKW, F_GETLK. -EOVERFLOW for a range that begins where no file can be.
int set(int memory, uint32_t inode, int command, struct flock& range);
/// All of this process.
void drop(int memory, uint32_t inode);

}  // namespace halcyon::calls::in_memory::record_locks
