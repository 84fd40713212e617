#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.hpp"

namespace halcyon::offload {

/// What servers need of this process' environment. Read once, by the thread that opens the session: later servers are
/// started by another thread, while the simulation may be changing its environment.
struct launch_environment {
    std::string world;                   ///< HALCYON_SESSION: a server world that waits for clients; "" none
    std::string server;                  ///< HALCYON_SERVER: the program; "" the installed one
    std::vector<std::string> variables;  ///< of the server: all but what would make it a part of the job

    static launch_environment of_this_process();
    /// The server takes turns by itself, under the name of this process' job: with that name, and without the layer of
    /// libhalcyon-io in which each of its calls would wait once more. In the thread that opens the session.
    void let_server_take_turns();
};

/// Starts `halcyon-server` for `generation` of `session`, detached from this process in every respect: own session,
/// /dev/null as 0 to 2, no other descriptors, no MPI or preload variables. Returns when it listens, at the latest after
/// `patience_ms` or when `stop` (or -1) is readable.
/// Failure (unavailable): not found (the message lists where it was looked for), or it did not come up; system_errno
/// ECONNRESET where it was killed before it listened.
result<void> start_server(const launch_environment& environment, const std::string& session, uint32_t generation,
                          int patience_ms, int stop);

}  // namespace halcyon::offload
