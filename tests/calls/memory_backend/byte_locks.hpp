#pragma once

#include <fcntl.h>

#include "calls/memory_backend/space.hpp"
#include "calls/state/direct_call.hpp"

/// Which bytes of the memfd stand for what in locks of fcntl(2), whose owner is the process. The data lies elsewhere:
/// the kernel's locks only compare numbers. Nobody may close a descriptor of the memfd while the process lives, since
/// that drops all of its locks.
namespace halcyon::calls::in_memory::byte_locks {

inline int call(int memory, int command, struct flock& range) {
    return static_cast<int>(direct::call(SYS_fcntl, memory, command, direct::address(&range)));
}

inline struct flock bytes(int64_t first, int64_t count, short type) {
    struct flock range {};
    range.l_type = type;
    range.l_whence = SEEK_SET;
    range.l_start = first;
    range.l_len = count;
    return range;
}

// There is no inode 0.
inline struct flock of_process(int slot, short type) {
    return bytes(slot, 1, type);
}
inline struct flock of_format(short type) {
    return bytes(most_processes, 1, type);
}
inline constexpr int64_t first_of(uint32_t inode) {
    return int64_t{inode} * most_file_bytes;
}

}  // namespace halcyon::calls::in_memory::byte_locks
