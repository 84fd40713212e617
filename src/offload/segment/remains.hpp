#pragma once

#include <vector>

#include "offload/segment/segment.hpp"

namespace halcyon::offload {

/// What lies in a segment of one client and was stored by no server.
struct remains {
    std::vector<checked_block> blocks;  ///< committed, by iteration
    result<void> sound;                 ///< failure (usage): an entry is damaged, and its block lost
};
/// Once no server comes any more: the blocks of `client` behind those that the servers have stored.
remains remains_of(const segment& s, const model& m, uint32_t client);

/// Whether the process of a client is seen to have ended; false where its number means nothing in this PID namespace.
[[nodiscard]] bool process_has_ended(const client_page& page);

}  // namespace halcyon::offload
