#include "offload/server/iteration_book.hpp"

#include <algorithm>

namespace halcyon::offload {

iteration_book::iteration_book(const model& data, std::vector<int> client_ranks, int64_t first_iteration)
    : data_(data), client_ranks_(std::move(client_ranks)), clients_(client_ranks_.size()), next_(first_iteration) {
    for (client_state& c : clients_) c.ended_through = first_iteration - 1;
}

const iteration_book::held* iteration_book::adopt(const checked_block& b, bool handed) {
    const key k = key_of(b.client, b.index);
    if (const auto known = held_.find(k); known != held_.end() && known->second.block.sequence == b.sequence) {
        known->second.handed = known->second.handed || handed;
        return nullptr;
    }
    held h;
    h.block = b;
    h.handed = handed;
    h.constant = !data_.variables[b.variable].time_varying;
    iteration& it = iterations_[b.iteration];
    it.blocks.push_back(k);
    it.bytes += b.shape.bytes;
    if (h.constant)
        constants_.insert(k);
    else
        constants_.erase(k);
    return &(held_[k] = h);
}

const iteration_book::held* iteration_book::find(key k) const {
    const auto found = held_.find(k);
    return found == held_.end() ? nullptr : &found->second;
}

void iteration_book::forget(key k) {
    held_.erase(k);
    constants_.erase(k);
}

void iteration_book::unpin(key k) {
    if (const auto found = held_.find(k); found != held_.end()) --found->second.pins;
}

void iteration_book::mark_stored(key k, bool early) {
    const auto found = held_.find(k);
    if (found == held_.end()) return;
    found->second.in_job = false;
    found->second.stored = true;
    found->second.early = early;
}

void iteration_book::note_unwritten(key k, bool of_early_part) {
    const held* h = find(k);
    if (h == nullptr || !knows(h->block.iteration)) return;
    const checked_block& b = h->block;
    iteration& of = iterations_.at(b.iteration);
    ++of.unwritten;
    of.unwritten_bytes += b.shape.bytes;
    if (of_early_part)
        note_missing(b.client, b.variable, b.block, b.iteration, missing_block::why::not_written);
    else
        ++of.given_up;
}

void iteration_book::begin_storing(int64_t number, int64_t complete_ns, size_t stores) {
    iteration& it = iterations_.at(number);
    it.complete_ns = complete_ns;
    it.stores_left = stores;
}

void iteration_book::note_missing(uint32_t client, uint32_t variable, int32_t block, int64_t number,
                                  missing_block::why reason) {
    auto& missing = iterations_[number].missing;
    const int32_t rank = client_ranks_[client];
    const bool noted = std::any_of(missing.begin(), missing.end(), [&](const missing_block& m) {
        return m.variable_id == variable && m.rank == rank && m.block == block;
    });
    if (!noted) missing.push_back({variable, number, rank, block, reason});
}

void iteration_book::client_ended(uint32_t client, int64_t number) {
    client_state& c = clients_[client];
    if (number <= c.ended_through) return;
    c.ended_through = number;
    c.wrote_last.clear();
    auto& it = iterations_[number];
    for (const key k : it.blocks)
        if (const held* h = find(k); h != nullptr && h->block.client == client && !h->constant)
            c.wrote_last.emplace(h->block.variable, h->block.block);
}

void iteration_book::client_left(uint32_t client, leaving how) {
    clients_[client].live = false;
    clients_[client].died = how == leaving::died;
}

bool iteration_book::anybody_live() const {
    return std::any_of(clients_.begin(), clients_.end(), [](const client_state& c) { return c.live; });
}

std::optional<int64_t> iteration_book::take_complete() {
    const bool live = anybody_live();
    if (live) {
        for (const client_state& c : clients_)
            if (c.live && c.ended_through < next_) return std::nullopt;
    } else {
        // Nobody is left: what has begun will not get more complete.
        int64_t last = -1;
        for (const auto& [number, it] : iterations_) last = std::max(last, number);
        for (const client_state& c : clients_) last = std::max(last, c.ended_through);
        if (next_ > last) return std::nullopt;
    }
    attribute_missing(next_);
    return next_++;
}

/// Blocks that a client which left before would have written. One that died: what its peers wrote of the same
/// iteration, and what it wrote itself in its last one. One that closed: those of its last iteration whose variables a
/// peer wrote again, where a peer ended the iteration; else it owes nothing.
void iteration_book::attribute_missing(int64_t number) {
    iteration& it = iterations_[number];
    const bool ended = std::any_of(clients_.begin(), clients_.end(),
                                   [number](const client_state& c) { return c.ended_through >= number; });
    for (uint32_t c = 0; c < clients_.size(); ++c) {
        const client_state& client = clients_[c];
        if (client.live || client.ended_through >= number || (!client.died && !ended)) continue;
        block_names expected = client.wrote_last;
        block_names present;
        std::set<uint32_t> written;
        for (const key k : it.blocks) {
            const held* h = find(k);
            if (h == nullptr) continue;
            if (h->block.client == c)
                present.emplace(h->block.variable, h->block.block);
            else if (!h->constant && client.died)
                expected.emplace(h->block.variable, h->block.block);
            written.insert(h->block.variable);
        }
        if (!client.died)
            std::erase_if(expected, [&written](const auto& what) { return !written.contains(what.first); });
        bool owes = false;
        for (const auto& what : expected) {
            if (present.contains(what)) continue;
            owes = true;
            note_missing(c, what.first, what.second, number,
                         client.died ? missing_block::why::client_died : missing_block::why::not_written);
        }
        it.incomplete = it.incomplete || client.died || owes;
        if (!client.died && owes) it.closed_before.insert(c);
    }
}

std::vector<int64_t> iteration_book::open_iterations() const {
    std::vector<int64_t> numbers;
    for (const auto& [number, it] : iterations_)
        if (number >= next_) numbers.push_back(number);
    return numbers;
}

}  // namespace halcyon::offload
