#pragma once

#include "offload/output/run_records.hpp"
#include "offload/segment/segment.hpp"

namespace halcyon::offload {

/// What a client says of itself in its page.
[[nodiscard]] policy_counts policies_of(const client_page& page);

/// Puts into `counts` what the segment of a node says of its clients and of the succession of its servers.
void count_clients(const segment& of, run_counts& counts);

/// The counts of a node whose last server has ended: its ledger, the blocks of early parts of iterations that are not
/// in the ledger yet, and the signals that were taken and whose actions will not run any more. Without what policies
/// did: clients go on by them until they notice, so each is counted by the one who stores its blocks.
[[nodiscard]] run_counts counts_without_server(const segment& of);

/// How many lines of phases the servers of a node should have written.
[[nodiscard]] int64_t phases_taken(const segment& of);

}  // namespace halcyon::offload
