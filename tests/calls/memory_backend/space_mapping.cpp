#include "calls/memory_backend/space_mapping.hpp"

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>

#include "calls/memory_backend/byte_locks.hpp"
#include "calls/memory_backend/names.hpp"
#include "calls/state/direct_call.hpp"

namespace halcyon::calls::in_memory {
namespace {

bool is_error(long result) {
    return result < 0 && result > -4096;
}

void format(space& fresh, int64_t capacity) {
    const int64_t chunks = std::clamp<int64_t>(capacity / chunk_bytes, 1, most_chunks);
    fresh.head.capacity = static_cast<uint32_t>(chunks);
    names tree;
    tree.start(fresh);
    static_cast<void>(tree.make_inode(S_IFDIR | 0755));  // the first: root_inode
    fresh.head.magic.store(magic_number, std::memory_order_release);
}

}  // namespace

// Not closed on exec, and high: applications count on low numbers.
int make_memory() {
    const int fd = static_cast<int>(direct::call(SYS_memfd_create, direct::address("halcyon-files"), 0));
    if (fd < 0) return fd;
    struct {
        uint64_t now, most;
    } limit{1024, 1024};
    direct::call(SYS_prlimit64, 0, RLIMIT_NOFILE, 0, direct::address(&limit));
    const auto least = static_cast<long>(std::min<uint64_t>(limit.now, 65536) * 7 / 8);
    const int high = static_cast<int>(direct::call(SYS_fcntl, fd, F_DUPFD, least));
    if (high < 0) return fd;
    direct::close(fd);
    return high;
}

int map_space(int memory, int64_t capacity, space*& mapped) {
    struct flock format_only_once = byte_locks::of_format(F_WRLCK);
    if (const int failed = byte_locks::call(memory, F_SETLKW, format_only_once); failed != 0) return failed;
    if (const long failed = direct::call(SYS_ftruncate, memory, sizeof(space)); failed != 0)
        return static_cast<int>(failed);
    const long at =
        direct::call(SYS_mmap, 0, sizeof(space), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, memory, 0);
    if (is_error(at)) return static_cast<int>(at);
    mapped = reinterpret_cast<space*>(at);
    if (mapped->head.magic.load(std::memory_order_acquire) != magic_number) format(*mapped, capacity);
    format_only_once.l_type = F_UNLCK;
    byte_locks::call(memory, F_SETLK, format_only_once);
    return 0;
}

}  // namespace halcyon::calls::in_memory
