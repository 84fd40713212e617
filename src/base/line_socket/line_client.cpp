#include "base/line_socket/line_client.hpp"

#include <poll.h>

#include <algorithm>
#include <cerrno>

#include "base/clock.hpp"
#include "base/line_socket/socket_connect.hpp"
#include "base/line_socket/tcp_challenge.hpp"
#include "base/line_socket/trusted_listener.hpp"

namespace halcyon {

result<line_client> line_client::connect(const socket_address& address, const options& o) {
    const int64_t deadline_ns = monotonic_ns() + o.timeout.count();
    auto socket = connect_stream(address, o.timeout);
    if (!socket) return socket.why();
    line_client made(address.text(), line_connection(std::move(*socket), o.bounds));
    if (!address.is_tcp()) {
        if (auto known = check_listener(made.connection_.fd(), address, o.server_user); !known)
            return made.about(known.why());
        return made;
    }
    if (auto known = made.authenticate(o, deadline_ns); !known) return known.why();
    return made;
}

result<void> line_client::authenticate(const options& o, int64_t deadline_ns) {
    const auto challenge = receive_until(deadline_ns);
    if (!challenge) return challenge.why();
    if (challenge->starts_with(refusal_begin))
        return about({error_kind::unavailable, "the server answers: " + std::string(*challenge), 0});
    if (!o.may_be_insecure && is_insecure(*challenge))
        return about({error_kind::usage,
                      "the server asks for no MUNGE, which is refused unless 'insecure' in coordinators.yaml says so",
                      0});
    const auto answer = answer_challenge(connection_.fd(), *challenge, o.munge_socket);
    if (!answer) return about(answer.why());
    if (auto sent = send_until(*answer, deadline_ns); !sent) return sent;
    const auto welcome = receive_until(deadline_ns);
    if (!welcome) return welcome.why();
    if (*welcome == welcome_line) return {};
    const bool passes = welcome->starts_with(refusal_begin) && welcome->ends_with(again_end);
    return about(
        {passes ? error_kind::unavailable : error_kind::usage, "the server answers: " + std::string(*welcome), 0});
}

result<void> line_client::send(std::string_view line, std::chrono::nanoseconds timeout) {
    return send_until(line, monotonic_ns() + timeout.count());
}

result<void> line_client::send_until(std::string_view line, int64_t deadline_ns) {
    if (auto sent = connection_.send(line); !sent) return about(sent.why());
    while (connection_.wants_to_write()) {
        if (auto ready = wait(POLLOUT, deadline_ns); !ready) return ready;
        if (auto flushed = connection_.flush(); !flushed) return about(flushed.why());
    }
    return {};
}

result<std::string_view> line_client::receive(std::chrono::nanoseconds timeout) {
    return receive_until(monotonic_ns() + timeout.count());
}

result<std::string_view> line_client::receive_until(int64_t deadline_ns) {
    auto got = result<line_connection::input>(line_connection::input::open);
    while (true) {
        if (const auto line = connection_.next_line()) return *line;
        if (auto fits = connection_.check_length(); !fits) return about(fits.why());
        if (*got == line_connection::input::ended)
            return about({error_kind::unavailable, "the server closed the connection", 0});
        if (auto ready = wait(POLLIN, deadline_ns); !ready) return ready.why();
        got = connection_.receive();
        if (!got) return about(got.why());
    }
}

result<void> line_client::wait(short events, int64_t deadline_ns) const {
    while (true) {
        const int64_t left_ns = std::max<int64_t>(deadline_ns - monotonic_ns(), 0);
        pollfd one{connection_.fd(), events, 0};
        const int ready =
            ::poll(&one, 1, static_cast<int>(std::min<int64_t>((left_ns + 999'999) / 1'000'000, 1 << 30)));
        if (ready > 0) return {};
        if (ready < 0 && errno != EINTR) return system_failure("poll", errno);
        if (left_ns == 0) return about({error_kind::unavailable, "the server did not answer in time", ETIMEDOUT});
    }
}

failure line_client::about(failure why) const {
    why.message = address_ + ": " + why.message;
    return why;
}

}  // namespace halcyon
