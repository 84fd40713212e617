#include "logfs/backend/private_copy.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <linux/memfd.h>
#include <sys/mman.h>
#include <sys/statfs.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "calls/state/direct_call.hpp"
#include "calls/state/standard_error.hpp"

namespace halcyon::logfs {
namespace {

namespace direct = calls::direct;

bool is_error(long result) {
    return result < 0 && result > -4096;
}

/// What the kernel could give to programs without taking it from others; 0: it does not say.
int64_t available_bytes() {
    const int fd = direct::open("/proc/meminfo", O_RDONLY | O_CLOEXEC);
    if (fd < 0) return 0;
    char text[512];
    const ssize_t length = direct::read(fd, text, sizeof text);
    direct::close(fd);
    constexpr std::string_view key = "MemAvailable:";
    const std::string_view all(text, static_cast<size_t>(std::max<ssize_t>(length, 0)));
    const size_t at = all.find(key);
    if (at == std::string_view::npos) return 0;
    const size_t digits = all.find_first_not_of(' ', at + key.size());
    int64_t kibibytes = 0;
    if (digits != std::string_view::npos) std::from_chars(all.data() + digits, all.data() + all.size(), kibibytes);
    return kibibytes * 1024;
}

/// How large a copy in memory may be.
int64_t most_in_memory(int64_t wanted) {
    constexpr int64_t share = 4;
    const int64_t available = available_bytes();
    return wanted > 0 ? wanted : available > 0 ? available / share : INT64_MAX;
}

/// A file without a name on a disk that has room for so much; -ENOMEM: there is none. Blocks first: a store into a page
/// that the disk has no room for would end the application.
int open_on_disk(size_t bytes) {
    const char* const wish = std::getenv("TMPDIR");
    const char* const folder = wish != nullptr && *wish == '/' ? wish : "/tmp";
    const int fd = direct::open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd < 0) return -ENOMEM;
    struct statfs system {};
    const bool is_memory =
        direct::fstatfs(fd, &system) != 0 || system.f_type == TMPFS_MAGIC || system.f_type == RAMFS_MAGIC;
    if (!is_memory && direct::call(SYS_fallocate, fd, 0, 0, static_cast<long>(bytes)) == 0) return fd;
    direct::close(fd);
    return -ENOMEM;
}

void tell_of_size(size_t bytes) {
    static std::atomic<bool> told{false};
    if (told.exchange(true)) return;
    char line[300];
    const int length = snprintf(line, sizeof line,
                                "halcyon: a mapping of %zu bytes of a log container was refused (ENOMEM): that is more "
                                "than HALCYON_LOG_MAPPED allows in memory, or than a quarter of what is free, and "
                                "TMPDIR (/tmp) is on no disk with room for it\n",
                                bytes);
    calls::standard_error::say(line, length);
}

/// A file for a copy of so many bytes; -errno.
int open_copy(size_t bytes, int64_t most_bytes) {
    if (static_cast<int64_t>(bytes) <= most_in_memory(most_bytes))
        return static_cast<int>(
            direct::call(SYS_memfd_create, direct::address("halcyon-copy"), static_cast<long>(MFD_CLOEXEC)));
    const int fd = open_on_disk(bytes);
    if (fd < 0) tell_of_size(bytes);
    return fd;
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

int64_t map_copy(log_node& of, const mapped_part& part, int64_t most_bytes) {
    const auto [at, bytes, protection, flags, offset] = part;
    constexpr int64_t page = 4096;
    if (bytes == 0 || offset < 0 || offset % page != 0) return -EINVAL;
    const bool is_shared = (flags & MAP_TYPE) != MAP_PRIVATE;
    if (is_shared && (protection & PROT_WRITE) != 0) return -ENODEV;
    const auto size = of.file().size();
    if (!size) return error_of(size.why());
    // What lies behind the end takes no room.
    const int64_t filled = std::clamp(*size - offset, int64_t{0}, static_cast<int64_t>(bytes));
    const int memory = open_copy(static_cast<size_t>(filled), most_bytes);
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
