// Waiting for the server, the end of a session, and what becomes of it when the last server is lost.

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "offload/client/client_session.hpp"
#include "offload/client/client_session_parts.hpp"
#include "offload/output/node_counts.hpp"
#include "offload/segment/remains.hpp"

namespace halcyon::offload {

result<void> client_session::wait(int64_t iteration, stage which) {
    if (iteration < 0 || iteration >= iteration_)
        return usage("iteration " + std::to_string(iteration) + " has not ended on this client" +
                     (iteration_ == 0 ? ", and none has so far; call end_iteration first"
                                      : "; the last that did is " + std::to_string(iteration_ - 1)));
    if (which == stage::accepted) return {};
    timed_call timed(*this);
    if (serverless()) return wait_without_server(iteration, which);
    segment_header& h = segment_->header();
    auto& wanted = which == stage::durable ? h.durable_wanted : h.stored_wanted;
    auto& reached = which == stage::durable ? h.durable_through : h.stored_through;
    for (int64_t now = wanted.load(); now < iteration && !wanted.compare_exchange_weak(now, iteration);) {
    }
    silence_->begin();
    while (true) {
        const uint32_t seen = h.progress.load(std::memory_order_acquire);
        if (reached.load(std::memory_order_acquire) >= iteration) break;
        h.bell.ring();
        if (serverless()) return wait_without_server(iteration, which);
        if (auto served = still_served(); !served) return served;
        sleep_until_progress(seen, patience_ns);
    }
    // What could not be written or synced counts as well when nobody waited for it then.
    if (h.lost_from.load(std::memory_order_acquire) <= iteration)
        return failure{error_kind::system,
                       "files could not be written or were lost: " +
                           std::string(h.last_error, strnlen(h.last_error, sizeof h.last_error)),
                       EIO};
    return {};
}

/// Without a server: what this client still holds goes into its files.
result<void> client_session::wait_without_server(int64_t iteration, stage which) {
    if (auto done = fallback_->flush(); !done) return done;
    if (!left_ && iteration > segment_->header().ledger.read().stored_through) return left_;
    if (auto all = fallback_->all_stored(iteration); !all) return all;
    if (which != stage::durable) return {};
    // A server that was lost may have stored without syncing; with `inline: true` there never was one.
    return fallback_->sync(segment_ ? fallback_store::reach::node : fallback_store::reach::own);
}

/// Failure (unavailable): the server lives, but has given this client up.
result<void> client_session::still_served() const {
    if (page_ == nullptr || page_->dead.load(std::memory_order_acquire) == 0) return {};
    return failure{error_kind::unavailable,
                   "the server of this node took this client for dead and stores no more of it; its log says why", 0};
}

/// True when this client stores its blocks itself; notices a server that is gone for good.
bool client_session::serverless() {
    if (!inline_ && !link_->available()) left_ = leave_server();
    return inline_;
}

/// The last server is gone: what the segment holds of this client is stored by the client, then it goes on inline.
result<void> client_session::leave_server() {
    inline_ = true;
    const int64_t stored = segment_->header().ledger.read().stored_through;
    result<void> outcome = settle_server();
    segment_->absences(where_.client).for_each(segment_->geometry().absence_slots, [&](const absence& a) {
        if (a.iteration <= stored || a.variable >= model_.variables.size()) return;
        if (auto noted = fallback_->note_missing(model_.variables[a.variable], a.block, a.iteration, a.why); !noted)
            outcome = noted;
    });
    const remains own = remains_of(*segment_, model_, where_.client);
    if (!own.sound) outcome = own.sound;
    auto next = own.blocks.begin();
    for (int64_t iteration = stored + 1; iteration <= iteration_; ++iteration) {
        for (; next != own.blocks.end() && next->iteration == iteration; ++next)
            if (auto done = store_own(*next); !done) outcome = done;
        if (iteration < iteration_)
            if (auto done = fallback_->end_iteration(iteration); !done) outcome = done;
    }
    if (auto done = take_back_events(); !done) outcome = done;
    if (auto done = fallback_->flush(); !done) outcome = done;
    if (auto done = fallback_->count_policies(policies_of(*page_)); !done) outcome = done;
    page_->cared_for.store(1, std::memory_order_release);
    store_for_the_dead();
    // Blocks the simulation still reads stay where they are; the rest is no longer needed.
    return outcome;
}

/// What the last server left is put in order by one client; the others wait for that, and one of them does it where
/// the first has died or could not.
result<void> client_session::settle_server() {
    std::atomic<uint32_t>& settled = segment_->header().settled;
    while (settled.load(std::memory_order_acquire) == 0) {
        const auto turn = link_->take_turn();
        if (!turn && turn.why().system_errno != EADDRINUSE) return turn.why();
        if (turn && settled.load(std::memory_order_acquire) == 0) {
            if (auto done = fallback_->settle_server(counts_without_server(*segment_), phases_taken(*segment_)); !done)
                return done;
            settled.store(1, std::memory_order_release);
            futex_wake(settled);
        } else {
            futex_wait(settled, 0, patience_ns);
        }
    }
    return {};
}

/// The events that no server took: phases this client writes by itself, signals are lost. Blocks and absences are known
/// by other ways.
result<void> client_session::take_back_events() {
    result<void> outcome;
    event_ring::consumer unread(segment_->events(where_.client), segment_->geometry().event_slots);
    int64_t written = 0;
    for (event_record e{}; unread.pop(e) == event_ring::consumer::outcome::popped;) {
        if (e.kind != event_kind::end_iteration) continue;
        ++written;
        if (auto done = fallback_->add_phase(e.iteration, {e.value[0], e.value[1], e.value[2], e.value[3], e.value[4]});
            !done)
            outcome = done;
    }
    const auto phases_taken = static_cast<int64_t>(page_->iterations_taken.load(std::memory_order_acquire));
    const auto signals_taken = static_cast<int64_t>(page_->signals_taken.load(std::memory_order_acquire));
    if (auto done = fallback_->count_lost(std::max<int64_t>(0, signals_sent_ - signals_taken),
                                          std::max<int64_t>(0, iteration_ - phases_taken - written));
        !done)
        outcome = done;
    return outcome;
}

result<void> client_session::store_own(const checked_block& b) {
    const variable& v = model_.variables[b.variable];
    const auto bytes = static_cast<size_t>(b.shape.bytes);
    if (!b.in_spill) return fallback_->add(v, b.block, b.iteration, b.shape, {segment_->bytes_at(b.location), bytes});
    std::vector<std::byte> data(bytes);
    if (auto got = spill_.read(b.location, data.data(), data.size()); !got) return got;
    return fallback_->add(v, b.block, b.iteration, b.shape, data);
}

/// Clients that ended after the last server did, or before it and unseen, and did not store what they had handed over.
/// Safe once their process has ended: nobody writes there any more; nor does one that has detached itself. One client
/// takes each of them.
void client_session::store_for_the_dead() {
    if (segment_ == nullptr) return;
    for (uint32_t c = 0; c < segment_->geometry().clients; ++c) {
        client_page& page = segment_->page(c);
        const bool left = page.detached.load() != 0 || process_has_ended(page);
        if (c == where_.client || page.cared_for.load(std::memory_order_acquire) != 0 || !left) continue;
        if (page.cared_for.exchange(1, std::memory_order_acq_rel) == 0) store_remains_of(c);
    }
}

void client_session::store_remains_of(uint32_t client) {
    const client_page& page = segment_->page(client);
    const int rank = page.rank.load(std::memory_order_relaxed);
    const remains left = remains_of(*segment_, model_, client);
    result<void> outcome = left.sound;
    if (auto done = fallback_->count_policies(policies_of(page)); !done) outcome = done;
    const int64_t phases = page.ended_through.load(std::memory_order_acquire) + 1;
    const auto phases_taken = static_cast<int64_t>(page.iterations_taken.load(std::memory_order_acquire));
    if (auto done = fallback_->count_lost(0, std::max<int64_t>(0, phases - phases_taken)); !done) outcome = done;
    for (auto b = left.blocks.begin(); b != left.blocks.end();) {
        fallback_store::left_blocks of_iteration{b->iteration, rank, {}, {}};
        for (; b != left.blocks.end() && b->iteration == of_iteration.iteration; ++b) {
            const variable& v = model_.variables[b->variable];
            // Its spill file went with its process.
            if (b->in_spill)
                of_iteration.lost.push_back(
                    {b->variable, b->iteration, rank, b->block, missing_block::why::client_died});
            else
                of_iteration.blocks.push_back({&v,
                                               b->iteration,
                                               rank,
                                               b->block,
                                               b->shape,
                                               {segment_->bytes_at(b->location), static_cast<size_t>(b->shape.bytes)}});
        }
        if (auto done = fallback_->store_left(std::move(of_iteration)); !done) outcome = done;
    }
    if (!outcome && left_) left_ = outcome;
}

/// A block that was allocated and never committed: what lies in it is no data. It is missing in the open iteration.
result<void> client_session::give_up(open_block& b, const variable& v, int block) {
    b.memory.reset();
    b.location = open_block::where::nowhere;
    if (serverless()) return fallback_->note_missing(v, block, iteration_, absence::cause::uncommitted);
    return tell_absence(event_kind::block_uncommitted, v, block, absence::cause::uncommitted);
}

uint64_t client_session::arena_free() {
    if (segment_) take_back_released();
    return arena_.free_bytes();
}

result<void> client_session::finish() {
    if (finished_) return usage("the session is already closed");
    result<void> outcome;
    bool open_iteration = phase_bytes_ > 0;
    for (const variable& v : model_.variables)
        for (int block = 0; block < v.blocks_per_client; ++block) {
            open_block& b = blocks_[first_block_[v.id] + static_cast<uint32_t>(block)];
            if (b.location == open_block::where::nowhere) continue;
            open_iteration = open_iteration || !b.committed;
            if (auto done = b.committed ? clear(v.name, block) : give_up(b, v, block); !done) outcome = done;
        }
    if (open_iteration)
        if (auto done = end_iteration(); !done) outcome = done;
    finished_ = true;
    const bool alone = serverless();
    if (alone) store_for_the_dead();
    if (auto done = fallback_->finish(); !done) outcome = done;
    if (!left_) outcome = left_;
    if (alone) return outcome;
    event_record e{};
    e.kind = event_kind::closed;
    e.iteration = iteration_;
    // Before the event: the server that takes it looks there whether the client closed or died.
    page_->closed.store(1, std::memory_order_release);
    if (auto done = push(e); !done) outcome = done;
    segment_->header().bell.ring();
    return outcome;
}

result<void> client_session::wait_until_drained() {
    if (inline_) return left_;
    segment_header& h = segment_->header();
    silence_->begin();
    while (true) {
        const uint32_t seen = h.progress.load(std::memory_order_acquire);
        if (h.state.load(std::memory_order_acquire) >= server_state::drained) break;
        h.bell.ring();
        if (serverless()) {
            auto finished = fallback_->finish();
            return left_ ? finished : left_;
        }
        sleep_until_progress(seen, patience_ns);
    }
    if (auto served = still_served(); !served) return served;
    if (const uint32_t failed = h.failed_files.load(std::memory_order_acquire); failed > 0)
        return failure{error_kind::system,
                       "files could not be written or were lost, and with them their blocks (" +
                           std::to_string(failed) +
                           " time(s)): " + std::string(h.last_error, strnlen(h.last_error, sizeof h.last_error)),
                       EIO};
    if (h.unsaved_counts.load(std::memory_order_acquire) != 0)
        return failure{error_kind::system,
                       "all files are written, but not the counts that say what is missing in them: " +
                           std::string(h.last_error, strnlen(h.last_error, sizeof h.last_error)),
                       EIO};
    return {};
}

result<void> client_session::detach() {
    if (inline_) return left_;
    // First the word, then the look: whoever sees the server end after the look finds the word.
    page_->detached.store(1);
    segment_header& h = segment_->header();
    silence_->begin();
    while (link_->available()) {
        const uint32_t seen = h.progress.load(std::memory_order_acquire);
        if (auto served = still_served(); !served) return served;
        // One that was killed may not have ended yet; it takes nothing any more.
        const bool taken = static_cast<int64_t>(page_->iterations_taken.load(std::memory_order_acquire)) >= iteration_;
        if (taken && link_->has_server()) return {};
        h.bell.ring();
        sleep_until_progress(seen, patience_ns);
    }
    inline_ = true;
    if (page_->cared_for.exchange(1, std::memory_order_acq_rel) != 0) return {};  // another client has done it
    left_ = leave_server();
    auto finished = fallback_->finish();
    return left_ ? finished : left_;
}

int64_t client_session::first_unmarked() const {
    return segment_ == nullptr ? iteration_ : std::max(iteration_, segment_->header().ledger.read().stored_through + 1);
}

void client_session::release_server(bool build_view) {
    if (inline_) return;
    segment_->header().may_exit.store(build_view ? 2 : 1, std::memory_order_release);
    segment_->header().bell.ring();
}

bool client_session::wait_until_finished() {
    if (inline_) return false;
    segment_header& h = segment_->header();
    silence_->begin();
    while (true) {
        const uint32_t seen = h.progress.load(std::memory_order_acquire);
        if (h.state.load(std::memory_order_acquire) == server_state::finished) return true;
        if (!link_->available()) return false;
        sleep_until_progress(seen, patience_ns);
    }
}

}  // namespace halcyon::offload
