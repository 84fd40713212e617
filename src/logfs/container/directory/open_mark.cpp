#include "logfs/container/directory/open_mark.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>

namespace halcyon::logfs {

int say_open(file_calls& calls, int directory, const char* marker) {
    int fd = calls.open_at(directory, marker, O_RDONLY, 0);
    if (fd == -EACCES) fd = calls.open_at(directory, marker, O_WRONLY, 0);
    if (fd < 0) return fd;
    // Whoever has it alone has it for a moment.
    static_cast<void>(calls.lock_part(fd, open_place, 1, false, true));
    struct stat there {};
    if (calls.status_at(directory, marker, there) != -ENOENT) return fd;
    calls.close(fd);
    return -ESTALE;
}

void say_closed(file_calls& calls, int fd) {
    calls.unlock_part(fd, open_place, 1);
}

int keep_alone(file_calls& calls, int fd) {
    return calls.lock_part(fd, open_place, 1, true, false);
}

}  // namespace halcyon::logfs
