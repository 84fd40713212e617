#include "offload/server/held_blocks.hpp"

#include <utility>

namespace halcyon::offload {

held_blocks::held_blocks(const segment& shared, const model& data, iteration_book& book, const client_roster& clients,
                         const spill_files& spilled, const journal& notes, progress_notice& progress)
    : segment_(shared),
      data_(data),
      book_(book),
      clients_(clients),
      spill_files_(spilled),
      journal_(notes),
      progress_(progress) {
    const segment_geometry& g = shared.geometry();
    for (uint32_t c = 0; c < g.clients; ++c) returns_.emplace_back(shared.returns(c), g.return_slots);
}

result<block_view> held_blocks::view_of(const iteration_book::held& h,
                                        std::vector<std::vector<std::byte>>& spilled) const {
    const checked_block& b = h.block;
    block_view v;
    v.var = &data_.variables[b.variable];
    v.iteration = b.iteration;
    v.rank = book_.rank_of(b.client);
    v.block = b.block;
    v.shape = b.shape;
    if (!b.in_spill) {
        v.data = {segment_.bytes_at(b.location), static_cast<size_t>(b.shape.bytes)};
        return v;
    }
    auto bytes = spill_files_.read(b);
    if (!bytes) return bytes.why();
    spilled.push_back(*std::move(bytes));
    v.data = spilled.back();
    return v;
}

void held_blocks::give_back_if_done(iteration_book::key k) {
    const iteration_book::held* h = book_.find(k);
    if (h == nullptr || !h->stored || !h->handed || h->in_job || h->pins > 0) return;
    if (h->constant && !clients_.is_gone(h->block.client)) return;
    // A published file may have to be written again while its iteration is not marked; a closed early part never.
    const bool marked = h->block.iteration <= journal_.stored_through();
    if (!marked && !h->early && !data_.variables[h->block.variable].store.empty()) return;
    if (h->block.in_spill && !h->buried) spill_files_.discard(h->block);
    if (marked || !h->early) {
        book_.forget(k);
        give_back(k, block_state::free);
    } else if (!h->buried) {
        book_.bury(k);
        give_back(k, block_state::stored_early);
    }
}

void held_blocks::hand_over_all_of(uint32_t client) {
    std::vector<iteration_book::key> own;
    for (const auto& [k, h] : book_.all())
        if (h.block.client == client) own.push_back(k);
    for (const iteration_book::key k : own) {
        book_.hand_over(k);
        give_back_if_done(k);
    }
}

void held_blocks::give_back(iteration_book::key k, block_state now) {
    const auto client = static_cast<uint32_t>(k >> 32);
    const auto index = static_cast<uint32_t>(k);
    segment_.table(client)[index].state.store(now, std::memory_order_release);
    // The ring has a slot for each entry; should a client have damaged it, it finds its block by itself.
    static_cast<void>(returns_[client].push(index));
    progress_.note();
}

}  // namespace halcyon::offload
