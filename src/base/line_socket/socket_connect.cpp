#include "base/line_socket/socket_connect.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <utility>

#include "base/clock.hpp"
#include "base/line_socket/name_lookup.hpp"

namespace halcyon {
namespace {

failure not_connected(const socket_address& address, int why) {
    failure made = system_failure(address.text() + ": nobody could be reached", why);
    const bool nobody = why == ECONNREFUSED || why == ENOENT || why == ETIMEDOUT || why == EHOSTUNREACH ||
                        why == ENETUNREACH || why == ECONNRESET;
    if (nobody) made.kind = error_kind::unavailable;
    return made;
}

/// Waits while the listener's queue is full, at most as long as SO_SNDTIMEO says.
result<descriptor> connect_unix(const socket_address& address, int64_t deadline_ns) {
    descriptor s(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (!s) return system_failure("socket", errno);
    const unix_name name = name_of(address);
    while (true) {
        // 0 would be no limit.
        const int64_t left_us = std::max<int64_t>((deadline_ns - monotonic_ns()) / 1000, 1);
        const timeval left{left_us / 1'000'000, left_us % 1'000'000};
        if (::setsockopt(s.get(), SOL_SOCKET, SO_SNDTIMEO, &left, sizeof left) != 0)
            return system_failure("SO_SNDTIMEO", errno);
        if (::connect(s.get(), name.get(), name.length) == 0) return s;
        if (errno == EAGAIN) return not_connected(address, ETIMEDOUT);
        if (errno != EINTR) return not_connected(address, errno);
    }
}

/// 0, or an error of errno.
int wait_until_connected(int socket, int64_t deadline_ns) {
    while (true) {
        const int64_t left_ns = deadline_ns - monotonic_ns();
        if (left_ns <= 0) return ETIMEDOUT;
        pollfd one{socket, POLLOUT, 0};
        const int ready = ::poll(&one, 1, static_cast<int>(std::min<int64_t>(left_ns / 1'000'000 + 1, 1 << 30)));
        if (ready < 0 && errno != EINTR) return errno;
        if (ready <= 0) continue;
        int why = 0;
        socklen_t length = sizeof why;
        if (::getsockopt(socket, SOL_SOCKET, SO_ERROR, &why, &length) != 0) return errno;
        return why;
    }
}

result<descriptor> connect_to(const socket_address& address, const tcp_name& name, int64_t deadline_ns) {
    descriptor s(::socket(name.where.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!s) return system_failure("socket", errno);
    prepare_tcp(s.get());
    int why = ::connect(s.get(), name.get(), name.length) == 0 ? 0 : errno;
    // Interrupted, it goes on by itself.
    if (why == EINPROGRESS || why == EINTR) why = wait_until_connected(s.get(), deadline_ns);
    if (why != 0) return not_connected(address, why);
    return s;
}

result<descriptor> connect_tcp(const socket_address& address, int64_t deadline_ns) {
    if (address.port == 0)
        return failure{error_kind::usage, address.text() + ": port 0 is for listening; name the port to connect to", 0};
    auto names = look_up(address);
    if (!names) return names.why();
    int64_t addresses_left = static_cast<int64_t>(names->size());
    result<descriptor> tried = not_connected(address, ETIMEDOUT);
    for (const tcp_name& name : *names) {
        // One that does not answer leaves the others their share of the time.
        const int64_t now = monotonic_ns(), share_ns = (deadline_ns - now) / addresses_left--;
        tried = connect_to(address, name, now + share_ns);
        if (tried) break;
    }
    return tried;
}

void set_option(int socket, int level, int option, int value) {
    static_cast<void>(::setsockopt(socket, level, option, &value, sizeof value));
}

}  // namespace

result<descriptor> connect_stream(const socket_address& address, std::chrono::nanoseconds timeout) {
    const int64_t deadline_ns = monotonic_ns() + timeout.count();
    return address.is_tcp() ? connect_tcp(address, deadline_ns) : connect_unix(address, deadline_ns);
}

void prepare_tcp(int socket) {
    set_option(socket, IPPROTO_TCP, TCP_NODELAY, 1);
    set_option(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
    set_option(socket, IPPROTO_TCP, TCP_KEEPIDLE, 30);
    set_option(socket, IPPROTO_TCP, TCP_KEEPINTVL, 10);
    set_option(socket, IPPROTO_TCP, TCP_KEEPCNT, 3);
    break_when_unconfirmed(socket, std::chrono::minutes(1));
}

void break_when_unconfirmed(int socket, std::chrono::milliseconds after) {
    set_option(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, static_cast<int>(after.count()));
}

}  // namespace halcyon
