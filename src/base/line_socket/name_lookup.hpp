#pragma once

#include <sys/socket.h>

#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/line_socket/socket_address.hpp"

namespace halcyon {

/// An Internet address and port, for bind() and connect().
struct tcp_name {
    sockaddr_storage where{};
    socklen_t length = 0;

    [[nodiscard]] const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&where); }
    /// `10.1.0.1:7410`, `[fd00::1]:7410`: the same at both ends of a connection, so without an interface's name, and of
    /// an IPv4 address in IPv6's clothing the IPv4 address.
    [[nodiscard]] std::string text() const;
    [[nodiscard]] uint16_t port() const;
};

/// The addresses of a TCP address's host, at least one. Numbers are only read; a name is looked up by the system's
/// resolver, which takes its own time. Failure (unavailable): there is no such host.
result<std::vector<tcp_name>> look_up(const socket_address& address);

/// The two ends of a TCP connection, or of a listening socket the first.
result<tcp_name> local_end(int socket);
result<tcp_name> remote_end(int socket);

}  // namespace halcyon
