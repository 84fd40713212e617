#pragma once

#include <optional>

#include "base/error.hpp"
#include "offload/client/mpi_agreement.hpp"
#include "offload/client/unended_iterations.hpp"

namespace halcyon::offload {

/// What a client knows of itself when its session ends.
struct ended_iterations {
    int64_t count = 0;
    int64_t first_unmarked = 0;  ///< the first that it has not ended and no server has stored
    bool stores_itself = false;
};

/// Collective over `all`: what this rank has to mark; nothing where all ended equally many, or servers mark it. Of a
/// node with a server its first rank marks what nobody there ended, if other nodes have lost theirs: beside files of
/// clients the view cannot tell that from a lost server.
result<std::optional<unended_iterations>> find_unended(const communicator& all, const communicator& node,
                                                       int node_index, const ended_iterations& own);

}  // namespace halcyon::offload
