#pragma once

#include <cstdint>

#include "base/descriptor.hpp"
#include "base/error.hpp"

namespace halcyon::offload {

/// What the client's calls need of the process that serves it.
class server_link {
  public:
    virtual ~server_link() = default;
    /// False once the server is gone for good: the session then goes on without one.
    [[nodiscard]] virtual bool available() const = 0;
    /// False once the server of this client has ended, until its successor is known.
    [[nodiscard]] virtual bool has_server() = 0;
    /// Hands the descriptor of this client's spill file to the server, and to each that follows it.
    virtual result<void> share_spill_file(int fd) = 0;
    /// Kills the server of this generation, which does not answer any more: its successor takes over.
    /// False: it is out of this process' reach.
    virtual bool end_server(uint32_t generation) = 0;
    /// Only one client of the node at a time has what this returns, until it is closed or its process ends. Failure
    /// (system): another one has it (EADDRINUSE), or this process has no descriptor left.
    virtual result<descriptor> take_turn() = 0;
};

}  // namespace halcyon::offload
