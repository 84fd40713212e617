#include "coordinate/client/page_access.hpp"

#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>

#include "base/clock.hpp"
#include "calls/state/direct_call.hpp"
#include "coordinate/client/agent_start.hpp"
#include "coordinate/client/failed_start.hpp"
#include "coordinate/page/process_life.hpp"

namespace halcyon::coordinate::page_access {
namespace direct = calls::direct;

namespace {

constexpr size_t longest_name = 100;

struct abstract_name {
    sockaddr_un where{};
    socklen_t length = 0;

    abstract_name(const char* name, const char* suffix) {
        where.sun_family = AF_UNIX;
        const int bytes = snprintf(where.sun_path + 1, sizeof where.sun_path - 1, "%s%s", name, suffix);
        length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + static_cast<size_t>(bytes));
    }
};

/// For the next call that waits, SO_SNDTIMEO or SO_RCVTIMEO.
void limit_wait(int fd, int option, int64_t until_ns) {
    const int64_t left = std::max<int64_t>(until_ns - monotonic_ns(), 0);
    const timeval limit{left / 1'000'000'000, left % 1'000'000'000 / 1000 + 1};  // 0 would be no limit
    direct::call(SYS_setsockopt, fd, SOL_SOCKET, option, direct::address(&limit), sizeof limit);
}

enum class listener : uint8_t { reached, absent, busy, unreachable };

class own_socket {
  public:
    own_socket() : fd_(static_cast<int>(direct::call(SYS_socket, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0))) {}
    ~own_socket() {
        if (fd_ >= 0) direct::close(fd_);
    }
    own_socket(const own_socket&) = delete;
    own_socket& operator=(const own_socket&) = delete;
    [[nodiscard]] int fd() const { return fd_; }  ///< negative: -errno
    /// Waits while the listener's queue is full: nobody takes anything out of that of a stopped one.
    [[nodiscard]] listener connect(const abstract_name& to, int64_t until_ns) const {
        for (;;) {
            limit_wait(fd_, SO_SNDTIMEO, until_ns);
            switch (direct::call(SYS_connect, fd_, direct::address(&to.where), to.length)) {
                case 0:
                    return listener::reached;
                case -ECONNREFUSED:
                case -ENOENT:
                    return listener::absent;
                case -EAGAIN:
                    return listener::busy;
                case -EINTR:
                    continue;
                default:
                    return listener::unreachable;
            }
        }
    }
    [[nodiscard]] bool bind(const abstract_name& to) const {
        return direct::call(SYS_bind, fd_, direct::address(&to.where), to.length) == 0;
    }

  private:
    int fd_;
};

bool is_of_own_user(int fd) {
    ucred who{};
    socklen_t bytes = sizeof who;
    return direct::call(SYS_getsockopt, fd, SOL_SOCKET, SO_PEERCRED, direct::address(&who), direct::address(&bytes)) ==
               0 &&
           who.uid == static_cast<uid_t>(direct::call(SYS_geteuid));
}

const char* describe_failure_of_socket(int error) {
    switch (error) {
        case EMFILE:
            return "no descriptor is left for the agent's socket (ulimit -n)";
        case ENFILE:
            return "no descriptor is left on this node for the agent's socket";
        case ENOMEM:
        case ENOBUFS:
            return "no memory for the agent's socket";
        default:
            return "the system gives no socket for the agent";
    }
}

/// The descriptor that comes with the agent's message; negative, and why: none came in time, or none can be taken.
int receive_descriptor(int fd, int64_t until_ns, const char*& why) {
    uint64_t bytes = 0;
    iovec part{&bytes, sizeof bytes};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    long got = -EINTR;
    while (got == -EINTR) {  // signal(7): where there is a limit, also behind a stop that no handler sees
        limit_wait(fd, SO_RCVTIMEO, until_ns);
        got = direct::call(SYS_recvmsg, fd, direct::address(&message), MSG_CMSG_CLOEXEC);
    }
    why = (message.msg_flags & MSG_CTRUNC) != 0 ? "no descriptor is left for the agent's page (ulimit -n)"
                                                : "the agent does not answer";
    const cmsghdr* const with = CMSG_FIRSTHDR(&message);
    if (got != sizeof bytes || with == nullptr || with->cmsg_type != SCM_RIGHTS) return -1;
    int found = -1;
    std::memcpy(&found, CMSG_DATA(with), sizeof found);
    return found;
}

/// Why the agent and this process cannot know each other; null: they can.
const char* why_apart(const page& from) {
    if (from.pid_namespace != own_pid_namespace())
        return "the agent of this job on this node is in another PID namespace; start all of the job's processes on a "
               "node in the same one";
    // By its clock, the agent might always be silent: it would let all processes of the job go on unasked.
    if (from.time_namespace != own_time_namespace())
        return "the agent of this job on this node is in another time namespace; start all of the job's processes on a "
               "node in the same one";
    return nullptr;
}

/// Null, and why: it is no page that can be trusted not to shrink, or that counts processes and time as this one does.
page* map_page(int fd, const char*& why) {
    constexpr long sealed = F_SEAL_GROW | F_SEAL_SHRINK;
    struct stat about {};
    why = "the agent's page is not of this version";
    if ((direct::call(SYS_fcntl, fd, F_GET_SEALS) & sealed) != sealed ||
        direct::call(SYS_fstat, fd, direct::address(&about)) != 0 || about.st_size != sizeof(page))
        return nullptr;
    const long at = direct::call(SYS_mmap, 0, sizeof(page), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (at < 0 && at > -4096) {
        why = "no memory for the agent's page (ulimit -v, ulimit -l)";
        return nullptr;
    }
    auto* const found = reinterpret_cast<page*>(at);
    const bool fits = found->magic == page::expected_magic && found->bytes == sizeof(page) &&
                      found->file_systems <= process_slot::most_file_systems;
    if (fits) why = why_apart(*found);
    if (why == nullptr) return found;
    direct::call(SYS_munmap, at, sizeof(page));
    return nullptr;
}

/// Null, and `why` is null: nobody listens yet.
page* ask(const char* name, int64_t until_ns, const char*& why) {
    const own_socket asks;
    if (asks.fd() < 0) {
        why = describe_failure_of_socket(-asks.fd());
        return nullptr;
    }
    const listener found_there = asks.connect({name, ""}, until_ns);
    why = found_there == listener::busy          ? "the agent's queue of connections is full; is it stopped?"
          : found_there == listener::unreachable ? "the agent's socket cannot be reached"
                                                 : nullptr;
    if (found_there != listener::reached) return nullptr;
    why = "the agent's socket is of another user";
    if (!is_of_own_user(asks.fd())) return nullptr;
    const int fd = receive_descriptor(asks.fd(), until_ns, why);
    if (fd < 0) return nullptr;
    page* const found = map_page(fd, why);
    direct::close(fd);
    return found;
}

}  // namespace

page* open(const settings& wanted, char* complaint, size_t complaint_bytes) {
    char name[longest_name];
    wanted.job.name_socket(name, sizeof name);
    const int64_t until_ns = monotonic_ns() + wanted.patience_ms * 1'000'000;
    const char* why = nullptr;
    bool tried = false;
    if (!proc_numbers_processes_as_here()) {
        snprintf(complaint, complaint_bytes,
                 "I/O is not coordinated: /proc is of another PID namespace, so that no agent can tell who is alive; "
                 "mount the own one (unshare --mount-proc)");
        return nullptr;
    }
    do {
        if (page* const found = ask(name, until_ns, why)) return found;
        if (why != nullptr) break;
        // Who has this name starts the agent; it is free again when that is done, or its holder is dead.
        const own_socket starts;
        if (!tried && starts.bind({name, "-starts"})) {
            tried = true;
            why = failed_start::recent(wanted);
            if (why != nullptr) break;
            why = start_agent(wanted, until_ns);
            if (why != nullptr) {
                failed_start::note(wanted, why);
                break;
            }
            failed_start::forget(wanted);
            continue;
        }
        const timespec a_while{0, 2'000'000};
        direct::call(SYS_nanosleep, direct::address(&a_while), 0);
    } while (monotonic_ns() < until_ns);
    snprintf(complaint, complaint_bytes, "I/O is not coordinated: %s",
             why == nullptr ? "no agent of the job came up in time" : why);
    return nullptr;
}

void close(page* opened) {
    if (opened != nullptr) direct::call(SYS_munmap, direct::address(opened), sizeof(page));
}

}  // namespace halcyon::coordinate::page_access
