#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>

#include "base/descriptor.hpp"
#include "base/error.hpp"
#include "base/line_socket/socket_address.hpp"

namespace halcyon {

/// The file of a Unix socket that listens. Removed when this is destroyed by the process that made it, if the path
/// still leads to it; to be destroyed before the socket is closed, so that no other process takes the path meanwhile.
class socket_file {
  public:
    socket_file() = default;
    /// Has `socket` listen at the path, which others may connect to as `permissions` say (write permission counts),
    /// whatever the process's umask. The file of a dead process is replaced; this is safe among processes of a user
    /// that use this function, which take turns (socket_claim.hpp).
    ///
    /// Failure (unavailable): a live process listens there, which the message names. System: the path is something
    /// else than a socket (EEXIST), or the directory or the old file refuses.
    /// Waits for its turn for `patience` at most.
    static result<socket_file> listen(int socket, const socket_address& address, mode_t permissions, int backlog,
                                      std::chrono::milliseconds patience);
    socket_file(socket_file&& other) noexcept;
    socket_file& operator=(socket_file&& other) noexcept;
    ~socket_file();

    explicit operator bool() const { return static_cast<bool>(file_); }
    /// False: the path leads to another file or to nothing, so that nobody finds the socket there.
    [[nodiscard]] bool is_in_place() const;

  private:
    void remove();

    std::string path_;
    descriptor file_;  ///< keeps the file's number from being another file's
    pid_t made_by_ = 0;
};

/// Who listens there already, for a failed bind(): `unix:…: in use by process 12 of user 1000` (unavailable).
failure address_in_use(const socket_address& address);

}  // namespace halcyon
