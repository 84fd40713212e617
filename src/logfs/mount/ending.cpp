#include "logfs/mount/ending.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>
#include <utility>

#include "base/descriptor.hpp"
#include "logfs/mount/mount_point.hpp"

namespace halcyon::logfs {
namespace {

constexpr int end_of_waiting = SIGUSR2;
constexpr int look_again = SIGUSR1;

sigset_t waited_for() {
    sigset_t set;
    ::sigemptyset(&set);
    for (const int signal : {SIGTERM, SIGINT, SIGHUP, end_of_waiting}) ::sigaddset(&set, signal);
    return set;
}

}  // namespace

ending::ending(fuse_session* session, known_mount mount, failure_log& log, const std::atomic<int64_t>& open_files)
    : session_(session), mount_(std::move(mount)), log_(log), open_files_(open_files), server_(::pthread_self()) {
    const sigset_t ours = waited_for();
    ::pthread_sigmask(SIG_BLOCK, &ours, &before_);
    // It interrupts what the serving thread waits in, no more.
    struct sigaction nothing {};
    nothing.sa_handler = [](int) {};
    ::sigaction(look_again, &nothing, nullptr);
    ::signal(SIGPIPE, SIG_IGN);
    thread_ = std::thread([this] { wait(); });
}

ending::~ending() {
    ::pthread_kill(thread_.native_handle(), end_of_waiting);
    thread_.join();
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

void ending::wait() {
    const sigset_t ours = waited_for();
    int signal = 0;
    if (::sigwait(&ours, &signal) != 0 || signal == end_of_waiting) return;
    leave_tree();
    const timespec moment{0, 20'000'000};
    // Other mount namespaces may have copies of the mount, which nothing but this process ends.
    while (open_files_ > 0) {
        signal = ::sigtimedwait(&ours, nullptr, &moment);
        if (signal == end_of_waiting) return;
        if (signal > 0) break;
    }
    // Again and again: the serving thread may be about to wait.
    ::fuse_session_exit(session_);
    do {
        ::pthread_kill(server_, look_again);
    } while (::sigtimedwait(&ours, nullptr, &moment) != end_of_waiting);
}

/// What programs changed through mappings is still with the kernel: it is written while there is somebody to take it.
void ending::leave_tree() {
    if (!is_in_tree(mount_)) return;
    {
        const descriptor root(::open(mount_.point.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        if (root) ::syncfs(root.get());
    }
    auto done = detach(mount_.point, when_busy::fail);
    if (!done && done.why().system_errno == EBUSY) {
        log_.say(mount_.point +
                 ": a signal ends it, and programs still use it: it is served until they close their files");
        done = detach(mount_.point, when_busy::detach);
    }
    if (!done) log_.say(done.why().message);
}

}  // namespace halcyon::logfs
