#include "base/line_socket/listening_socket.hpp"

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <utility>

#include "base/line_socket/name_lookup.hpp"
#include "base/line_socket/socket_connect.hpp"

namespace halcyon {
namespace {

constexpr int stream = SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK;

descriptor open_spare() {
    return descriptor(::open("/dev/null", O_RDONLY | O_CLOEXEC));
}

/// Errors of a connection that came to nothing, not of listening: accept(2) tells them in passing.
bool concerns_the_connection(int why) {
    return why == EINTR || why == ECONNABORTED || why == EPROTO || why == ENETDOWN || why == ENOPROTOOPT ||
           why == EHOSTDOWN || why == ENONET || why == EHOSTUNREACH || why == ENETUNREACH || why == ETIMEDOUT;
}

}  // namespace

result<listening_socket> listening_socket::open(const socket_address& address, const listen_options& options) {
    listening_socket made;
    made.address_ = address;
    made.spare_ = open_spare();
    if (auto done = address.is_tcp() ? made.listen_tcp(options) : made.listen_unix(options); !done) return done.why();
    return made;
}

result<void> listening_socket::listen_unix(const listen_options& options) {
    socket_ = descriptor(::socket(AF_UNIX, stream, 0));
    if (!socket_) return system_failure("socket", errno);
    if (address_.kind == socket_address::family::unix_path) {
        auto file =
            socket_file::listen(socket_.get(), address_, options.permissions, options.backlog, options.lock_patience);
        if (!file) return file.why();
        file_ = std::move(*file);
        return {};
    }
    const unix_name name = name_of(address_);
    if (::bind(socket_.get(), name.get(), name.length) != 0)
        return errno == EADDRINUSE ? address_in_use(address_) : system_failure(address_.text(), errno);
    if (::listen(socket_.get(), options.backlog) != 0) return system_failure(address_.text() + ": listen", errno);
    return {};
}

result<void> listening_socket::listen_tcp(const listen_options& options) {
    if (auto found = find_authority(options); !found) return found;
    const auto names = look_up(address_);
    if (!names) return names.why();
    const tcp_name& name = names->front();
    socket_ = descriptor(::socket(name.where.ss_family, stream, 0));
    if (!socket_) return system_failure("socket", errno);
    // A restarted daemon takes its port at once, though connections of the last one linger.
    const int on = 1, off = 0;
    static_cast<void>(::setsockopt(socket_.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on));
    if (name.where.ss_family == AF_INET6)
        static_cast<void>(::setsockopt(socket_.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off));
    if (::bind(socket_.get(), name.get(), name.length) != 0 || ::listen(socket_.get(), options.backlog) != 0)
        return errno == EADDRINUSE ? address_in_use(address_) : system_failure(address_.text(), errno);
    const auto bound = local_end(socket_.get());
    if (!bound) return bound.why();
    address_.port = bound->port();
    return {};
}

/// Tried out at once: a daemon that nobody could connect to should not start.
result<void> listening_socket::find_authority(const listen_options& options) {
    is_insecure_ = options.insecure;
    if (is_insecure_) return {};
    const auto refuse = [this](const failure& why) {
        return failure{error_kind::unavailable,
                       address_.text() + ": " + why.message +
                           "; TCP peers are known by MUNGE: start munged, or set 'insecure' if everybody who can reach "
                           "this address is trusted",
                       0};
    };
    auto authority = munge::load(options.munge_socket);
    if (!authority) return refuse(authority.why());
    const auto credential = authority->encode("halcyon");
    if (!credential) return refuse(credential.why());
    if (const auto decoded = authority->decode(*credential); !decoded) return refuse(decoded.why());
    authority_ = std::move(*authority);
    return {};
}

std::string listening_socket::warning() const {
    if (!is_insecure_ || !address_.is_tcp()) return {};
    return address_.text() + " is insecure: each peer is believed to be the user that it claims to be";
}

result<listening_socket::accepted> listening_socket::accept() {
    while (true) {
        descriptor socket(::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
        const int why = errno;
        if (socket) {
            // Its peer may be gone already.
            if (auto identified = identify(std::move(socket)); identified) return identified;
            continue;
        }
        if (why == EAGAIN || why == EWOULDBLOCK) return accepted{};
        if (concerns_the_connection(why)) continue;
        if (why == EMFILE || why == ENFILE) shed_one();
        return system_failure(address_.text() + ": a connection was not accepted", why);
    }
}

result<listening_socket::accepted> listening_socket::identify(descriptor socket) const {
    accepted made;
    if (address_.is_tcp()) {
        prepare_tcp(socket.get());
        auto challenge = challenge_peer(socket.get(), is_insecure_);
        if (!challenge) return challenge.why();
        made.challenge = std::move(*challenge);
    } else {
        auto peer = unix_peer(socket.get());
        if (!peer) return peer.why();
        made.peer = *peer;
    }
    made.socket = std::move(socket);
    return made;
}

void listening_socket::shed_one() {
    spare_.reset();
    descriptor(::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC)).reset();
    spare_ = open_spare();
}

}  // namespace halcyon
