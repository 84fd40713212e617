#include "calls/memory_backend/record_locks.hpp"

#include <algorithm>
#include <cerrno>

#include "calls/memory_backend/byte_locks.hpp"

namespace halcyon::calls::in_memory::record_locks {

int set(int memory, uint32_t inode, int command, struct flock& range) {
    if (command != F_SETLK && command != F_SETLKW && command != F_GETLK) return -EINVAL;
    const int64_t first = range.l_len < 0 ? range.l_start + range.l_len : range.l_start;
    const int64_t count = range.l_len < 0 ? -range.l_len : range.l_len;
    if (range.l_whence != SEEK_SET || first < 0) return -EINVAL;
    if (first >= most_file_bytes) return -EOVERFLOW;
    const int64_t rest = most_file_bytes - first;
    const int64_t base = byte_locks::first_of(inode);
    struct flock asked = byte_locks::bytes(base + first, count == 0 ? rest : std::min(count, rest), range.l_type);
    const int failed = byte_locks::call(memory, command, asked);
    if (failed != 0 || command != F_GETLK) return failed;
    range.l_type = asked.l_type;
    if (asked.l_type == F_UNLCK) return 0;
    range.l_start = asked.l_start - base;
    range.l_len = range.l_start + asked.l_len == most_file_bytes ? 0 : asked.l_len;
    range.l_pid = asked.l_pid;
    return 0;
}

void drop(int memory, uint32_t inode) {
    struct flock whole = byte_locks::bytes(byte_locks::first_of(inode), most_file_bytes, F_UNLCK);
    byte_locks::call(memory, F_SETLK, whole);
}

}  // namespace halcyon::calls::in_memory::record_locks
