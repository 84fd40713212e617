#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.hpp"
#include "base/line_socket/line_connection.hpp"
#include "base/line_socket/peer_identity.hpp"
#include "base/line_socket/socket_address.hpp"

namespace halcyon {

/// The client's end of a line socket, for programs that wait: command-line tools, and agents until they are connected.
class line_client {
  public:
    struct options {
        std::chrono::nanoseconds timeout = std::chrono::seconds(5);  ///< for all of connect() but MUNGE (munge.hpp)
        line_bounds bounds = {};
        std::string munge_socket = {};  ///< of munged, for TCP; empty: its default
        /// False: a TCP server that believes claims instead of MUNGE is refused.
        bool may_be_insecure = true;
        std::optional<uid_t> server_user = {};  ///< who may listen at a Unix address besides others, see may_listen()
    };
    /// Connects, and over TCP proves who this process is. Failure (unavailable): nobody listens or answers in time,
    /// MUNGE cannot be used on one of both sides, or the server has too much to do. Usage: the server refuses, is no
    /// line socket, or is not to be believed.
    static result<line_client> connect(const socket_address& address, const options& o);

    /// Waits until the socket has taken the line. Failure (unavailable): not in time; a part of it may have left, so
    /// close. Usage, system: as line_connection::send().
    result<void> send(std::string_view line, std::chrono::nanoseconds timeout);
    /// The next line; valid until the next call. Failure (unavailable): none came in time (ETIMEDOUT), or the server
    /// closed the connection (0). Usage, system: as line_connection::read_lines().
    result<std::string_view> receive(std::chrono::nanoseconds timeout);

    /// Of Unix sockets: the process that listens.
    [[nodiscard]] result<peer_identity> server() const { return unix_peer(connection_.fd()); }
    /// For an event loop, with the bytes that have come: ask it for lines once before waiting for more.
    line_connection release() && { return std::move(connection_); }

  private:
    line_client(std::string address, line_connection connection)
        : address_(std::move(address)), connection_(std::move(connection)) {}
    result<void> authenticate(const options& o, int64_t deadline_ns);
    result<void> send_until(std::string_view line, int64_t deadline_ns);
    result<std::string_view> receive_until(int64_t deadline_ns);
    result<void> wait(short events, int64_t deadline_ns) const;
    [[nodiscard]] failure about(failure why) const;

    std::string address_;
    line_connection connection_;
};

}  // namespace halcyon
