#include "logfs/background/watched_job.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/clock.hpp"
#include "logfs/container/files/file_calls.hpp"

namespace halcyon::logfs {
namespace {

constexpr int64_t look_every_ns = 200'000'000;

void sleep_ns(int64_t ns) {
    const timespec time{ns / 1'000'000'000, ns % 1'000'000'000};
    ::nanosleep(&time, nullptr);
}

}  // namespace

watched_process::watched_process(pid_t pid) {
    // Of one that has ended already there is none.
    if (pid > 0) process_ = descriptor(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
}

bool watched_process::has_ended() {
    pollfd waits{process_.get(), POLLIN, 0};
    if (process_ && ::poll(&waits, 1, 0) > 0) process_.reset();
    return !process_;
}

bool watched_process::wait(int64_t longest_ns) {
    const timespec limit{longest_ns / 1'000'000'000, longest_ns % 1'000'000'000};
    pollfd waits{process_.get(), POLLIN, 0};  // of no descriptor: for the time alone
    if (::ppoll(&waits, 1, &limit, nullptr) > 0) process_.reset();
    return !process_;
}

result<void> watched_users::take(watched_users& made, const std::string& file) {
    made.file_ = descriptor(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!made.file_) return system_failure(file + ": cannot open", errno);
    const int locked = kernel_files().lock_part(made.file_.get(), place_of_agent, 1, true, false);
    if (locked == -EAGAIN)
        return failure{error_kind::unavailable, file + ": another agent works for these processes", EBUSY};
    return locked == 0 ? result<void>() : result<void>(system_failure(file + ": cannot lock", -locked));
}

bool watched_users::has_ended() {
    struct flock others {};
    others.l_type = F_WRLCK;
    others.l_whence = SEEK_SET;
    others.l_start = place_of_users;
    others.l_len = 1;
    return ::fcntl(file_.get(), F_OFD_GETLK, &others) == 0 && others.l_type == F_UNLCK;
}

bool watched_users::wait(int64_t longest_ns) {
    const bool had_ended = has_ended();
    const int64_t until_ns = monotonic_ns() + longest_ns;
    for (int64_t now_ns = monotonic_ns(); now_ns < until_ns; now_ns = monotonic_ns()) {
        sleep_ns(std::min(look_every_ns, until_ns - now_ns));
        if (!had_ended && has_ended()) return true;
    }
    return has_ended();
}

bool watched_users::keep_others_out() {
    return kernel_files().lock_part(file_.get(), place_of_users, 1, true, false) == 0;
}

void watched_users::let_come() {
    kernel_files().unlock_part(file_.get(), place_of_users, 1);
}

}  // namespace halcyon::logfs
