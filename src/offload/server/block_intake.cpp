#include "offload/server/block_intake.hpp"

#include "offload/store/store.hpp"

namespace halcyon::offload {

block_intake::block_intake(const segment& shared, const model& data, uint32_t generation, iteration_book& book,
                           held_blocks& held, spill_files& spilled, journal& notes, loss_report& losses)
    : segment_(shared),
      data_(data),
      generation_(generation),
      book_(book),
      held_(held),
      spill_files_(spilled),
      journal_(notes),
      losses_(losses) {}

void block_intake::adopt(uint32_t client, uint32_t index, uint64_t sequence, bool handed) {
    // The state first: of an entry that is the server's, nobody else changes anything.
    const iteration_book::key k = iteration_book::key_of(client, index);
    const iteration_book::held* known = book_.find(k);
    const block_state state = segment_.table(client)[index].state.load(std::memory_order_acquire);
    if (state == block_state::stored_early && known != nullptr) return;  // a predecessor adopted and stored it
    if (state != block_state::servers && (handed || state != block_state::shared_read)) {
        // A predecessor may have adopted and released it before this event was popped.
        if (generation_ == 1) refuse(k, sequence, handed, "a block that it still holds");
        return;
    }
    auto b = check_block(segment_, data_, client, index);
    if (!b) return refuse(k, sequence, handed, b.why().message);
    if (b->sequence != sequence) {
        // An old event of an entry that was adopted and released when this server took over.
        if (generation_ == 1) refuse(k, sequence, handed, "a block with the number of another");
        return;
    }
    if (!book_.is_plausible(client, b->iteration))
        return refuse(k, sequence, handed,
                      "a block of iteration " + std::to_string(b->iteration) + ", but the last one it ended is " +
                          std::to_string(book_.ended_through(client)));
    if (known != nullptr && known->block.sequence != sequence)
        return refuse(k, sequence, handed, "a block in the place of another");
    if (b->iteration < book_.next_to_complete() && known == nullptr) {
        // Belongs to an iteration that is closed: its client had been given up, or a predecessor stored it.
        if (handed) held_.give_back(k, block_state::free);
        return;
    }
    if (b->in_spill) spill_files_.need(client);
    if (book_.adopt(*b, handed) == nullptr) held_.give_back_if_done(k);
}

void block_intake::refuse(iteration_book::key k, uint64_t sequence, bool handed, const std::string& why) {
    const auto client = static_cast<uint32_t>(k >> 32);
    reject(client, why);
    losses_.tell_clients(book_.next_to_complete(), "rank " + std::to_string(book_.rank_of(client)) + " sent " + why);
    const iteration_book::held* known = book_.find(k);
    if (known == nullptr && handed) held_.give_back(k, block_state::free);
    // What was committed before it was damaged is stored, and its entry free then.
    if (known != nullptr && handed && known->block.sequence == sequence) {
        book_.hand_over(k);
        held_.give_back_if_done(k);
    }
}

void block_intake::reject(uint32_t client, const std::string& what) {
    journal_.add(&run_counts::rejected_blocks);
    journal_.note("rejected: rank " + std::to_string(book_.rank_of(client)) + " sent " + what);
}

void block_intake::note_absent(uint32_t client, const absence& a) {
    if (a.variable >= data_.variables.size() || a.block < 0 || a.block >= data_.variables[a.variable].blocks_per_client)
        return reject(client, "word of a block that cannot be");
    if (a.iteration < book_.next_to_complete()) return;
    const bool uncommitted = a.why == absence::cause::uncommitted;
    book_.note_missing(client, a.variable, a.block, a.iteration,
                       uncommitted ? missing_block::why::uncommitted : missing_block::why::skipped);
    if (uncommitted) journal_.note(uncommitted_text(book_.rank_of(client), data_.variables[a.variable], a.block));
}

void block_intake::adopt_from_dead(uint32_t client) {
    const auto table = segment_.table(client);
    for (uint32_t i = 0; i < table.size(); ++i) {
        const block_state state = table[i].state.load(std::memory_order_acquire);
        if (state == block_state::servers || state == block_state::shared_read)
            adopt(client, i, table[i].sequence, state == block_state::servers);
        else if (state == block_state::private_to_client)
            table[i].state.store(block_state::free, std::memory_order_release);
    }
}

}  // namespace halcyon::offload
