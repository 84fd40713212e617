#include "base/unix_socket.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>

namespace halcyon {
namespace {

constexpr size_t most_descriptors = 4;

struct address {
    sockaddr_un where{};
    socklen_t length = 0;
};

address abstract_address(const std::string& name) {
    address a;
    a.where.sun_family = AF_UNIX;
    const size_t n = std::min(name.size(), sizeof a.where.sun_path - 1);
    std::memcpy(a.where.sun_path + 1, name.data(), n);  // first byte 0: abstract
    a.length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + n);
    return a;
}

result<ucred> credentials(int socket) {
    ucred who{};
    socklen_t length = sizeof who;
    if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &who, &length) != 0) return system_failure("SO_PEERCRED", errno);
    return who;
}

result<void> same_user(int socket) {
    auto who = credentials(socket);
    if (!who) return who.why();
    if (who->uid != ::geteuid())
        return failure{error_kind::usage,
                       "peer process " + std::to_string(who->pid) + " belongs to user " + std::to_string(who->uid) +
                           ", not " + std::to_string(::geteuid()),
                       0};
    return {};
}

}  // namespace

result<descriptor> listen_abstract(const std::string& name, int backlog) {
    descriptor s(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    if (!s) return system_failure("socket", errno);
    const address a = abstract_address(name);
    if (::bind(s.get(), reinterpret_cast<const sockaddr*>(&a.where), a.length) != 0)
        return system_failure("bind of abstract socket " + name, errno);
    if (::listen(s.get(), backlog) != 0) return system_failure("listen", errno);
    return s;
}

result<descriptor> connect_abstract(const std::string& name) {
    descriptor s(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    if (!s) return system_failure("socket", errno);
    const address a = abstract_address(name);
    int done = 0;
    do done = ::connect(s.get(), reinterpret_cast<const sockaddr*>(&a.where), a.length);
    while (done != 0 && errno == EINTR);
    if (done != 0) {
        failure why = system_failure("connect to abstract socket " + name, errno);
        why.kind = error_kind::unavailable;
        return why;
    }
    if (auto same = same_user(s.get()); !same) return failure{error_kind::unavailable, same.why().message, 0};
    return s;
}

result<descriptor> accept_checked(int listening) {
    descriptor s(::accept4(listening, nullptr, nullptr, SOCK_CLOEXEC));
    if (!s) return system_failure("accept", errno);
    if (auto same = same_user(s.get()); !same) return same.why();
    return s;
}

result<pid_t> peer_process(int socket) {
    auto who = credentials(socket);
    if (!who) return who.why();
    return who->pid;
}

result<void> send_message(int socket, std::span<const std::byte> bytes, std::span<const int> descriptors) {
    if (descriptors.size() > most_descriptors)
        return failure{error_kind::internal, "too many descriptors in one message", 0};
    iovec part{const_cast<std::byte*>(bytes.data()), bytes.size()};
    msghdr m{};
    m.msg_iov = &part;
    m.msg_iovlen = 1;
    alignas(cmsghdr) char control[CMSG_SPACE(most_descriptors * sizeof(int))] = {};
    if (!descriptors.empty()) {
        m.msg_control = control;
        m.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
        cmsghdr* c = CMSG_FIRSTHDR(&m);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(descriptors.size_bytes());
        std::memcpy(CMSG_DATA(c), descriptors.data(), descriptors.size_bytes());
    }
    ssize_t sent = 0;
    do sent = ::sendmsg(socket, &m, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    if (sent < 0) return system_failure("sendmsg", errno);
    return {};
}

result<message> receive_message(int socket, size_t most, int timeout_ms) {
    pollfd p{socket, POLLIN, 0};
    int ready = 0;
    do ready = ::poll(&p, 1, timeout_ms);
    while (ready < 0 && errno == EINTR);
    if (ready < 0) return system_failure("poll", errno);
    if (ready == 0)
        return failure{error_kind::unavailable, "no answer within " + std::to_string(timeout_ms) + " ms", 0};
    message got;
    got.bytes.resize(most);
    iovec part{got.bytes.data(), most};
    alignas(cmsghdr) char control[CMSG_SPACE(most_descriptors * sizeof(int))];
    msghdr m{};
    m.msg_iov = &part;
    m.msg_iovlen = 1;
    m.msg_control = control;
    m.msg_controllen = sizeof control;
    ssize_t n = 0;
    do n = ::recvmsg(socket, &m, MSG_CMSG_CLOEXEC);
    while (n < 0 && errno == EINTR);
    if (n < 0) return system_failure("recvmsg", errno);
    for (cmsghdr* c = CMSG_FIRSTHDR(&m); c != nullptr; c = CMSG_NXTHDR(&m, c)) {
        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) continue;
        const size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t i = 0; i < count; ++i) {
            int fd = -1;
            std::memcpy(&fd, CMSG_DATA(c) + i * sizeof fd, sizeof fd);
            got.descriptors.emplace_back(fd);
        }
    }
    if ((m.msg_flags & MSG_TRUNC) != 0)
        return failure{error_kind::usage, "a message of more than " + std::to_string(most) + " bytes", EMSGSIZE};
    if ((m.msg_flags & MSG_CTRUNC) != 0) {
        got.descriptors.clear();
        got.descriptors_lost = true;
    }
    got.bytes.resize(static_cast<size_t>(n));
    return got;
}

}  // namespace halcyon
