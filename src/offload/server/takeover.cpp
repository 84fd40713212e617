#include "offload/server/takeover.hpp"

#include <algorithm>
#include <span>
#include <string>
#include <vector>

namespace halcyon::offload {
namespace {

/// How far a client can be ahead of what is stored, as a server that takes over believes it.
constexpr int64_t most_iterations_ahead = 1'000'000;

}  // namespace

takeover::takeover(const segment& shared, const model& data, uint32_t generation, iteration_book& book,
                   client_roster& clients, spill_files& spilled, held_blocks& held, block_intake& blocks,
                   client_signals& signals, event_intake& events, parameter_values& parameters, journal& notes,
                   progress_notice& progress)
    : segment_(shared),
      data_(data),
      generation_(generation),
      book_(book),
      clients_(clients),
      spill_files_(spilled),
      held_(held),
      blocks_(blocks),
      signals_(signals),
      events_(events),
      parameters_(parameters),
      journal_(notes),
      progress_(progress) {}

void takeover::run() {
    journal_.resume();
    const int64_t stored = journal_.stored_through();
    for (uint32_t c = 0; c < clients_.size(); ++c) {
        const client_page& page = segment_.page(c);
        journal_.add(&run_counts::lost_signals, static_cast<int64_t>(signals_.give_up(c)));
        journal_.write_ledger();  // at once: a successor of this one would not count them again
        int64_t ended = page.ended_through.load(std::memory_order_acquire);
        if (ended > stored + most_iterations_ahead) {
            blocks_.reject(c, "the end of an iteration that cannot be");
            ended = stored;
        }
        take_blocks_of(c, stored, ended);
        segment_.absences(c).for_each(segment_.geometry().absence_slots, [&](const absence& a) {
            if (a.iteration > stored && a.iteration <= ended + 1) blocks_.note_absent(c, a);
        });
        parameters_.resume(c);
        events_.iteration_ended(c, ended);
        remember_last_iteration(c);
        if (page.dead.load(std::memory_order_acquire) != 0) events_.died_before(c);
    }
    // After what they may have sent since, and for the events of the others.
    for (uint32_t c = 0; c < clients_.size(); ++c)
        if (segment_.page(c).closed.load(std::memory_order_acquire) != 0) events_.client_gone(c);
    signals_.run_what_nobody_waits_for();
    clients_.await_again();
    journal_.note("took over as server " + std::to_string(generation_) + " of this session");
    if (const int64_t lost = journal_.counts().lost_signals; lost > 0)
        journal_.note(std::to_string(lost) + " signal(s) lost with its predecessors");
    progress_.note();
}

void takeover::take_blocks_of(uint32_t client, int64_t stored, int64_t ended) {
    const auto table = segment_.table(client);
    for (uint32_t i = 0; i < table.size(); ++i) {
        const block_state state = table[i].state.load(std::memory_order_acquire);
        if (state == block_state::free || state == block_state::private_to_client) continue;
        auto b = check_block(segment_, data_, client, i);
        if (b && b->iteration > ended + 1) b = failure{error_kind::usage, "a block of an iteration that cannot be", 0};
        const bool handed = state != block_state::shared_read;
        const iteration_book::key k = iteration_book::key_of(client, i);
        if (!b) {
            blocks_.refuse(k, 0, handed, b.why().message);
            continue;
        }
        const bool early = state == block_state::stored_early;
        const bool constant = !data_.variables[b->variable].time_varying;
        if (b->iteration <= stored && handed && !constant) {
            held_.give_back(k, block_state::free);
        } else if (book_.adopt(*b, handed) != nullptr) {
            if (early || b->iteration <= stored) book_.mark_stored(k, early);
            if (early) book_.bury(k);
            if (b->in_spill && !early) spill_files_.need(client);
        }
    }
}

/// Of a client's last iteration the blocks may be gone, and its peers may have ended many since.
void takeover::remember_last_iteration(uint32_t client) {
    const int64_t last = segment_.page(client).ended_through.load(std::memory_order_acquire);
    if (last < 0) return;
    const std::vector<uint32_t> first_block = first_blocks(data_);
    const std::span<written_mark> marks = segment_.written(client);
    for (const variable& v : data_.variables)
        for (int32_t block = 0; block < v.blocks_per_client; ++block)
            if (marks[first_block[v.id] + static_cast<uint32_t>(block)].load(std::memory_order_relaxed) == last + 1)
                book_.remember_written(client, v.id, block);
}

bool takeover::count_lines_lost_with_predecessors() {
    if (generation_ == 1) return false;
    int64_t expected = 0;
    for (uint32_t c = 0; c < clients_.size(); ++c) {
        const bool dead = segment_.page(c).dead.load(std::memory_order_acquire) != 0;
        expected += std::max<int64_t>(0, book_.ended_through(c) + (dead ? 0 : 1));
    }
    return journal_.count_lost_lines(expected);
}

}  // namespace halcyon::offload
