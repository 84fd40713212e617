#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "offload/model/model.hpp"
#include "offload/output/run_records.hpp"
#include "offload/segment/absence_log.hpp"
#include "offload/store/store.hpp"

namespace halcyon::offload {

/// Stores blocks in the client itself: for `inline: true`, the policy `inline`, and when no server can be had.
/// Files carry the writer name of the client ("c00012").
class fallback_writer {
  public:
    virtual ~fallback_writer() = default;

    /// One block, stored now in a file of its own: policy `inline`.
    virtual result<void> store_now(const variable& v, int block, int64_t iteration, const block_shape& shape,
                                   std::span<const std::byte> data) = 0;

    /// Blocks of one iteration of another client, which has ended, and those of them that cannot be read any more.
    struct left_blocks {
        int64_t iteration;
        int rank;
        std::vector<block_view> blocks;
        std::vector<missing_block> lost;
    };
    /// Stored now, in a file of their own.
    virtual result<void> store_left(left_blocks left) = 0;

    /// Copies a block; it is stored by the end_iteration that completes its file.
    virtual result<void> add(const variable& v, int block, int64_t iteration, const block_shape& shape,
                             std::span<const std::byte> data) = 0;
    /// A block that will not come, as the file of its iteration says.
    virtual result<void> note_missing(const variable& v, int block, int64_t iteration, absence::cause why) = 0;
    virtual result<void> end_iteration(int64_t iteration) = 0;
    /// What the simulation experienced in an iteration.
    struct phase {
        int64_t begin_ns = 0, visible_ns = 0, blocked_ns = 0, compute_ns = 0, bytes = 0;
    };
    /// Into the records, of an iteration whose phase no server has.
    virtual result<void> add_phase(int64_t iteration, const phase& seen) = 0;
    /// Likewise: a value that a user changed.
    virtual result<void> add_steering(const steering_record& s) = 0;
    /// What the client handed to a server that ended, and nobody will make good.
    virtual result<void> count_lost(int64_t signals, int64_t phases) = 0;
    /// Into the records: what the policies of a client did as long as there was a server.
    virtual result<void> count_policies(const policy_counts& of_client) = 0;
    virtual result<void> signal(const event& e, int64_t iteration) = 0;
    /// The last server of the node has ended: publishes what it kept hidden, removes what it was in the middle of, and
    /// saves its counts. `phases_taken`: how many lines of phases it should have written.
    virtual result<void> settle_server(run_counts counted, int64_t phases_taken) = 0;
    /// A line for the log of the node's server.
    virtual void log(const std::string& line) = 0;
    /// Stores what is complete but not yet in a file.
    virtual result<void> flush() = 0;
    /// Failure: blocks of this iteration or of one before it could not be written and are lost.
    [[nodiscard]] virtual result<void> all_stored(int64_t through) const = 0;
    /// Whose files sync() syncs.
    enum class reach { own, node };
    /// Syncs everything stored so far: by this client, or also by the server of its node and the other clients.
    virtual result<void> sync(reach whose) = 0;
    /// The session ends: flush, and say in the records that it ended in order.
    virtual result<void> finish() = 0;
};

}  // namespace halcyon::offload
