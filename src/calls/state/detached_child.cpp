#include "calls/state/detached_child.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <time.h>

#include <algorithm>
#include <cerrno>

#include "base/clock.hpp"
#include "base/detached_program.hpp"
#include "calls/state/direct_call.hpp"

namespace halcyon::calls {

int become_detached(int ready, const char* path, const char* const* arguments, const char* const* environment) {
    direct::call(SYS_setsid);
    for (int fd = 0; fd <= 2; ++fd) {
        const int opened = direct::open("/dev/null", fd == 0 ? O_RDONLY : O_WRONLY);
        if (opened >= 0 && opened != fd) {
            direct::call(SYS_dup3, opened, fd, 0);
            direct::close(opened);
        }
    }
    direct::call(SYS_dup3, ready, ready_descriptor, 0);
    direct::call(SYS_close_range, ready_descriptor + 1, ~0U, 0);
    const uint64_t none = 0;
    direct::call(SYS_rt_sigprocmask, SIG_SETMASK, direct::address(&none), 0, sizeof none);
    return static_cast<int>(
        -direct::call(SYS_execve, direct::address(path), direct::address(arguments), direct::address(environment)));
}

long hear_detached(int pipe, int64_t until_ns, char* out, size_t room) {
    for (;;) {
        const int64_t left = std::max<int64_t>(until_ns - monotonic_ns(), 0);
        const timespec limit{left / 1'000'000'000, left % 1'000'000'000};
        pollfd waits{pipe, POLLIN, 0};
        long got = direct::call(SYS_ppoll, direct::address(&waits), 1, direct::address(&limit), 0, 0);
        if (got == 0) return -ETIMEDOUT;
        if (got > 0) got = direct::read(pipe, out, room);
        if (got != -EINTR) return got;
    }
}

}  // namespace halcyon::calls
