#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "offload/model/model.hpp"
#include "offload/segment/segment.hpp"
#include "offload/server/action_queue.hpp"
#include "offload/server/block_intake.hpp"
#include "offload/server/client_roster.hpp"
#include "offload/server/client_signals.hpp"
#include "offload/server/held_blocks.hpp"
#include "offload/server/iteration_book.hpp"
#include "offload/server/journal.hpp"
#include "offload/server/progress_notice.hpp"
#include "offload/server/steering.hpp"

namespace halcyon::offload {

/// Pops the clients' rings and passes on what each event says: of a block, a signal, the end of an iteration, or the
/// end of the client. A client whose events make no sense is given up; of one that died, everything it had handed over
/// is taken first.
///
/// The loop's thread alone uses it: it is the consumer of every event ring.
class event_intake {
  public:
    event_intake(const segment& shared, const model& data, iteration_book& book, client_roster& clients,
                 block_intake& blocks, held_blocks& held, client_signals& signals, const action_queue& actions,
                 steering& steered, journal& notes, progress_notice& progress);

    /// Takes a bounded number of events of each client, none while the action queue takes none. True: there was one.
    bool pop();
    [[nodiscard]] bool has_events() const;
    /// A client closed or died: what it sent is taken first, then nobody waits for it any more.
    void client_gone(uint32_t client);
    /// A client that a predecessor saw die: nothing is taken from its ring.
    void died_before(uint32_t client);
    /// What the client wrote in the iteration is noted before any block of it goes: a server that takes over could not
    /// find out.
    void iteration_ended(uint32_t client, int64_t iteration);
    /// Says again how much was taken from each ring from which a client waits for room, and notices a client that
    /// closed and whose event that says so was lost: somebody may have written over either.
    void restate();

  private:
    bool pop_client(uint32_t client);
    void handle(uint32_t client, const event_record& e);
    void give_up(uint32_t client, const std::string& why);

    const segment& segment_;
    iteration_book& book_;
    client_roster& clients_;
    block_intake& blocks_;
    held_blocks& held_;
    client_signals& signals_;
    const action_queue& actions_;
    steering& steering_;
    journal& journal_;
    progress_notice& progress_;
    std::vector<event_ring::consumer> rings_;
    std::vector<uint32_t> first_block_;  ///< as first_blocks() of the model
};

}  // namespace halcyon::offload
