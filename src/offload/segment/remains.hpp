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

/// Whether this process can see that of a client: in another PID namespace its number means nothing.
[[nodiscard]] bool process_is_in_sight(const client_page& page);
/// Whether it is seen to have ended.
[[nodiscard]] bool process_has_ended(const client_page& page);

}  // namespace halcyon::offload
