#include "offload/client/server_loss.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>
#include <vector>

#include "base/futex.hpp"
#include "offload/client/server_channel.hpp"
#include "offload/output/node_counts.hpp"
#include "offload/segment/remains.hpp"

namespace halcyon::offload {

server_loss::server_loss(const model& data, place_in_job where, const segment* shared, server_link* link,
                         fallback_writer& fallback, const spill_file& spilled, const open_iteration& now)
    : model_(data),
      where_(where),
      segment_(shared),
      link_(link),
      fallback_(fallback),
      spill_(spilled),
      now_(now),
      happened_(shared == nullptr) {}

bool server_loss::notice_detached(int64_t signals_sent) {
    happened_ = true;
    if (segment_->page(where_.client).cared_for.exchange(1, std::memory_order_acq_rel) != 0) return false;
    go_on_alone(signals_sent);
    return true;
}

/// What the segment holds of this client is stored by the client, then it goes on inline. Blocks the simulation still
/// reads stay where they are; the rest is no longer needed.
void server_loss::go_on_alone(int64_t signals_sent) {
    happened_ = true;
    client_page& page = segment_->page(where_.client);
    result<void> outcome = settle_server();
    if (auto done = store_own_blocks(); !done) outcome = done;
    if (auto done = take_back_events(signals_sent); !done) outcome = done;
    if (auto done = fallback_.flush(); !done) outcome = done;
    if (auto done = fallback_.count_policies(policies_of(page)); !done) outcome = done;
    page.cared_for.store(1, std::memory_order_release);
    store_for_the_dead();
    outcome_ = outcome;
}

result<void> server_loss::store_own_blocks() {
    result<void> outcome;
    const int64_t stored = segment_->header().ledger.read().stored_through;
    segment_->absences(where_.client).for_each(segment_->geometry().absence_slots, [&](const absence& a) {
        if (a.iteration <= stored || a.variable >= model_.variables.size()) return;
        if (auto noted = fallback_.note_missing(model_.variables[a.variable], a.block, a.iteration, a.why); !noted)
            outcome = noted;
    });
    const remains own = remains_of(*segment_, model_, where_.client);
    if (!own.sound) outcome = own.sound;
    auto next = own.blocks.begin();
    for (int64_t iteration = stored + 1; iteration <= now_.number(); ++iteration) {
        for (; next != own.blocks.end() && next->iteration == iteration; ++next)
            if (auto done = store_own(*next); !done) outcome = done;
        if (iteration < now_.number())
            if (auto done = fallback_.end_iteration(iteration); !done) outcome = done;
    }
    return outcome;
}

/// What the last server left is put in order by one client; the others wait for that, and one of them does it where
/// the first has died or could not.
result<void> server_loss::settle_server() {
    std::atomic<uint32_t>& settled = segment_->header().settled;
    while (settled.load(std::memory_order_acquire) == 0) {
        const auto turn = link_->take_turn();
        if (!turn && turn.why().system_errno != EADDRINUSE) return turn.why();
        if (turn && settled.load(std::memory_order_acquire) == 0) {
            if (auto done = fallback_.settle_server(counts_without_server(*segment_), phases_taken(*segment_)); !done)
                return done;
            settled.store(1, std::memory_order_release);
            futex_wake(settled);
        } else {
            futex_wait(settled, 0, server_channel::patience_ns);
        }
    }
    return {};
}

/// The events that no server took: phases this client writes by itself, signals are lost. Blocks and absences are known
/// by other ways.
result<void> server_loss::take_back_events(int64_t signals_sent) {
    result<void> outcome;
    const client_page& page = segment_->page(where_.client);
    event_ring::consumer unread(segment_->events(where_.client), segment_->geometry().event_slots);
    int64_t written = 0;
    for (event_record e{}; unread.pop(e) == event_ring::consumer::outcome::popped;) {
        if (const auto steered = e.kind == event_kind::steered ? steering_record::of(e, model_) : std::nullopt)
            if (auto done = fallback_.add_steering(*steered); !done) outcome = done;
        if (e.kind != event_kind::end_iteration) continue;
        ++written;
        if (auto done = fallback_.add_phase(e.iteration, {e.value[0], e.value[1], e.value[2], e.value[3], e.value[4]});
            !done)
            outcome = done;
    }
    const auto phases_taken = static_cast<int64_t>(page.iterations_taken.load(std::memory_order_acquire));
    const auto signals_taken = static_cast<int64_t>(page.signals_taken.load(std::memory_order_acquire));
    if (auto done = fallback_.count_lost(std::max<int64_t>(0, signals_sent - signals_taken),
                                         std::max<int64_t>(0, now_.number() - phases_taken - written));
        !done)
        outcome = done;
    return outcome;
}

result<void> server_loss::store_own(const checked_block& b) {
    const variable& v = model_.variables[b.variable];
    const auto bytes = static_cast<size_t>(b.shape.bytes);
    if (!b.in_spill) return fallback_.add(v, b.block, b.iteration, b.shape, {segment_->bytes_at(b.location), bytes});
    std::vector<std::byte> data(bytes);
    if (auto got = spill_.read(b.location, data.data(), data.size()); !got) return got;
    return fallback_.add(v, b.block, b.iteration, b.shape, data);
}

/// Safe once their process has ended: nobody writes there any more; nor does one that has detached itself. One client
/// takes each of them.
void server_loss::store_for_the_dead() {
    if (segment_ == nullptr) return;
    for (uint32_t c = 0; c < segment_->geometry().clients; ++c) {
        client_page& page = segment_->page(c);
        const bool left = page.detached.load() != 0 || process_has_ended(page);
        if (c == where_.client || page.cared_for.load(std::memory_order_acquire) != 0 || !left) continue;
        if (page.cared_for.exchange(1, std::memory_order_acq_rel) == 0) store_remains_of(c);
    }
}

void server_loss::store_remains_of(uint32_t client) {
    const client_page& page = segment_->page(client);
    const int rank = page.rank.load(std::memory_order_relaxed);
    const remains left = remains_of(*segment_, model_, client);
    result<void> outcome = left.sound;
    if (auto done = fallback_.count_policies(policies_of(page)); !done) outcome = done;
    const int64_t phases = page.ended_through.load(std::memory_order_acquire) + 1;
    const auto phases_taken = static_cast<int64_t>(page.iterations_taken.load(std::memory_order_acquire));
    if (auto done = fallback_.count_lost(0, std::max<int64_t>(0, phases - phases_taken)); !done) outcome = done;
    for (auto b = left.blocks.begin(); b != left.blocks.end();) {
        fallback_writer::left_blocks of_iteration{b->iteration, rank, {}, {}};
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
        if (auto done = fallback_.store_left(std::move(of_iteration)); !done) outcome = done;
    }
    if (!outcome && outcome_) outcome_ = outcome;
}

}  // namespace halcyon::offload
