#pragma once

#include <cstdint>

#include "base/error.hpp"
#include "offload/client/block_room.hpp"
#include "offload/client/fallback_writer.hpp"
#include "offload/client/open_iteration.hpp"
#include "offload/client/server_channel.hpp"
#include "offload/client/server_link.hpp"
#include "offload/client/server_loss.hpp"
#include "offload/client/spill_file.hpp"
#include "offload/output/run_records.hpp"
#include "offload/segment/segment.hpp"

namespace halcyon::offload {

/// Where the blocks of a client that has a server go: into the segment, or, when it is full, where the policy of the
/// variable says. Counts what the policies did, here and in the client's page.
///
/// Used by one thread at a time.
class block_placement {
  public:
    block_placement(const segment& shared, const model& data, uint32_t client, block_room& room,
                    server_channel& channel, server_link& link, server_loss& loss, fallback_writer& fallback,
                    spill_file& spill, const open_iteration& now);

    /// Where a new block goes.
    struct place {
        enum class kind { segment, skip, spill, run_inline } what = kind::segment;
        uint32_t entry = 0;  ///< of the segment
    };
    /// Under the policy `block` it waits for room. Failures (usage): the block can never fit, or waiting would never
    /// end; (unavailable): the server has given the client up.
    result<place> find(const variable& v, uint64_t bytes);

    // Policies; the data is not read any more on return.
    result<void> skip(const variable& v, int block, const block_shape& shape);
    result<void> spill(const variable& v, int block, const block_shape& shape, const void* data);
    result<void> store_here(const variable& v, int block, const block_shape& shape, const void* data);

    [[nodiscard]] const policy_counts& counts() const { return counts_; }

  private:
    result<place> wait_for_room(const variable& v, uint64_t bytes);

    const model& model_;
    client_page& page_;
    block_room& room_;
    server_channel& channel_;
    server_link& link_;
    server_loss& loss_;
    fallback_writer& fallback_;
    spill_file& spill_file_;
    const open_iteration& now_;
    policy_counts counts_;
};

}  // namespace halcyon::offload
