// How a client finds room for a block, and what it does when there is none.

#include <algorithm>
#include <new>

#include "offload/client/client_session.hpp"
#include "offload/client/client_session_parts.hpp"

namespace halcyon::offload {

void client_session::free_block_memory::operator()(std::byte* memory) const {
    ::operator delete (memory, std::align_val_t{block_alignment});
}

client_session::block_memory client_session::take_block_memory(uint64_t bytes) {
    void* memory = ::operator new (std::max<uint64_t>(bytes, 1), std::align_val_t{block_alignment}, std::nothrow);
    return block_memory(static_cast<std::byte*>(memory));
}

std::byte* client_session::bytes_of(uint32_t entry) const {
    return segment_->bytes_at(segment_->geometry().arena_offset(where_.client) + taken_[entry].offset);
}

void client_session::take_back_released() {
    uint32_t entry = 0;
    while (returns_.pop(entry) == return_ring::consumer::outcome::popped) {
        if (entry >= in_use_.size() || !in_use_[entry]) continue;  // already found by resynchronise()
        take_back(entry);
    }
    if (!(segment_->header().tenure.load() == tenure_seen_)) resynchronise();
}

/// A server that died may have freed blocks without sending them back, and the ring on which they come may be damaged:
/// looks at every entry once.
void client_session::resynchronise() {
    tenure_seen_ = segment_->header().tenure.load();
    for (uint32_t entry = 0; entry < in_use_.size(); ++entry)
        if (in_use_[entry]) take_back(entry);
}

/// What the server has let go of: the entry with its bytes, or the bytes alone.
void client_session::take_back(uint32_t entry) {
    const block_state state = table_[entry].state.load(std::memory_order_acquire);
    if (state != block_state::free && state != block_state::stored_early) return;
    if (taken_[entry].bytes > 0) arena_.give_back(taken_[entry].offset, taken_[entry].bytes);
    taken_[entry] = {};
    if (state == block_state::stored_early) return;
    in_use_[entry] = false;
    free_entries_.push_back(entry);
}

bool client_session::try_entry(uint64_t bytes, bool constant, uint32_t& entry) {
    take_back_released();
    if (free_entries_.empty()) return false;
    const auto at = arena_.take(aligned_bytes(bytes), constant ? arena::side::above : arena::side::below);
    if (!at) return false;
    entry = free_entries_.back();
    free_entries_.pop_back();
    in_use_[entry] = true;
    taken_[entry] = {*at, std::max(aligned_bytes(bytes), block_alignment)};
    block_entry& e = table_[entry];
    e.location = segment_->geometry().arena_offset(where_.client) + *at;
    e.in_spill = 0;
    e.sequence = ++sequence_;
    e.state.store(block_state::private_to_client, std::memory_order_release);
    return true;
}

void client_session::sleep_until_progress(uint32_t seen, int64_t most_ns) {
    futex_wait(segment_->header().progress, seen, most_ns);
    silence_->go_on();
}

/// Sleeps until the server made progress. Failure (unavailable): there is no server any more.
result<void> client_session::wait_for_room() {
    if (auto served = still_served(); !served) return served;
    const int64_t begin = monotonic_ns();
    segment_header& h = segment_->header();
    const uint32_t seen = h.progress.load(std::memory_order_acquire);
    page_->waiting.store(1, std::memory_order_release);
    h.bell.ring();
    take_back_released();
    if (link_->available()) sleep_until_progress(seen, patience_ns);
    page_->waiting.store(0, std::memory_order_release);
    const int64_t took = monotonic_ns() - begin;
    counts_.blocked_ns += took;
    phase_blocked_ns_ += took;
    return {};
}

result<client_session::room> client_session::find_room(const variable& v, uint64_t bytes) {
    room r;
    const bool can_ever_fit = aligned_bytes(bytes) <= arena_.size();
    if (can_ever_fit && try_entry(bytes, !v.time_varying, r.entry)) return r;
    switch (v.when_full) {
        case full_policy::skip:
            r.what = room::kind::skip;
            return r;
        case full_policy::spill:
            r.what = room::kind::spill;
            return r;
        case full_policy::run_inline:
            r.what = room::kind::run_inline;
            return r;
        case full_policy::block:
            break;
    }
    if (!can_ever_fit)
        return usage("a block of '" + v.name + "' of " + std::to_string(bytes) +
                     " bytes can never fit into this client's " + std::to_string(arena_.size()) +
                     " bytes of the buffer; raise resources.buffer.size or set when-full: spill");
    silence_->begin();
    while (true) {
        if (auto waited = wait_for_room(); !waited) return waited.why();
        resynchronise();
        if (try_entry(bytes, !v.time_varying, r.entry)) return r;
        if (serverless()) {
            r.what = room::kind::run_inline;
            return r;
        }
        // Everything this client holds is its own: allocated and not cleared. Waiting would never end.
        bool anything_to_come = false;
        for (uint32_t entry = 0; entry < in_use_.size() && !anything_to_come; ++entry) {
            if (!in_use_[entry]) continue;
            const block_state s = table_[entry].state.load(std::memory_order_acquire);
            const bool constant = table_[entry].variable < model_.variables.size() &&
                                  !model_.variables[table_[entry].variable].time_varying;
            anything_to_come = s == block_state::free || (s == block_state::servers && !constant) ||
                               (s == block_state::stored_early && table_[entry].iteration < iteration_);
        }
        take_back_released();
        if (!anything_to_come && !try_entry(bytes, !v.time_varying, r.entry))
            return usage("no room for '" + v.name +
                         "': all of this client's buffer holds blocks that were allocated and not "
                         "cleared, or that outlive iterations; clear some, or raise resources.buffer.size");
        if (r.entry != no_entry) return r;
    }
}

void client_session::describe_entry(uint32_t entry, const variable& v, int block, const block_shape& shape) {
    block_entry& e = table_[entry];
    e.variable = v.id;
    e.iteration = iteration_;
    e.block = block;
    e.shape = shape;
}

result<void> client_session::push(const event_record& e) {
    if (events_.push(e)) return {};
    const int64_t begin = monotonic_ns();
    segment_header& h = segment_->header();
    silence_->begin();
    while (!events_.push(e)) {
        const uint32_t seen = h.progress.load(std::memory_order_acquire);
        page_->waiting.store(1, std::memory_order_release);
        h.bell.ring();
        if (auto served = still_served(); !served) {
            page_->waiting.store(0, std::memory_order_release);
            return served;
        }
        if (!link_->available()) break;  // what the states of the blocks say is enough for leave_server()
        sleep_until_progress(seen, patience_ns / 50);
    }
    page_->waiting.store(0, std::memory_order_release);
    const int64_t took = monotonic_ns() - begin;
    counts_.blocked_ns += took;
    phase_blocked_ns_ += took;
    return {};
}

result<void> client_session::push_block(event_kind kind, uint32_t entry) {
    event_record e{};
    e.kind = kind;
    e.index = entry;
    e.iteration = table_[entry].iteration;
    e.sequence = table_[entry].sequence;
    return push(e);
}

/// Of a block that will not come: to the server, and to whoever comes after it.
result<void> client_session::tell_absence(event_kind kind, const variable& v, int block, absence::cause why) {
    segment_->absences(where_.client).add({iteration_, v.id, block, why}, segment_->geometry().absence_slots);
    event_record e{};
    e.kind = kind;
    e.index = v.id;
    e.iteration = iteration_;
    e.value[0] = block;
    return push(e);
}

void client_session::hand_over(uint32_t entry) {
    table_[entry].state.store(block_state::servers, std::memory_order_release);
}

result<void> client_session::skip(const variable& v, int block, int64_t bytes) {
    ++counts_.skipped_blocks;
    counts_.skipped_bytes += static_cast<uint64_t>(bytes);
    page_->skipped_blocks.store(counts_.skipped_blocks, std::memory_order_relaxed);
    page_->skipped_bytes.store(counts_.skipped_bytes, std::memory_order_relaxed);
    return tell_absence(event_kind::block_skipped, v, block, absence::cause::skipped);
}

result<void> client_session::spill(const variable& v, int block, const block_shape& shape, const void* data) {
    const bool first = !spill_.is_open();
    // An entry without arena bytes still needs its place in the table.
    silence_->begin();
    while (free_entries_.empty()) {
        resynchronise();
        if (!free_entries_.empty()) break;
        if (auto waited = wait_for_room(); !waited) return waited;
        if (serverless())
            return fallback_->add(v, block, iteration_, shape,
                                  {static_cast<const std::byte*>(data), static_cast<size_t>(shape.bytes)});
    }
    auto at = spill_.append(model_.buffer.spill_directory, data, static_cast<uint64_t>(shape.bytes),
                            static_cast<uint64_t>(model_.buffer.max_spill_bytes));
    if (!at) return at.why();
    if (first)
        if (auto shared = link_->share_spill_file(spill_.fd()); !shared) return shared;
    const uint32_t entry = free_entries_.back();
    free_entries_.pop_back();
    in_use_[entry] = true;
    taken_[entry] = {};
    block_entry& e = table_[entry];
    e.location = *at;
    e.in_spill = 1;
    e.sequence = ++sequence_;
    describe_entry(entry, v, block, shape);
    // Before the block is the server's: one that takes over knows by this count that it needs the file.
    ++counts_.spilled_blocks;
    counts_.spilled_bytes += static_cast<uint64_t>(shape.bytes);
    page_->spilled_blocks.store(counts_.spilled_blocks, std::memory_order_relaxed);
    page_->spilled_bytes.store(counts_.spilled_bytes, std::memory_order_relaxed);
    hand_over(entry);
    return push_block(event_kind::block_handed, entry);
}

result<void> client_session::store_here(const variable& v, int block, const block_shape& shape, const void* data) {
    const std::span<const std::byte> bytes{static_cast<const std::byte*>(data), static_cast<size_t>(shape.bytes)};
    if (inline_) return fallback_->add(v, block, iteration_, shape, bytes);
    if (auto done = fallback_->store_now(v, block, iteration_, shape, bytes); !done) return done;
    ++counts_.inlined_blocks;
    counts_.inlined_bytes += bytes.size();
    page_->inlined_blocks.store(counts_.inlined_blocks, std::memory_order_relaxed);
    page_->inlined_bytes.store(counts_.inlined_bytes, std::memory_order_relaxed);
    return {};
}

}  // namespace halcyon::offload
