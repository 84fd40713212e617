#pragma once

#include <sys/types.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/descriptor.hpp"
#include "base/error.hpp"

namespace halcyon {

/// Sequenced-packet sockets with abstract names (no file, gone with the last process that holds them), whose peers
/// are checked: both ends must belong to the same user.

/// Listens on the abstract name.
result<descriptor> listen_abstract(const std::string& name, int backlog);

/// Connects to it. Failure (unavailable): nobody listens, or a process of another user does.
result<descriptor> connect_abstract(const std::string& name);

/// Accepts one connection; a peer of another user is closed and is a failure (usage).
result<descriptor> accept_checked(int listening);

/// The process at the other end of a connected socket, as the kernel saw it connect (or listen).
result<pid_t> peer_process(int socket);

/// Sends one message with up to 4 descriptors.
result<void> send_message(int socket, std::span<const std::byte> bytes, std::span<const int> descriptors);

struct message {
    std::vector<std::byte> bytes;
    std::vector<descriptor> descriptors;
    /// It had descriptors that this process could not take, being out of them, or more than 4: then it has none.
    bool descriptors_lost = false;
};

/// Receives one message of at most `most` bytes, waiting at most `timeout_ms`. An empty message means that the peer
/// closed. Failure (unavailable): time ran out. Usage: the message was longer; it is gone, and its descriptors closed.
result<message> receive_message(int socket, size_t most, int timeout_ms);

}  // namespace halcyon
