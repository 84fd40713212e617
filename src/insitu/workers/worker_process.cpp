#include "insitu/workers/worker_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <vector>

#include "base/detached_start.hpp"
#include "insitu/worker/worker.hpp"

namespace halcyon::insitu {
namespace {

/// How long a process that was killed may take to end before it is left alone.
constexpr int patience_ms = 2000;

/// Undoes the parts of a posix_spawn.
struct worker_spawn {
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    worker_spawn() {
        ::posix_spawn_file_actions_init(&files);
        ::posix_spawnattr_init(&attributes);
    }
    worker_spawn(const worker_spawn&) = delete;
    worker_spawn& operator=(const worker_spawn&) = delete;
    ~worker_spawn() {
        ::posix_spawn_file_actions_destroy(&files);
        ::posix_spawnattr_destroy(&attributes);
    }
};

}  // namespace

result<worker_process> worker_process::start(const std::string& program) {
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0)
        return system_failure("socketpair", errno);
    worker_process made;
    made.socket_ = descriptor(ends[0]);
    descriptor given(ends[1]);
    if (::fcntl(made.socket_.get(), F_SETFL, O_NONBLOCK) != 0) return system_failure("fcntl", errno);
    // dup2 onto itself would keep close-on-exec: the source is another descriptor.
    const descriptor source(::fcntl(given.get(), F_DUPFD_CLOEXEC, 10));
    if (!source) return system_failure("fcntl", errno);
    given.reset();

    worker_spawn how;
    ::posix_spawn_file_actions_addopen(&how.files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_adddup2(&how.files, source.get(), server_socket);
    sigset_t none, all;
    ::sigemptyset(&none);
    ::sigfillset(&all);
    ::posix_spawnattr_setsigmask(&how.attributes, &none);
    ::posix_spawnattr_setsigdefault(&how.attributes, &all);
    ::posix_spawnattr_setpgroup(&how.attributes, 0);
    ::posix_spawnattr_setflags(&how.attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
    std::vector<std::string> environment = environment_outside_job();
    std::vector<char*> variables;
    for (std::string& e : environment) variables.push_back(e.data());
    variables.push_back(nullptr);
    std::array<char*, 2> arguments{const_cast<char*>(program.c_str()), nullptr};
    if (const int why =
            ::posix_spawn(&made.pid_, program.c_str(), &how.files, &how.attributes, arguments.data(), variables.data());
        why != 0) {
        made.pid_ = 0;
        return system_failure("start of " + program, why);
    }
    made.watch_ = descriptor(static_cast<int>(::syscall(SYS_pidfd_open, made.pid_, 0)));
    if (!made.watch_) return system_failure("pidfd_open", errno);  // and the process is ended
    return made;
}

worker_process::~worker_process() {
    if (!exists()) return;
    kill();
    pollfd p{watch_.get(), POLLIN, 0};
    while (watch_ && ::poll(&p, 1, patience_ms) < 0 && errno == EINTR) {
    }
    static_cast<void>(::waitpid(pid_, nullptr, WNOHANG));
}

void worker_process::kill() const {
    if (!exists()) return;
    ::kill(-pid_, SIGKILL);
    ::kill(pid_, SIGKILL);
}

std::string worker_process::reap() {
    ::kill(-pid_, SIGKILL);  // what it started
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = 0;
    socket_.reset();
    watch_.reset();
    if (!WIFSIGNALED(status)) return "ended with exit code " + std::to_string(WEXITSTATUS(status));
    const int signal = WTERMSIG(status);
    return "was ended by signal " + std::to_string(signal) + " (" + ::strsignal(signal) + ")";
}

}  // namespace halcyon::insitu
