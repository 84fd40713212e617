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
    /// Failure: no server of this generation listens (see says_ended()), or this process lacks what it takes.
    static result<server_connection> open(const std::string& session, uint32_t generation);
    /// Whether a failure here means that the server is not there (any more); others are this process' own.
    [[nodiscard]] static bool says_ended(const failure& why);

    explicit operator bool() const { return static_cast<bool>(socket_); }
    [[nodiscard]] uint32_t generation() const { return generation_; }

    result<void> send(const hello& h, std::span<const int> descriptors) const;
    struct reply {
        welcome what;
        descriptor segment, document;  ///< none, where this process had no descriptor left
    };
    /// The answer to the first hello, waiting at most `timeout_ms`. `stop`: a descriptor whose readability ends the
    /// wait, or -1. Failure (unavailable): none came, or this is not a server of this release; other kinds: the server
    /// says why it will not serve.
    result<reply> receive(int timeout_ms, int stop) const;

    /// What to poll for POLLIN to see the process end.
    [[nodiscard]] int fd() const { return process_ ? process_.get() : socket_.get(); }
    [[nodiscard]] bool has_ended() const;
    /// Whether end() can do anything: without pidfds, a process in a PID namespace that this one does not see is out of
    /// reach.
    [[nodiscard]] bool is_in_reach() const { return process_ || pid_ > 0; }
    /// Sends SIGKILL and waits at most `timeout_ms`, or until `stop` (or -1) is readable. False: the process lives on,
    /// being out of reach or stuck in the kernel.
    bool end(int timeout_ms, int stop) const;

  private:
    descriptor socket_, process_;
    int pid_ = 0;  ///< 0: in a PID namespace that this process does not see
    uint32_t generation_ = 0;
};

}  // namespace halcyon::offload
