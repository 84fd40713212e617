#include "base/line_socket/trusted_listener.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "base/line_socket/peer_identity.hpp"

namespace halcyon {
namespace {

/// Of the folder as the address names it: a link within it may lead anywhere.
bool owns_folder(const socket_address& address, uid_t who) {
    if (address.kind != socket_address::family::unix_path) return false;
    const std::string folder = std::filesystem::path(address.name).parent_path();
    struct stat seen {};
    return ::stat(folder.c_str(), &seen) == 0 && seen.st_uid == who;
}

}  // namespace

bool may_listen(const socket_address& address, uid_t who, std::optional<uid_t> named) {
    return who == 0 || who == ::geteuid() || who == named || owns_folder(address, who);
}

result<void> check_listener(int socket, const socket_address& address, std::optional<uid_t> named) {
    const auto peer = unix_peer(socket);
    if (!peer) return peer.why();
    if (may_listen(address, peer->uid, named)) return {};
    return failure{error_kind::usage,
                   "user " + std::to_string(peer->uid) +
                       " listens there, who is not believed; expected root, this user, the owner of the socket's "
                       "folder, or the user that 'user' in coordinators.yaml names",
                   0};
}

}  // namespace halcyon
