#include "base/line_socket/peer_identity.hpp"

#include <sys/socket.h>

#include <cerrno>

namespace halcyon {

result<peer_identity> unix_peer(int socket) {
    ucred who{};
    socklen_t length = sizeof who;
    if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &who, &length) != 0) return system_failure("SO_PEERCRED", errno);
    return peer_identity{who.uid, who.gid, who.pid, peer_identity::witness::kernel};
}

}  // namespace halcyon
