#include "offload/client/block_room.hpp"

#include <algorithm>

namespace halcyon::offload {

block_room::block_room(const segment& shared, const model& data, uint32_t client)
    : segment_(shared),
      model_(data),
      arena_begin_(shared.bytes_at(shared.geometry().arena_offset(client))),
      arena_offset_(shared.geometry().arena_offset(client)),
      table_(shared.table(client)),
      returns_(shared.returns(client), shared.geometry().return_slots),
      arena_(shared.geometry().arena_bytes, shared.geometry().blocks_per_client),
      taken_(table_.size()),
      in_use_(table_.size(), false),
      tenure_seen_(shared.header().tenure.load()) {
    free_entries_.reserve(table_.size());
    for (auto e = static_cast<uint32_t>(table_.size()); e-- > 0;) free_entries_.push_back(e);
}

std::byte* block_room::bytes_of(uint32_t entry) const {
    return arena_begin_ + taken_[entry].offset;
}

void block_room::take_back_released() {
    uint32_t entry = 0;
    while (returns_.pop(entry) == return_ring::consumer::outcome::popped) {
        if (entry >= in_use_.size() || !in_use_[entry]) continue;  // already found by resynchronise()
        take_back(entry);
    }
    if (!(segment_.header().tenure.load() == tenure_seen_)) resynchronise();
}

void block_room::resynchronise() {
    tenure_seen_ = segment_.header().tenure.load();
    for (uint32_t entry = 0; entry < in_use_.size(); ++entry)
        if (in_use_[entry]) take_back(entry);
}

/// What the server has let go of: the entry with its bytes, or the bytes alone.
void block_room::take_back(uint32_t entry) {
    const block_state state = table_[entry].state.load(std::memory_order_acquire);
    if (state != block_state::free && state != block_state::stored_early) return;
    if (taken_[entry].bytes > 0) arena_.give_back(taken_[entry].offset, taken_[entry].bytes);
    taken_[entry] = {};
    if (state == block_state::stored_early) return;
    in_use_[entry] = false;
    free_entries_.push_back(entry);
}

uint32_t block_room::take_entry() {
    const uint32_t entry = free_entries_.back();
    free_entries_.pop_back();
    in_use_[entry] = true;
    return entry;
}

std::optional<uint32_t> block_room::take(uint64_t bytes, bool constant) {
    take_back_released();
    if (free_entries_.empty()) return std::nullopt;
    const auto at = arena_.take(aligned_bytes(bytes), constant ? arena::side::above : arena::side::below);
    if (!at) return std::nullopt;
    const uint32_t entry = take_entry();
    taken_[entry] = {*at, std::max(aligned_bytes(bytes), block_alignment)};
    block_entry& e = table_[entry];
    e.location = arena_offset_ + *at;
    e.in_spill = 0;
    e.sequence = ++sequence_;
    e.state.store(block_state::private_to_client, std::memory_order_release);
    return entry;
}

uint32_t block_room::take_spilled(uint64_t location) {
    const uint32_t entry = take_entry();
    taken_[entry] = {};
    block_entry& e = table_[entry];
    e.location = location;
    e.in_spill = 1;
    e.sequence = ++sequence_;
    return entry;
}

bool block_room::is_more_to_come(int64_t open) const {
    for (uint32_t entry = 0; entry < in_use_.size(); ++entry) {
        if (!in_use_[entry]) continue;
        const block_entry& e = table_[entry];
        const block_state s = e.state.load(std::memory_order_acquire);
        const bool constant = e.variable < model_.variables.size() && !model_.variables[e.variable].time_varying;
        if (s == block_state::free || (s == block_state::servers && !constant) ||
            (s == block_state::stored_early && e.iteration < open))
            return true;
    }
    return false;
}

void block_room::describe(uint32_t entry, const variable& v, int block, int64_t iteration, const block_shape& shape) {
    block_entry& e = table_[entry];
    e.variable = v.id;
    e.iteration = iteration;
    e.block = block;
    e.shape = shape;
}

event_record block_room::event_of(event_kind kind, uint32_t entry) const {
    event_record e{};
    e.kind = kind;
    e.index = entry;
    e.iteration = table_[entry].iteration;
    e.sequence = table_[entry].sequence;
    return e;
}

}  // namespace halcyon::offload
