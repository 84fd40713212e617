#pragma once

#include <cstdint>

#include "offload/model/model.hpp"
#include "offload/segment/segment.hpp"
#include "offload/server/block_intake.hpp"
#include "offload/server/client_roster.hpp"
#include "offload/server/client_signals.hpp"
#include "offload/server/event_intake.hpp"
#include "offload/server/held_blocks.hpp"
#include "offload/server/iteration_book.hpp"
#include "offload/server/journal.hpp"
#include "offload/server/parameter_values.hpp"
#include "offload/server/progress_notice.hpp"
#include "offload/server/spill_files.hpp"

namespace halcyon::offload {

/// What a server does first that takes over from one which ended: the states of the blocks tell what that one had been
/// given, the segment and the records what it had counted. At the end it finds out which lines of the records went with
/// the servers before.
///
/// The loop's thread alone uses it, run() before the loop begins.
class takeover {
  public:
    takeover(const segment& shared, const model& data, uint32_t generation, iteration_book& book,
             client_roster& clients, spill_files& spilled, held_blocks& held, block_intake& blocks,
             client_signals& signals, event_intake& events, parameter_values& parameters, journal& notes,
             progress_notice& progress);

    void run();
    /// A server that is killed takes records with it that had not been written. Each iteration that a client ended has
    /// a line; a client that died may not have said so of its last one. True: some are lost, and counted now.
    bool count_lines_lost_with_predecessors();

  private:
    void take_blocks_of(uint32_t client, int64_t stored, int64_t ended);
    void remember_last_iteration(uint32_t client);

    const segment& segment_;
    const model& data_;
    uint32_t generation_;
    iteration_book& book_;
    client_roster& clients_;
    spill_files& spill_files_;
    held_blocks& held_;
    block_intake& blocks_;
    client_signals& signals_;
    event_intake& events_;
    parameter_values& parameters_;
    journal& journal_;
    progress_notice& progress_;
};

}  // namespace halcyon::offload
