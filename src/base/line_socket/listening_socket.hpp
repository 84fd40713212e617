#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>

#include "base/descriptor.hpp"
#include "base/error.hpp"
#include "base/line_socket/peer_identity.hpp"
#include "base/line_socket/socket_address.hpp"
#include "base/line_socket/socket_file.hpp"
#include "base/line_socket/tcp_challenge.hpp"

namespace halcyon {

struct listen_options {
    /// Of the file of a Unix socket: users with write permission may connect. 0666: everybody. Abstract names have no
    /// permissions: everybody of the network namespace may connect.
    mode_t permissions = 0600;
    int backlog = 512;
    /// Others of this user that open a socket in the same directory keep the claim for a few system calls.
    std::chrono::milliseconds lock_patience{5000};
    /// TCP without MUNGE: believe each peer's claim of who it is, since everybody on that network is trusted.
    bool insecure = false;
    std::string munge_socket = {};  ///< of munged; empty: its default
};

/// A stream socket that listens for connections of any user, and knows or asks whose each is.
class listening_socket {
  public:
    /// Failure (unavailable): the address is in use, by a process that the message names where the system tells; or it
    /// is a TCP address, MUNGE cannot be used here, and `insecure` is not set. System: the path is another kind of
    /// file.
    static result<listening_socket> open(const socket_address& address, const listen_options& options);

    struct accepted {
        descriptor socket;                            ///< none: nobody waits to be accepted
        std::optional<peer_identity> peer = {};       ///< of Unix sockets
        std::optional<tcp_challenge> challenge = {};  ///< of TCP: to be sent first; see peer_check
    };
    /// One connection; never waits. After a failure (system) the caller tries again when the socket is readable again:
    /// where descriptors ran out, the connection that waited has been closed, so that it is not readable forever.
    result<accepted> accept();

    /// With the port that the system chose.
    [[nodiscard]] const socket_address& address() const { return address_; }
    /// Whether clients come to this socket by its address. Not so where the file of a Unix socket was deleted, moved or
    /// replaced, or another file system was mounted above it.
    [[nodiscard]] bool is_in_place() const { return !file_ || file_.is_in_place(); }
    [[nodiscard]] bool has_file() const { return static_cast<bool>(file_); }
    /// A sentence for the log, if whoever starts the server should know; else empty.
    [[nodiscard]] std::string warning() const;
    /// With which to check answers; none: not TCP, or insecure.
    [[nodiscard]] const std::optional<munge>& authority() const { return authority_; }
    [[nodiscard]] int fd() const { return socket_.get(); }

  private:
    result<void> listen_unix(const listen_options& options);
    result<void> listen_tcp(const listen_options& options);
    result<void> find_authority(const listen_options& options);
    result<accepted> identify(descriptor socket) const;
    void shed_one();

    socket_address address_;
    descriptor socket_;
    descriptor spare_;  ///< given up to accept and close a connection when no descriptor is left
    socket_file file_;  ///< after the socket: removed before it closes
    std::optional<munge> authority_;
    bool is_insecure_ = false;
};

}  // namespace halcyon
