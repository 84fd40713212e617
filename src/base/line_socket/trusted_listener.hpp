#pragma once

#include <sys/types.h>

#include <optional>

#include "base/error.hpp"
#include "base/line_socket/socket_address.hpp"

namespace halcyon {

/// Whether a client should believe a process of user `who` that listens at this Unix address: root, the client's own
/// user, the user that was `named`, or the owner of the folder of the socket's file. Others can put a socket there only
/// where the folder is everybody's, such as /tmp, or at an abstract name, which is free whenever its process is gone.
bool may_listen(const socket_address& address, uid_t who, std::optional<uid_t> named);

/// Of a connected Unix socket. Failure (usage): somebody else listens there, whom the message names.
result<void> check_listener(int socket, const socket_address& address, std::optional<uid_t> named);

}  // namespace halcyon
