#pragma once

#include <cstdint>
#include <set>

#include "base/turn.hpp"
#include "offload/model/model.hpp"
#include "offload/output/output_writer.hpp"
#include "offload/segment/segment.hpp"
#include "offload/server/client_roster.hpp"
#include "offload/server/file_assembly.hpp"
#include "offload/server/file_queue.hpp"
#include "offload/server/file_sharing.hpp"
#include "offload/server/held_blocks.hpp"
#include "offload/server/iteration_book.hpp"
#include "offload/server/iteration_pace.hpp"
#include "offload/server/journal.hpp"
#include "offload/server/pending_iterations.hpp"
#include "offload/server/settlement.hpp"
#include "offload/server/worker_pool.hpp"

namespace halcyon::offload {

/// Decides when which iterations go into a file: when a group is full and this server's turn may have come, when
/// somebody waits for an iteration, and early where a client finds no room.
///
/// The loop's thread alone uses it.
class output_schedule {
  public:
    output_schedule(const segment& shared, const model& data, const client_roster& clients, iteration_book& book,
                    held_blocks& held, pending_iterations& pending, const turn& turns, iteration_pace& pace,
                    file_assembly& assembly, settlement& settled, file_queue& queue, file_sharing& sharing,
                    output_writer& output, journal& notes, worker_pool& workers);

    /// Makes pending what has become complete, and has full groups written.
    void complete_iterations();
    /// Has written what somebody waits for.
    void flush_wanted();
    /// Has everything written that is pending and not shared.
    void flush_all();
    /// A client waits for room and nothing that is under way will make any: blocks of incomplete iterations are stored
    /// early, into a part that is published with its iteration.
    void relieve_pressure();

  private:
    void complete(int64_t number);
    void tell_of_closed_before(int64_t number, const std::set<uint32_t>& clients);
    void flush(uint32_t store, int64_t delay_ns = 0);

    const segment& segment_;
    const model& data_;
    const client_roster& clients_;
    iteration_book& book_;
    held_blocks& held_;
    pending_iterations& pending_;
    const turn& turns_;
    iteration_pace& pace_;
    file_assembly& assembly_;
    settlement& settlement_;
    file_queue& queue_;
    file_sharing& sharing_;
    output_writer& output_;
    journal& journal_;
    worker_pool& pool_;
    std::set<uint32_t> told_closed_;  ///< clients of which the log says that others went on without them
};

}  // namespace halcyon::offload
