#include "base/line_socket/line_connection.hpp"

#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <span>
#include <string>
#include <utility>

namespace halcyon {
namespace {

bool would_wait(int why) {
    return why == EAGAIN || why == EWOULDBLOCK;
}

/// How many bytes the socket took: 0, when it would wait.
result<size_t> send_parts(int socket, std::span<iovec> parts) {
    msghdr m{};
    m.msg_iov = parts.data();
    m.msg_iovlen = parts.size();
    ssize_t done = 0;
    do done = ::sendmsg(socket, &m, MSG_NOSIGNAL | MSG_DONTWAIT);
    while (done < 0 && errno == EINTR);
    if (done >= 0) return static_cast<size_t>(done);
    if (would_wait(errno)) return size_t{0};
    return system_failure("send", errno);
}

iovec part_of(std::string_view bytes) {
    return {const_cast<char*>(bytes.data()), bytes.size()};
}

}  // namespace

line_connection::line_connection(descriptor socket, line_bounds bounds)
    : socket_(std::move(socket)), bounds_(bounds), input_(bounds.most_line_bytes), output_(bounds.most_output_bytes) {}

result<line_connection::input> line_connection::receive() {
    if (has_ended_) return input::ended;
    const std::span<char> room = input_.room();
    if (auto fits = check_length(); !fits) return fits.why();
    if (room.empty()) return input::open;
    ssize_t got = 0;
    do got = ::recv(socket_.get(), room.data(), room.size(), MSG_DONTWAIT);
    while (got < 0 && errno == EINTR);
    if (got < 0 && would_wait(errno)) return input::open;
    if (got < 0) return system_failure("receive", errno);
    input_.filled(static_cast<size_t>(got));
    has_ended_ = got == 0;
    return has_ended_ ? input::ended : input::open;
}

result<void> line_connection::check_length() const {
    if (!input_.too_long()) return {};
    return failure{error_kind::usage,
                   "line too long: more than " + std::to_string(bounds_.most_line_bytes) + " bytes without a line end",
                   EMSGSIZE};
}

result<void> line_connection::send(std::string_view line) {
    if (!line.empty() && std::memchr(line.data(), '\n', line.size()) != nullptr)
        return failure{error_kind::usage, "a line to send holds a line end", EINVAL};
    if (line.size() >= output_.most_bytes() || !output_.fits(line.size() + 1))
        return failure{error_kind::unavailable,
                       "slow reader: a line of " + std::to_string(line.size()) + " bytes finds " +
                           std::to_string(output_.size()) + " bytes that wait, where at most " +
                           std::to_string(output_.most_bytes()) + " may",
                       ENOBUFS};
    auto taken = output_.empty() ? write_now(line) : result<size_t>(size_t{0});
    if (!taken) return taken.why();
    if (*taken > line.size()) return {};
    output_.add(line.substr(*taken));
    output_.add("\n");
    return {};
}

/// Line and line end in one system call, and no copy of what the socket takes.
result<size_t> line_connection::write_now(std::string_view line) {
    iovec parts[] = {part_of(line), part_of("\n")};
    return send_parts(socket_.get(), parts);
}

result<void> line_connection::flush() {
    while (!output_.empty()) {
        const auto waiting = output_.waiting();
        iovec parts[] = {part_of({waiting.data(), waiting.size()})};
        auto taken = send_parts(socket_.get(), parts);
        if (!taken) return taken.why();
        if (*taken == 0) return {};
        output_.sent(*taken);
    }
    return {};
}

void line_connection::end_output() {
    static_cast<void>(::shutdown(socket_.get(), SHUT_WR));
}

}  // namespace halcyon
