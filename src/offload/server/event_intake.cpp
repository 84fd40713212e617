#include "offload/server/event_intake.hpp"

#include <span>

namespace halcyon::offload {

event_intake::event_intake(const segment& shared, const model& data, iteration_book& book, client_roster& clients,
                           block_intake& blocks, held_blocks& held, client_signals& signals,
                           const action_queue& actions, steering& steered, journal& notes, progress_notice& progress)
    : segment_(shared),
      book_(book),
      clients_(clients),
      blocks_(blocks),
      held_(held),
      signals_(signals),
      actions_(actions),
      steering_(steered),
      journal_(notes),
      progress_(progress),
      first_block_(first_blocks(data)) {
    const segment_geometry& g = shared.geometry();
    for (uint32_t c = 0; c < g.clients; ++c) rings_.emplace_back(shared.events(c), g.event_slots);
}

bool event_intake::pop() {
    bool any = false;
    for (uint32_t c = 0; c < rings_.size() && actions_.takes_events(); ++c) any = pop_client(c) || any;
    return any;
}

bool event_intake::has_events() const {
    if (actions_.takes_events())
        for (const auto& ring : rings_)
            if (!ring.empty()) return true;
    return false;
}

bool event_intake::pop_client(uint32_t client) {
    event_record e;
    bool any = false;
    // Bounded, so that one busy client cannot starve the others.
    for (int i = 0; i < 256; ++i) {
        const auto outcome = rings_[client].pop(e);
        if (outcome == event_ring::consumer::outcome::empty) break;
        if (outcome == event_ring::consumer::outcome::corrupt) {
            give_up(client, "its event ring is corrupt");
            break;
        }
        any = true;
        handle(client, e);
    }
    if (any && segment_.page(client).waiting.load(std::memory_order_acquire) != 0) progress_.note();
    return any;
}

void event_intake::handle(uint32_t client, const event_record& e) {
    if (e.kind != event_kind::closed && !book_.is_plausible(client, e.iteration))
        return give_up(client, "one of iteration " + std::to_string(e.iteration) + ", but the last one it ended is " +
                                   std::to_string(book_.ended_through(client)));
    switch (e.kind) {
        case event_kind::block_committed:
        case event_kind::block_handed:
            if (e.index >= segment_.geometry().blocks_per_client)
                return give_up(client, "one about an entry that cannot be");
            return blocks_.adopt(client, e.index, e.sequence, e.kind == event_kind::block_handed);
        case event_kind::block_skipped:
            return blocks_.note_absent(
                client, {e.iteration, e.index, static_cast<int32_t>(e.value[0]), absence::cause::skipped});
        case event_kind::block_uncommitted:
            return blocks_.note_absent(
                client, {e.iteration, e.index, static_cast<int32_t>(e.value[0]), absence::cause::uncommitted});
        case event_kind::signal:
            return signals_.take(client, e.index, e.iteration);
        case event_kind::end_iteration:
            segment_.page(client).iterations_taken.fetch_add(1, std::memory_order_relaxed);
            journal_.add(phase_record{e.iteration, book_.rank_of(client), e.value[0], e.value[1], e.value[2],
                                      e.value[3], e.value[4]});
            return iteration_ended(client, e.iteration);
        case event_kind::closed:
            return client_gone(client);
        case event_kind::steered:
            if (!steering_.took_effect(client, e)) give_up(client, "one of steering that cannot be");
            return;
    }
    give_up(client, "one of unknown kind " + std::to_string(static_cast<int>(e.kind)));
}

/// A client whose events make no sense: those that follow make none either. It is told when it waits next.
void event_intake::give_up(uint32_t client, const std::string& why) {
    if (clients_.is_gone(client)) return;
    blocks_.reject(client, "events that are damaged (" + why + "): the client is treated as dead");
    rings_[client].give_up();
    client_gone(client);
}

void event_intake::iteration_ended(uint32_t client, int64_t iteration) {
    if (iteration <= book_.ended_through(client)) return;
    book_.client_ended(client, iteration);
    const std::span<written_mark> marks = segment_.written(client);
    for (const auto& [variable, block] : book_.wrote_last(client))
        marks[first_block_[variable] + static_cast<uint32_t>(block)].store(iteration + 1, std::memory_order_relaxed);
}

void event_intake::client_gone(uint32_t client) {
    // Before popping: its `closed` event ends up here again.
    if (!clients_.leave(client)) return;
    while (pop_client(client)) {
    }
    const client_page& page = segment_.page(client);
    const bool closed = page.closed.load(std::memory_order_acquire) != 0;
    if (!closed) {
        blocks_.adopt_from_dead(client);
        // Ended, but killed before it could say so.
        const int64_t ended = page.ended_through.load(std::memory_order_acquire);
        if (book_.is_plausible(client, ended)) iteration_ended(client, ended);
        held_.hand_over_all_of(client);
        segment_.page(client).dead.store(1, std::memory_order_release);
        progress_.note();
        journal_.note("rank " + std::to_string(book_.rank_of(client)) +
                      " died; its complete iterations are stored, the others marked");
    }
    book_.client_left(client, closed ? iteration_book::leaving::closed : iteration_book::leaving::died);
    signals_.run_what_nobody_waits_for();
}

void event_intake::died_before(uint32_t client) {
    clients_.leave(client);
    rings_[client].give_up();
    book_.client_left(client, iteration_book::leaving::died);
}

void event_intake::restate() {
    for (uint32_t c = 0; c < clients_.size(); ++c) {
        if (clients_.is_gone(c)) continue;
        const client_page& page = segment_.page(c);
        if (page.waiting.load(std::memory_order_acquire) != 0 && rings_[c].empty()) rings_[c].restate();
        if (page.closed.load(std::memory_order_acquire) == 1 && rings_[c].empty()) client_gone(c);
    }
}

}  // namespace halcyon::offload
