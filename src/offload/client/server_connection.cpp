#include "offload/client/server_connection.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/clock.hpp"
#include "base/unix_socket.hpp"
#include "offload/segment/session_document.hpp"

namespace halcyon::offload {
namespace {

bool is_hung_up(int socket) {
    pollfd p{socket, 0, 0};
    return ::poll(&p, 1, 0) == 1 && (p.revents & (POLLHUP | POLLERR)) != 0;
}

failure died() {
    return {error_kind::unavailable, "the server closed the connection; see its log in the output directory",
            ECONNRESET};
}

/// What a process lacks that has opened too much, or has no memory left.
bool is_out_of_something(int why) {
    return why == EMFILE || why == ENFILE || why == ENOMEM || why == ENOBUFS || why == ETOOMANYREFS || why == EAGAIN;
}

}  // namespace

bool server_connection::says_ended(const failure& why) {
    return why.system_errno == ECONNREFUSED || why.system_errno == ECONNRESET || why.system_errno == EPIPE;
}

result<server_connection> server_connection::open(const std::string& session, uint32_t generation) {
    auto socket = connect_abstract(socket_name(session, generation));
    if (!socket) return socket.why();
    auto pid = peer_process(socket->get());
    if (!pid) return pid.why();
    server_connection c;
    c.generation_ = generation;
    c.pid_ = *pid;
    c.socket_ = std::move(*socket);
    c.process_ = descriptor(static_cast<int>(::syscall(SYS_pidfd_open, *pid, 0)));
    if (!c.process_ && is_out_of_something(errno)) return system_failure("pidfd_open", errno);
    // The number belongs to the server as long as the server holds its end of the socket.
    if (is_hung_up(c.socket_.get())) return died();
    return c;
}

result<void> server_connection::send(const hello& h, std::span<const int> descriptors) const {
    auto sent = send_message(socket_.get(), std::as_bytes(std::span(&h, 1)), descriptors);
    if (!sent) return failure{error_kind::unavailable, sent.why().message, sent.why().system_errno};
    return {};
}

result<server_connection::reply> server_connection::receive(int timeout_ms, int stop) const {
    const int64_t deadline = monotonic_ns() + int64_t{timeout_ms} * 1'000'000;
    while (true) {
        const int64_t left_ms = (deadline - monotonic_ns()) / 1'000'000;
        pollfd waits[] = {{socket_.get(), POLLIN, 0}, {stop, POLLIN, 0}};
        const int ready = ::poll(waits, 2, static_cast<int>(left_ms > 0 ? left_ms : 0));
        if (ready < 0 && errno == EINTR) continue;
        if (ready > 0 && waits[0].revents != 0) break;
        if (ready > 0) return failure{error_kind::unavailable, "the session ends", ECANCELED};
        if (left_ms <= 0)
            return failure{error_kind::unavailable,
                           "the server did not answer within " + std::to_string(timeout_ms / 1000) + " s", ETIMEDOUT};
    }
    auto m = receive_message(socket_.get(), sizeof(welcome) + most_reason_bytes, 0);
    if (!m) return m.why();
    reply r;
    if (m->bytes.size() < sizeof r.what) return died();
    std::memcpy(&r.what, m->bytes.data(), sizeof r.what);
    if (r.what.refused != 0)
        return failure{static_cast<error_kind>(r.what.refused),
                       std::string(reinterpret_cast<const char*>(m->bytes.data() + sizeof r.what),
                                   m->bytes.size() - sizeof r.what),
                       0};
    if (r.what.magic != protocol_magic || r.what.version != protocol_version || r.what.generation != generation_ ||
        (m->descriptors.size() != 2 && !m->descriptors_lost))
        return failure{error_kind::unavailable, "the server is of another release", 0};
    if (m->descriptors_lost) return r;
    r.segment = std::move(m->descriptors[0]);
    r.document = std::move(m->descriptors[1]);
    return r;
}

bool server_connection::has_ended() const {
    if (!process_) return is_hung_up(socket_.get());
    pollfd p{process_.get(), POLLIN, 0};
    return ::poll(&p, 1, 0) == 1;
}

bool server_connection::end(int timeout_ms, int stop) const {
    if (process_)
        ::syscall(SYS_pidfd_send_signal, process_.get(), SIGKILL, nullptr, 0);
    else if (pid_ > 0 && !is_hung_up(socket_.get()))
        ::kill(pid_, SIGKILL);
    const int64_t deadline = monotonic_ns() + int64_t{timeout_ms} * 1'000'000;
    while (!has_ended()) {
        const int64_t left_ms = (deadline - monotonic_ns()) / 1'000'000;
        if (left_ms <= 0) return false;
        pollfd waits[] = {{fd(), static_cast<short>(process_ ? POLLIN : POLLRDHUP), 0}, {stop, POLLIN, 0}};
        if (::poll(waits, 2, static_cast<int>(left_ms)) > 0 && waits[1].revents != 0) return has_ended();
    }
    return true;
}

}  // namespace halcyon::offload
