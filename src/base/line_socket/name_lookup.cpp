#include "base/line_socket/name_lookup.hpp"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>

#include <cerrno>
#include <cstring>
#include <memory>

namespace halcyon {
namespace {

result<tcp_name> end_of(int socket, int (*ask)(int, sockaddr*, socklen_t*), const char* what) {
    tcp_name end;
    end.length = sizeof end.where;
    if (ask(socket, reinterpret_cast<sockaddr*>(&end.where), &end.length) != 0) return system_failure(what, errno);
    return end;
}

sockaddr_in as_ipv4(const tcp_name& name) {
    sockaddr_in a{};
    std::memcpy(&a, &name.where, sizeof a);
    return a;
}

sockaddr_in6 as_ipv6(const tcp_name& name) {
    sockaddr_in6 a{};
    std::memcpy(&a, &name.where, sizeof a);
    return a;
}

}  // namespace

uint16_t tcp_name::port() const {
    return ntohs(where.ss_family == AF_INET6 ? as_ipv6(*this).sin6_port : as_ipv4(*this).sin_port);
}

std::string tcp_name::text() const {
    char digits[INET6_ADDRSTRLEN] = {};
    const std::string at = ":" + std::to_string(port());
    if (where.ss_family == AF_INET) {
        const sockaddr_in a = as_ipv4(*this);
        return ::inet_ntop(AF_INET, &a.sin_addr, digits, sizeof digits) + at;
    }
    const sockaddr_in6 a = as_ipv6(*this);
    if (IN6_IS_ADDR_V4MAPPED(&a.sin6_addr))
        return ::inet_ntop(AF_INET, &a.sin6_addr.s6_addr[12], digits, sizeof digits) + at;
    return "[" + std::string(::inet_ntop(AF_INET6, &a.sin6_addr, digits, sizeof digits)) + "]" + at;
}

result<std::vector<tcp_name>> look_up(const socket_address& address) {
    addrinfo wanted{};
    wanted.ai_family = AF_UNSPEC;
    wanted.ai_socktype = SOCK_STREAM;
    wanted.ai_flags = AI_NUMERICSERV;
    addrinfo* first = nullptr;
    const int why = ::getaddrinfo(address.name.c_str(), std::to_string(address.port).c_str(), &wanted, &first);
    const std::unique_ptr<addrinfo, void (*)(addrinfo*)> freed(first, ::freeaddrinfo);
    if (why != 0)
        return failure{error_kind::unavailable,
                       address.text() + ": host '" + address.name + "': " + ::gai_strerror(why),
                       why == EAI_SYSTEM ? errno : 0};
    std::vector<tcp_name> found;
    for (const addrinfo* a = first; a != nullptr; a = a->ai_next) {
        tcp_name name;
        name.length = a->ai_addrlen;
        std::memcpy(&name.where, a->ai_addr, a->ai_addrlen);
        found.push_back(name);
    }
    return found;
}

result<tcp_name> local_end(int socket) {
    return end_of(socket, ::getsockname, "getsockname");
}

result<tcp_name> remote_end(int socket) {
    return end_of(socket, ::getpeername, "getpeername");
}

}  // namespace halcyon
