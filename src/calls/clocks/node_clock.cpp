#include "calls/clocks/node_clock.hpp"

#include "calls/state/direct_call.hpp"

namespace halcyon::calls {

size_t node_clock_name(char* out, size_t room) {
    size_t length = 0;
    const int fd = direct::open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        const ssize_t bytes = direct::read(fd, out, room - 1);
        if (bytes > 0) length = static_cast<size_t>(bytes);
        direct::close(fd);
    }
    while (length > 0 && out[length - 1] == '\n') --length;
    char space[64];
    const long bytes = direct::call(SYS_readlinkat, AT_FDCWD, direct::address("/proc/self/ns/time"),
                                    direct::address(space), sizeof space);
    if (bytes > 0 && length + static_cast<size_t>(bytes) + 2 < room) {
        out[length++] = '/';
        std::memcpy(out + length, space, static_cast<size_t>(bytes));
        length += static_cast<size_t>(bytes);
    }
    out[length] = '\0';
    return length;
}

}  // namespace halcyon::calls
