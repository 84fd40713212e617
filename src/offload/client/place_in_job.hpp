#pragma once

#include <cstdint>

namespace halcyon::offload {

/// Which process of the simulation a client is.
struct place_in_job {
    int rank = 0;  ///< in the communicator of open
    int size = 1;
    uint32_t client = 0;  ///< index on this node
};

}  // namespace halcyon::offload
