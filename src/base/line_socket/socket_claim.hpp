#pragma once

#include <chrono>
#include <string>

#include "base/descriptor.hpp"
#include "base/error.hpp"
#include "base/line_socket/socket_address.hpp"

namespace halcyon {

/// Keeps the other processes of this user from replacing socket files of the same folder meanwhile, by a lock on a file
/// `.halcyon-socket.lock` there, which is gone at the end. Nobody but its owner can open that file: whoever may read
/// the folder could lock the folder itself for ever.
///
/// Where another user has the file (in a folder that is everybody's), or it cannot be made, there is no claim:
/// processes of several users, which cannot remove each other's sockets there, do not take turns.
class socket_claim {
  public:
    socket_claim() = default;
    /// Failure (unavailable): another process keeps it for longer than `patience`. System: there is no such folder.
    static result<socket_claim> take(const socket_address& address, std::chrono::milliseconds patience);

    socket_claim(socket_claim&&) noexcept = default;
    socket_claim& operator=(socket_claim&&) = delete;
    ~socket_claim();

  private:
    std::string path_;
    descriptor file_;
};

}  // namespace halcyon
