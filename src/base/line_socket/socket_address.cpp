#include "base/line_socket/socket_address.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstring>

namespace halcyon {
namespace {

/// A path ends with a zero byte, an abstract name begins with one.
constexpr size_t most_name_bytes = sizeof(sockaddr_un::sun_path) - 1;
/// DNS allows no longer one.
constexpr size_t most_host_bytes = 253;

failure wrong(std::string_view text, const std::string& why) {
    return {error_kind::config,
            "socket address '" + std::string(text) + "': " + why +
                "; expected unix:/path/to/socket, unix:@name, tcp:host:port or tcp:[IPv6]:port",
            0};
}

result<socket_address> parse_unix(std::string_view text, std::string_view name) {
    socket_address made;
    const bool is_abstract = name.starts_with('@');
    made.kind = is_abstract ? socket_address::family::unix_abstract : socket_address::family::unix_path;
    if (is_abstract) name.remove_prefix(1);
    if (!is_abstract && !name.starts_with('/')) return wrong(text, "the path must begin with '/'");
    if (name.empty()) return wrong(text, "a name must follow the '@'");
    if (name.find('\0') != std::string_view::npos) return wrong(text, "a zero byte in the name");
    if (name.size() > most_name_bytes)
        return wrong(text, "a name of " + std::to_string(name.size()) + " bytes, where the system takes at most " +
                               std::to_string(most_name_bytes));
    made.name = name;
    return made;
}

bool is_ipv6(const std::string& host) {
    in6_addr ignored{};
    // A link-local address may name its interface: fe80::1%eth0.
    const std::string digits = host.substr(0, host.find('%'));
    return ::inet_pton(AF_INET6, digits.c_str(), &ignored) == 1;
}

/// The characters of a host name or an IPv4 address.
bool is_host(std::string_view host) {
    const auto fits = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
               c == '_';
    };
    return !host.empty() && host.size() <= most_host_bytes && !host.starts_with('-') && std::ranges::all_of(host, fits);
}

result<socket_address> parse_tcp(std::string_view text, std::string_view rest) {
    socket_address made;
    made.kind = socket_address::family::tcp;
    const size_t colon = rest.rfind(':');
    if (colon == std::string_view::npos) return wrong(text, "no port");
    std::string_view host = rest.substr(0, colon);
    const std::string_view port = rest.substr(colon + 1);
    const auto [end, why] = std::from_chars(port.data(), port.data() + port.size(), made.port);
    if (port.empty() || why != std::errc{} || end != port.data() + port.size())
        return wrong(text, "port '" + std::string(port) + "' is no number from 0 to 65535");
    if (host.starts_with('[') && host.ends_with(']')) {
        made.name = host.substr(1, host.size() - 2);
        if (!is_ipv6(made.name)) return wrong(text, "'" + made.name + "' is no IPv6 address");
        return made;
    }
    if (host.find(':') != std::string_view::npos) return wrong(text, "an IPv6 address needs brackets");
    if (!is_host(host)) return wrong(text, "'" + std::string(host) + "' is no host name or address");
    made.name = host;
    return made;
}

}  // namespace

std::string socket_address::text() const {
    switch (kind) {
        case family::unix_path:
            return "unix:" + name;
        case family::unix_abstract:
            return "unix:@" + name;
        case family::tcp:
            break;
    }
    const bool needs_brackets = name.find(':') != std::string::npos;
    return "tcp:" + (needs_brackets ? "[" + name + "]" : name) + ":" + std::to_string(port);
}

result<socket_address> parse_socket_address(std::string_view text) {
    if (text.starts_with("unix:")) return parse_unix(text, text.substr(5));
    if (text.starts_with("tcp:")) return parse_tcp(text, text.substr(4));
    return wrong(text, "neither unix: nor tcp:");
}

result<std::vector<socket_address>> parse_socket_addresses(std::string_view text) {
    std::vector<socket_address> all;
    for (size_t begin = 0; begin <= text.size();) {
        // Paths may have commas, too.
        const size_t end = std::min({text.find(",unix:", begin), text.find(",tcp:", begin), text.size()});
        auto one = parse_socket_address(text.substr(begin, end - begin));
        if (!one) return one.why();
        all.push_back(*std::move(one));
        begin = end + 1;
    }
    return all;
}

unix_name name_of(const socket_address& address) {
    unix_name made;
    made.where.sun_family = AF_UNIX;
    const size_t bytes = std::min(address.name.size(), most_name_bytes);
    const size_t before = address.kind == socket_address::family::unix_abstract ? 1 : 0;
    std::memcpy(made.where.sun_path + before, address.name.data(), bytes);
    // An abstract name is as long as it is said to be; a path ends with its zero byte.
    made.length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + bytes + 1);
    return made;
}

}  // namespace halcyon
