#pragma once

#include <cstddef>
#include <vector>

#include "offload/model/model.hpp"
#include "offload/segment/segment.hpp"
#include "offload/server/client_roster.hpp"
#include "offload/server/iteration_book.hpp"
#include "offload/server/journal.hpp"
#include "offload/server/progress_notice.hpp"
#include "offload/server/spill_files.hpp"
#include "offload/store/store.hpp"

namespace halcyon::offload {

/// The blocks that the server holds: shows their bytes, wherever these lie, and gives each block back to its client
/// once nothing needs it any more. Every block goes back through here, since a client finds its entry by the state that
/// give_back() sets and the ring that it fills.
///
/// The loop's thread alone uses it; the bytes of a view may be read by any thread until the block is given back.
class held_blocks {
  public:
    held_blocks(const segment& shared, const model& data, iteration_book& book, const client_roster& clients,
                const spill_files& spilled, const journal& notes, progress_notice& progress);

    /// What was spilled is read into a new element of `spilled`, which the view points to. Failure (system): its file
    /// does not hold it.
    result<block_view> view_of(const iteration_book::held& h, std::vector<std::vector<std::byte>>& spilled) const;
    /// Where what the client spilled lies; -1: this process could not take its file.
    [[nodiscard]] int spill_file_of(uint32_t client) const { return spill_files_.file_of(client); }
    /// Gives back the entry, or only its bytes.
    void give_back(iteration_book::key k, block_state now);
    /// Gives the block back when it is stored, and neither its client, a file nor an action reads it any more.
    void give_back_if_done(iteration_book::key k);
    /// The client is dead, so it does not read its committed blocks any more.
    void hand_over_all_of(uint32_t client);

  private:
    const segment& segment_;
    const model& data_;
    iteration_book& book_;
    const client_roster& clients_;
    const spill_files& spill_files_;
    const journal& journal_;
    progress_notice& progress_;
    std::vector<return_ring::producer> returns_;
};

}  // namespace halcyon::offload
