#include "logfs/backend/private_copy.hpp"

#include <fcntl.h>
#include <linux/memfd.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstdio>

#include "calls/state/direct_call.hpp"

namespace halcyon::logfs {
namespace {

namespace direct = calls::direct;

bool is_error(long result) {
    return result < 0 && result > -4096;
}

/// The file's bytes go there; 0, or -errno.
int fill(log_node& of, int memory, size_t bytes, int64_t offset) {
    const long at = direct::call(SYS_mmap, 0, static_cast<long>(bytes), PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
    if (is_error(at)) return static_cast<int>(at);
    auto* const whole = reinterpret_cast<std::byte*>(at);
    size_t done = 0;
    int failed = 0;
    while (done < bytes) {
        const auto read = of.file().read(offset + static_cast<int64_t>(done), {whole + done, bytes - done});
        if (!read) failed = error_of(read.why());
        if (!read || *read <= 0) break;
        done += static_cast<size_t>(*read);
    }
    direct::call(SYS_munmap, at, static_cast<long>(bytes));
    return failed;
}

}  // namespace

int64_t map_copy(log_node& of, void* at, size_t bytes, int protection, int flags, int64_t offset) {
    constexpr int64_t page = 4096;
    if (bytes == 0 || offset < 0 || offset % page != 0) return -EINVAL;
    const bool is_shared = (flags & MAP_TYPE) != MAP_PRIVATE;
    if (is_shared && (protection & PROT_WRITE) != 0) return -ENODEV;
    const auto memory = static_cast<int>(
        direct::call(SYS_memfd_create, direct::address("halcyon-copy"), static_cast<long>(MFD_CLOEXEC)));
    if (memory < 0) return memory;
    int64_t result = direct::call(SYS_ftruncate, memory, static_cast<long>((bytes + page - 1) / page * page));
    if (result == 0) result = fill(of, memory, bytes, offset);
    if (result == 0) {
        // Open for reading only: mprotect cannot make the mapping writable later.
        char link[32];
        snprintf(link, sizeof link, "/proc/self/fd/%d", memory);
        const int again = is_shared ? direct::open(link, O_RDONLY | O_CLOEXEC) : memory;
        result = again < 0 ? again
                           : direct::call(SYS_mmap, direct::address(at), static_cast<long>(bytes), protection, flags,
                                          again, 0);
        if (is_shared && again >= 0) direct::close(again);
    }
    direct::close(memory);
    return result;
}

}  // namespace halcyon::logfs
