#pragma once

#include <cstdint>
#include <vector>

#include "coordinate/protocol/messages.hpp"

namespace halcyon::coordinate {

/// The daemon's number of a connection: not 0, never used again.
using connection_id = uint64_t;

/// What has to be done, in this order: send the messages, close the connections once theirs are sent, wake the
/// coordinator.
struct effects {
    struct outgoing {
        connection_id to = 0;
        from_coordinator message;
    };
    std::vector<outgoing> messages;
    std::vector<connection_id> close;  ///< the daemon need not tell that they are closed
    double wake_at_s = 0;              ///< advance() must be called then at the latest
    /// Fencing numbers of this epoch are nearly used up: the daemon has to begin anew with a higher one.
    bool new_epoch_needed = false;
};

}  // namespace halcyon::coordinate
