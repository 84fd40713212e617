#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/descriptor.hpp"
#include "base/error.hpp"
#include "offload/segment/protocol.hpp"

namespace halcyon::offload {

/// A client's socket to one server process, and a hold on that process: to see it end, and to end it. Where the system
/// has no pidfds (before Linux 5.3, or a filter of system calls), or the process is in a PID namespace that this one
/// does not see, the end of the socket is the end of the process.
class server_connection {
  public:
    server_connection() = default;
    /// Failure (unavailable): no server of this generation listens.
    static result<server_connection> open(const std::string& session, uint32_t generation);

    explicit operator bool() const { return static_cast<bool>(socket_); }
    [[nodiscard]] uint32_t generation() const { return generation_; }

    result<void> send(const hello& h, std::span<const int> descriptors) const;
    struct reply {
        welcome what;
        descriptor segment, document;
    };
    /// The answer to the first hello, waiting at most `timeout_ms`. `stop`: a descriptor whose readability ends the
    /// wait, or -1. Failure (unavailable): none came, or this is not a server of this release; other kinds: the server
    /// says why it will not serve.
    result<reply> receive(int timeout_ms, int stop) const;

    /// What to poll for POLLIN to see the process end.
    [[nodiscard]] int fd() const { return process_ ? process_.get() : socket_.get(); }
    [[nodiscard]] bool has_ended() const;
    /// Sends SIGKILL and waits at most `timeout_ms`. False: the process lives on, being out of reach or stuck in the
    /// kernel.
    bool end(int timeout_ms) const;

  private:
    descriptor socket_, process_;
    int pid_ = 0;  ///< 0: in a PID namespace that this process does not see
    uint32_t generation_ = 0;
};

}  // namespace halcyon::offload
