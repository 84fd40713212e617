#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <utility>

#include "base/descriptor.hpp"
#include "base/error.hpp"

namespace halcyon::offload {

/// A process of the same user that steers: where the answers to its messages go.
///
/// Usable from several threads; nobody ever waits for such a process.
class steering_peer {
  public:
    /// `socket`: connected, and checked. Failure (system): no descriptor is left.
    static result<steering_peer> of(const descriptor& socket);

    /// As the kernel saw it connect; 0: in a PID namespace that the server does not see.
    [[nodiscard]] pid_t process() const { return process_; }
    /// False: it is gone, or does not read what it is sent. Then its connection is over.
    bool send(std::string_view text) const;
    void hang_up() const;

  private:
    steering_peer(descriptor socket, pid_t process) : socket_(std::move(socket)), process_(process) {}

    descriptor socket_;  ///< a second one of the same connection, for as long as somebody may answer
    pid_t process_;
};

/// `{"error": "usage", "message": "…"}`
std::string steering_refusal(const failure& why);

}  // namespace halcyon::offload
