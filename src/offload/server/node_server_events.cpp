// What the clients send, and what becomes of them.

#include <algorithm>

#include "base/clock.hpp"
#include "offload/segment/remains.hpp"
#include "offload/server/node_server.hpp"

namespace halcyon::offload {
namespace {

/// How far a client can be ahead of what is stored, as a server that takes over believes it.
constexpr int64_t most_iterations_ahead = 1'000'000;
/// How long clients that did not join yet are waited for: by a server that takes over, and by the first one when all
/// that did join are gone.
constexpr int64_t successor_patience_ns = 30'000'000'000, open_patience_ns = 5'000'000'000;

}  // namespace

bool node_server::pop_events() {
    bool any = false;
    for (uint32_t c = 0; c < events_.size() && takes_events(); ++c) any = pop_client(c) || any;
    return any;
}

bool node_server::pop_client(uint32_t client) {
    event_record e;
    bool any = false;
    // Bounded, so that one busy client cannot starve the others.
    for (int i = 0; i < 256; ++i) {
        const auto outcome = events_[client].pop(e);
        if (outcome == event_ring::consumer::outcome::empty) break;
        if (outcome == event_ring::consumer::outcome::corrupt) {
            give_up(client, "its event ring is corrupt");
            break;
        }
        any = true;
        handle(client, e);
    }
    if (any && segment_.page(client).waiting.load(std::memory_order_acquire) != 0) progress_ = true;
    return any;
}

/// Words of the segment that are this server's to write, and for which clients wait: somebody may have written over
/// them. A client that closed may have lost the event that says so.
void node_server::restate() {
    segment_header& h = segment_.header();
    const auto say = [](auto& word, auto value) {
        if (word.load(std::memory_order_relaxed) != value) word.store(value, std::memory_order_release);
    };
    say(h.stored_through, stored_through_);
    say(h.act, server_act::serving);
    for (uint32_t c = 0; c < gone_.size(); ++c) {
        if (gone_[c]) continue;
        const client_page& page = segment_.page(c);
        if (page.waiting.load(std::memory_order_acquire) != 0 && events_[c].empty()) events_[c].restate();
        if (page.closed.load(std::memory_order_acquire) == 1 && events_[c].empty()) client_gone(c);
    }
}

/// A client whose events make no sense: those that follow make none either. It is told when it waits next.
void node_server::give_up(uint32_t client, const std::string& why) {
    if (gone_[client]) return;
    reject(client, "events that are damaged (" + why + "): the client is treated as dead");
    events_[client].give_up();
    client_gone(client);
}

/// A client's iterations follow each other: none is later than the one after the last that it ended.
bool node_server::is_plausible(uint32_t client, int64_t iteration) const {
    return iteration >= 0 && iteration <= book_.ended_through(client) + 1;
}

void node_server::handle(uint32_t client, const event_record& e) {
    if (e.kind != event_kind::closed && !is_plausible(client, e.iteration))
        return give_up(client, "one of iteration " + std::to_string(e.iteration) + ", but the last one it ended is " +
                                   std::to_string(book_.ended_through(client)));
    switch (e.kind) {
        case event_kind::block_committed:
            adopt_block(client, e.index, e.sequence, false);
            return;
        case event_kind::block_handed:
            adopt_block(client, e.index, e.sequence, true);
            return;
        case event_kind::block_skipped:
            note_absent(client, {e.iteration, e.index, static_cast<int32_t>(e.value[0]), absence::cause::skipped});
            return;
        case event_kind::block_uncommitted:
            note_absent(client, {e.iteration, e.index, static_cast<int32_t>(e.value[0]), absence::cause::uncommitted});
            return;
        case event_kind::signal:
            handle_signal(client, e);
            return;
        case event_kind::end_iteration:
            segment_.page(client).iterations_taken.fetch_add(1, std::memory_order_relaxed);
            records_->add(phase_record{e.iteration, book_.rank_of(client), e.value[0], e.value[1], e.value[2],
                                       e.value[3], e.value[4]});
            iteration_ended(client, e.iteration);
            return;
        case event_kind::closed:
            client_gone(client);
            return;
    }
    give_up(client, "one of unknown kind " + std::to_string(static_cast<int>(e.kind)));
}

/// What the client wrote in it is noted before any block of it goes: a server that takes over could not find out.
void node_server::iteration_ended(uint32_t client, int64_t iteration) {
    if (iteration <= book_.ended_through(client)) return;
    book_.client_ended(client, iteration);
    const std::span<written_mark> marks = segment_.written(client);
    for (const auto& [variable, block] : book_.wrote_last(client))
        marks[first_block_[variable] + static_cast<uint32_t>(block)].store(iteration + 1, std::memory_order_relaxed);
}

/// Of a client's last iteration the blocks may be gone, and its peers may have ended many since.
void node_server::remember_last_iteration(uint32_t client) {
    const int64_t last = segment_.page(client).ended_through.load(std::memory_order_acquire);
    if (last < 0) return;
    const std::span<written_mark> marks = segment_.written(client);
    for (const variable& v : data_.variables)
        for (int32_t block = 0; block < v.blocks_per_client; ++block)
            if (marks[first_block_[v.id] + static_cast<uint32_t>(block)].load(std::memory_order_relaxed) == last + 1)
                book_.remember_written(client, v.id, block);
}

/// A block that a client says will not come.
void node_server::note_absent(uint32_t client, const absence& a) {
    if (a.variable >= data_.variables.size() || a.block < 0 || a.block >= data_.variables[a.variable].blocks_per_client)
        return reject(client, "word of a block that cannot be");
    if (a.iteration < book_.next_to_complete()) return;
    const bool uncommitted = a.why == absence::cause::uncommitted;
    book_.note_missing(client, a.variable, a.block, a.iteration,
                       uncommitted ? missing_block::why::uncommitted : missing_block::why::skipped);
    if (uncommitted) note(uncommitted_text(book_.rank_of(client), data_.variables[a.variable], a.block));
}

void node_server::reject(uint32_t client, const std::string& what) {
    ++counts_.rejected_blocks;
    note("rejected: rank " + std::to_string(book_.rank_of(client)) + " sent " + what);
}

void node_server::adopt_block(uint32_t client, uint32_t index, uint64_t sequence, bool handed) {
    // The state first: of an entry that is the server's, nobody else changes anything.
    if (index >= segment_.geometry().blocks_per_client) return give_up(client, "one about an entry that cannot be");
    const iteration_book::key k = iteration_book::key_of(client, index);
    const iteration_book::held* held = book_.find(k);
    const block_state state = segment_.table(client)[index].state.load(std::memory_order_acquire);
    if (state == block_state::stored_early && held != nullptr) return;  // a predecessor adopted and stored it
    if (state != block_state::servers && (handed || state != block_state::shared_read)) {
        // A predecessor may have adopted and released it before this event was popped.
        if (generation_ == 1) refuse_block(k, sequence, handed, "a block that it still holds");
        return;
    }
    auto b = check_block(segment_, data_, client, index);
    if (!b) return refuse_block(k, sequence, handed, b.why().message);
    if (b->sequence != sequence) {
        // An old event of an entry that was adopted and released by take_over().
        if (generation_ == 1) refuse_block(k, sequence, handed, "a block with the number of another");
        return;
    }
    if (!is_plausible(client, b->iteration))
        return refuse_block(k, sequence, handed,
                            "a block of iteration " + std::to_string(b->iteration) + ", but the last one it ended is " +
                                std::to_string(book_.ended_through(client)));
    if (held != nullptr && held->block.sequence != sequence)
        return refuse_block(k, sequence, handed, "a block in the place of another");
    if (b->iteration < book_.next_to_complete() && held == nullptr) {
        // Belongs to an iteration that is closed: its client had been given up, or a predecessor stored it.
        if (handed) release(k, block_state::free);
        return;
    }
    if (b->in_spill) spills_[client] = true;
    if (book_.adopt(*b, handed) == nullptr) release_if_done(k);
}

/// A block whose entry is damaged is lost: said, counted, and its room given back, or its client would wait for that.
void node_server::refuse_block(iteration_book::key k, uint64_t sequence, bool handed, const std::string& why) {
    const auto client = static_cast<uint32_t>(k >> 32);
    reject(client, why);
    tell_clients_of_loss(book_.next_to_complete(), "rank " + std::to_string(book_.rank_of(client)) + " sent " + why);
    const iteration_book::held* held = book_.find(k);
    if (held == nullptr && handed) release(k, block_state::free);
    // What was committed before it was damaged is stored, and its entry free then.
    if (held != nullptr && handed && held->block.sequence == sequence) {
        book_.find(k)->handed = true;
        release_if_done(k);
    }
}

void node_server::handle_signal(uint32_t client, const event_record& e) {
    segment_.page(client).signals_taken.fetch_add(1, std::memory_order_relaxed);
    if (e.index >= data_.events.size()) {
        ++counts_.rejected_blocks;
        return;
    }
    switch (data_.events[e.index].scope) {
        case scope::client:
            run_event(e.index, e.iteration, static_cast<int>(client));
            return;
        case scope::job:
            raise_job_event(static_cast<int>(client), e.index, e.iteration);
            return;
        case scope::node:
            segment_.raised_in(e.index).store(static_cast<uint64_t>(e.iteration), std::memory_order_relaxed);
            segment_.raised(e.index, client).fetch_add(1, std::memory_order_relaxed);
            run_if_all_signalled(e.index);
    }
}

/// Scope node: each time that all live clients have raised the event, it runs once.
void node_server::run_if_all_signalled(uint32_t event_id) {
    const uint32_t clients = segment_.geometry().clients;
    const auto raised = [&](uint32_t c) { return segment_.raised(event_id, c).load(std::memory_order_relaxed); };
    event_count& fired = segment_.fired(event_id);
    uint64_t all = UINT64_MAX, most = 0;
    for (uint32_t c = 0; c < clients; ++c) {
        if (book_.is_live(c)) all = std::min(all, raised(c));
        most = std::max(most, raised(c));
    }
    for (all = std::min(all, most); fired.load(std::memory_order_relaxed) < all;) {
        const uint64_t before = fired.fetch_add(1, std::memory_order_relaxed);
        std::vector<uint32_t> raisers;
        for (uint32_t c = 0; c < clients; ++c)
            if (raised(c) > before) raisers.push_back(c);
        const auto iteration = static_cast<int64_t>(segment_.raised_in(event_id).load(std::memory_order_relaxed));
        run_event(event_id, iteration, -1, [this, raisers] {
            for (const uint32_t c : raisers) segment_.page(c).signals_done.fetch_add(1, std::memory_order_relaxed);
        });
    }
}

/// A client closed or died: what it sent is taken first, then nobody waits for it any more.
void node_server::client_gone(uint32_t client) {
    if (gone_[client]) return;
    gone_[client] = true;  // before popping: its `closed` event ends up here again
    while (pop_client(client)) {
    }
    const bool closed = segment_.page(client).closed.load(std::memory_order_acquire) != 0;
    if (!closed) {
        // Handed over, but killed before it could say so.
        const auto table = segment_.table(client);
        for (uint32_t i = 0; i < table.size(); ++i) {
            const block_state state = table[i].state.load(std::memory_order_acquire);
            if (state == block_state::servers || state == block_state::shared_read)
                adopt_block(client, i, table[i].sequence, state == block_state::servers);
            else if (state == block_state::private_to_client)
                table[i].state.store(block_state::free, std::memory_order_release);
        }
        // Ended, but killed before it could say so.
        const int64_t ended = segment_.page(client).ended_through.load(std::memory_order_acquire);
        if (is_plausible(client, ended)) iteration_ended(client, ended);
        // Nobody reads its committed blocks any more.
        std::vector<iteration_book::key> own;
        for (const auto& [k, h] : book_.all())
            if (h.block.client == client) own.push_back(k);
        for (const iteration_book::key k : own) {
            book_.find(k)->handed = true;
            release_if_done(k);
        }
        segment_.page(client).dead.store(1, std::memory_order_release);
        progress_ = true;
        note("rank " + std::to_string(book_.rank_of(client)) +
             " died; its complete iterations are stored, the others marked");
    }
    book_.client_left(client, closed ? iteration_book::leaving::closed : iteration_book::leaving::died);
    run_node_events();  // the others no longer wait for its signals
}

void node_server::run_node_events() {
    for (uint32_t id = 0; id < data_.events.size(); ++id)
        if (data_.events[id].scope == scope::node) run_if_all_signalled(id);
}

/// Of a client's signals that a predecessor took: those whose actions it did not finish are done with, and counted in
/// the result. Those that wait for other clients to raise their event still come to that.
uint64_t node_server::give_up_signals(uint32_t client) {
    client_page& page = segment_.page(client);
    uint64_t waiting = 0;
    for (uint32_t id = 0; id < data_.events.size(); ++id) {
        const uint64_t raised = segment_.raised(id, client).load(std::memory_order_relaxed);
        waiting += raised - std::min(raised, segment_.fired(id).load(std::memory_order_relaxed));
    }
    const uint64_t taken = page.signals_taken.load(std::memory_order_acquire);
    const uint64_t done = page.signals_done.load(std::memory_order_acquire);
    const uint64_t lost = taken - std::min(taken, done + waiting);
    page.signals_done.store(done + lost, std::memory_order_release);
    return lost;
}

/// A new server of an old segment: the states of the blocks tell what the dead one had been given.
void node_server::take_over() {
    counts_ = records_->saved_counts();
    static_cast<server_counts&>(counts_) = segment_.header().ledger.read().counts;
    earlier_busy_ns_ = counts_.busy_ns;
    earlier_idle_ns_ = counts_.idle_ns;
    counts_.finished = false;
    const int64_t stored = stored_through_;
    segment_.header().stored_through.store(stored, std::memory_order_release);
    put_aside_what_its_predecessor_died_in();
    for (uint32_t c = 0; c < segment_.geometry().clients; ++c) {
        client_page& page = segment_.page(c);
        counts_.lost_signals += static_cast<int64_t>(give_up_signals(c));
        write_ledger();  // at once: a successor of this one would not count them again
        int64_t ended = page.ended_through.load(std::memory_order_acquire);
        if (ended > stored + most_iterations_ahead) {
            reject(c, "the end of an iteration that cannot be");
            ended = stored;
        }
        const auto table = segment_.table(c);
        for (uint32_t i = 0; i < table.size(); ++i) {
            const block_state state = table[i].state.load(std::memory_order_acquire);
            if (state == block_state::free || state == block_state::private_to_client) continue;
            auto b = check_block(segment_, data_, c, i);
            if (b && b->iteration > ended + 1)
                b = failure{error_kind::usage, "a block of an iteration that cannot be", 0};
            const bool handed = state != block_state::shared_read;
            if (!b) {
                refuse_block(iteration_book::key_of(c, i), 0, handed, b.why().message);
                continue;
            }
            const bool early = state == block_state::stored_early;
            const bool constant = !data_.variables[b->variable].time_varying;
            if (b->iteration <= stored && handed && !constant)
                release(iteration_book::key_of(c, i), block_state::free);
            else if (iteration_book::held* h = book_.adopt(*b, handed); h != nullptr) {
                h->stored = early || b->iteration <= stored;
                h->early = h->buried = early;
                spills_[c] = spills_[c] || (b->in_spill && !early);
            }
        }
        segment_.absences(c).for_each(segment_.geometry().absence_slots, [&](const absence& a) {
            if (a.iteration > stored && a.iteration <= ended + 1) note_absent(c, a);
        });
        iteration_ended(c, ended);
        remember_last_iteration(c);
        if (page.dead.load(std::memory_order_acquire) != 0) {
            gone_[c] = true;
            events_[c].give_up();
            book_.client_left(c, iteration_book::leaving::died);
        }
    }
    // After what they may have sent since, and for the events of the others.
    for (uint32_t c = 0; c < gone_.size(); ++c)
        if (segment_.page(c).closed.load(std::memory_order_acquire) != 0) client_gone(c);
    run_node_events();
    // One that closed still waits for its data, and brings its spill file again.
    for (uint32_t c = 0; c < gone_.size(); ++c) {
        silent_[c] = segment_.page(c).dead.load(std::memory_order_acquire) != 0;
        awaited_[c] = !silent_[c];
    }
    awaited_until_ns_ = monotonic_ns() + successor_patience_ns;
    note("took over as server " + std::to_string(generation_) + " of this session");
    if (counts_.lost_signals > 0) note(std::to_string(counts_.lost_signals) + " signal(s) lost with its predecessors");
    progress_ = true;
}

/// Clients that died while there was no server, or in the middle of the open, join no more, and nobody sees them end.
void node_server::look_for_lost_clients() {
    if (std::find(awaited_.begin(), awaited_.end(), true) == awaited_.end()) return;
    if (awaited_until_ns_ == 0) {
        // The first server of a session: its clients join within moments of each other. Those that did have died?
        if (std::find(gone_.begin(), gone_.end(), true) == gone_.end()) return;
        for (uint32_t c = 0; c < awaited_.size(); ++c)
            if (!awaited_[c] && !gone_[c]) return;
        awaited_until_ns_ = monotonic_ns() + open_patience_ns;
    }
    for (uint32_t c = 0; c < awaited_.size(); ++c) {
        if (!awaited_[c]) continue;
        const client_page& page = segment_.page(c);
        // One that never joined the first server says that it closed when its session could not be opened.
        const bool left = generation_ == 1 && page.closed.load(std::memory_order_acquire) != 0;
        const bool ended = left || process_has_ended(page);
        // One that is seen to live comes when it can.
        if (!ended && (process_is_in_sight(page) || monotonic_ns() < awaited_until_ns_)) continue;
        awaited_[c] = false;
        silent_[c] = true;
        client_gone(c);
    }
}

/// Blocks that were spilled can be stored only once their clients have brought their files to this server.
bool node_server::spill_files_are_here() const {
    for (uint32_t c = 0; c < gone_.size(); ++c)
        if (spills_[c] && !silent_[c] && !spill_lost_[c] && !spill_files_[c]) return false;
    return true;
}

}  // namespace halcyon::offload
