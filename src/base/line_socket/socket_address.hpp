#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"

namespace halcyon {

/// Where a line socket listens, as text: `unix:/run/halcyon/scratch.socket`, `unix:@halcyon-scratch` (abstract: a name
/// without a file, which ends with its process), `tcp:login1:7410`, `tcp:10.1.0.1:7410`, `tcp:[fd00::1]:7410`.
struct socket_address {
    enum class family : uint8_t { unix_path, unix_abstract, tcp };

    family kind = family::unix_path;
    std::string name;   ///< the path; the abstract name without its '@'; the host, without brackets
    uint16_t port = 0;  ///< TCP. 0: when listening, the system chooses one

    [[nodiscard]] bool is_tcp() const { return kind == family::tcp; }
    /// To listen at a port that the system chooses, another one each time.
    [[nodiscard]] bool is_any_port() const { return is_tcp() && port == 0; }
    /// As parse_socket_address() reads it.
    [[nodiscard]] std::string text() const;

    friend bool operator==(const socket_address&, const socket_address&) = default;
};

/// Failure (config): names the text, what is wrong with it and the expected form. Host names are not looked up.
result<socket_address> parse_socket_address(std::string_view text);

/// Of several, separated by commas: `tcp:login1:7410,tcp:login2:7410`. At least one.
result<std::vector<socket_address>> parse_socket_addresses(std::string_view text);

/// For bind() and connect().
struct unix_name {
    sockaddr_un where{};
    socklen_t length = 0;

    [[nodiscard]] const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&where); }
};

/// Of a path or an abstract name as parse_socket_address() lets through.
unix_name name_of(const socket_address& address);

}  // namespace halcyon
