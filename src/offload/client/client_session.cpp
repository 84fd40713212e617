#include "offload/client/client_session.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/node_identity.hpp"
#include "offload/client/known_names.hpp"
#include "offload/client/notice.hpp"
#include "offload/client/usage.hpp"
#include "offload/model/parameter_check.hpp"

namespace halcyon::offload {

using timed_call = open_iteration::timed_call;

client_session::served_parts::served_parts(client_session& of, std::function<void(const std::string&)> complain)
    : page(of.segment_->page(of.where_.client)),
      room(*of.segment_, of.model_, of.where_.client),
      channel(*of.segment_, of.where_.client, *of.link_, of.model_.server.hang_timeout, std::move(complain), of.now_),
      placement(*of.segment_, of.model_, of.where_.client, room, channel, *of.link_, of.loss_, *of.fallback_, of.spill_,
                of.now_) {
    page.rank.store(of.where_.rank, std::memory_order_relaxed);
    page.pid_namespace.store(pid_namespace(), std::memory_order_relaxed);
    page.pid.store(::getpid(), std::memory_order_release);
}

client_session::client_session(model& data, place_in_job where, std::unique_ptr<segment> shared,
                               std::unique_ptr<server_link> link, std::unique_ptr<fallback_writer> fallback)
    : model_(data),
      where_(where),
      segment_(std::move(shared)),
      link_(std::move(link)),
      fallback_(std::move(fallback)),
      blocks_(data, where),
      loss_(data, where, segment_.get(), link_.get(), *fallback_, spill_, now_) {
    for (const event& e : model_.events) event_ids_.emplace(e.name, e.id);
    // To whoever looks at the run now, and to the caller of the call that waits, once it returns.
    const auto complain = [this](const std::string& what) {
        notice() = what;
        fallback_->log(what);
    };
    if (segment_) served_.emplace(*this, complain);
    completion_.emplace(segment_.get(), link_.get(), served_ ? &served_->channel : nullptr, where_.client, loss_,
                        *fallback_, now_);
    make_steered();
}

void client_session::make_steered() {
    if (model_.steerable().empty()) return;
    const auto tell = [this](const event_record& e) -> result<void> {
        if (serverless()) {
            const auto steered = steering_record::of(e, model_);
            return steered ? fallback_->add_steering(*steered) : result<void>();
        }
        auto told = served_->channel.push(e);
        served_->channel.ring(&doorbell::ring);
        return told;
    };
    steered_.emplace(model_, segment_.get(),
                     steered_parameters::session_calls{
                         [this](std::string_view name, double value) { return set_parameter(name, value); }, tell,
                         [this](const std::string& line) { fallback_->log(line); }});
}

result<double> client_session::parameter_value(std::string_view name) const {
    const parameter* p = std::as_const(model_).find_parameter(name);
    if (p == nullptr) return unknown_parameter(model_, name);
    return p->value;
}

client_counts client_session::counts() const {
    const policy_counts p = served_ ? served_->placement.counts() : policy_counts{};
    const auto count = [](int64_t n) { return static_cast<uint64_t>(n); };
    return {blocks_written_,         bytes_written_,          signals_,
            now_.all_visible_ns(),   now_.all_blocked_ns(),   count(p.skipped_blocks),
            count(p.skipped_bytes),  count(p.spilled_blocks), count(p.spilled_bytes),
            count(p.inlined_blocks), count(p.inlined_bytes)};
}

uint64_t client_session::arena_free() {
    if (!served_) return 0;
    served_->room.take_back_released();
    return served_->room.arena_free();
}

// ---- blocks ---------------------------------------------------------------------------------------------------------

result<open_blocks::found> client_session::find(std::string_view name, int block) {
    if (finished_) return usage("the session is closed: open a new one before writing '" + std::string(name) + "'");
    return blocks_.find(name, block);
}

result<block_shape> client_session::describe(std::string_view name, int block, scalar_type& type) {
    auto b = find(name, block);
    if (!b) return b.why();
    if (auto done = blocks_.evaluate(*b); !done) return done.why();
    type = model_.layouts[b->of->layout_id].type;
    return b->state->shape;
}

void client_session::count(open_block& written) {
    written.written_in = now_.number();
    const auto bytes = static_cast<uint64_t>(written.shape.bytes);
    ++blocks_written_;
    bytes_written_ += bytes;
    now_.add_bytes(bytes);
}

result<void> client_session::add_to_fallback(const open_blocks::found& b, const void* data) {
    return fallback_->add(*b.of, b.block, now_.number(), b.state->shape,
                          {static_cast<const std::byte*>(data), static_cast<size_t>(b.state->shape.bytes)});
}

result<void> client_session::write(std::string_view name, int block, const void* data, int64_t bytes_or_negative) {
    const timed_call timed(now_);
    auto found = find(name, block);
    if (!found) return found.why();
    if (auto done = blocks_.evaluate(*found); !done) return done;
    const open_block& b = *found->state;
    const variable& v = *found->of;
    if (bytes_or_negative >= 0 && bytes_or_negative != b.shape.bytes)
        return usage("variable " + block_name(v, block) + " holds " + std::to_string(b.shape.bytes) +
                     " bytes by its layout, but the data has " + std::to_string(bytes_or_negative));
    if (data == nullptr && b.shape.bytes > 0) return usage("data of " + block_name(v, block) + " is a null pointer");
    if (b.is_allocated())
        return usage("variable " + block_name(v, block) + " is allocated: fill that block and call commit and clear");
    if (b.written_in == now_.number() || (!v.time_varying && b.written_in >= 0))
        return usage("variable " + block_name(v, block) + " was already written " +
                     (v.time_varying ? "in iteration " + std::to_string(now_.number()) + "; call end_iteration first"
                                     : "and has time-varying: false"));
    if (!serverless()) return place(*found, data);
    if (auto added = add_to_fallback(*found, data); !added) return added;
    count(*found->state);
    return {};
}

/// Of a client that has a server.
result<void> client_session::place(const open_blocks::found& found, const void* data) {
    open_block& b = *found.state;
    const variable& v = *found.of;
    block_room& room = served_->room;
    block_placement& placement = served_->placement;
    const auto where = placement.find(v, static_cast<uint64_t>(b.shape.bytes));
    if (!where) return where.why();
    result<void> done;
    switch (where->what) {
        case block_placement::place::kind::skip:
            b.written_in = now_.number();
            return placement.skip(v, found.block, b.shape);
        case block_placement::place::kind::spill:
            done = placement.spill(v, found.block, b.shape, data);
            break;
        case block_placement::place::kind::run_inline:
            done = placement.store_here(v, found.block, b.shape, data);
            break;
        case block_placement::place::kind::segment:
            std::memcpy(room.bytes_of(where->entry), data, static_cast<size_t>(b.shape.bytes));
            room.describe(where->entry, v, found.block, now_.number(), b.shape);
            room.hand_over(where->entry);
            done = served_->channel.push(room.event_of(event_kind::block_handed, where->entry));
    }
    if (done) count(b);
    return done;
}

result<void*> client_session::alloc(std::string_view name, int block) {
    const timed_call timed(now_);
    auto found = find(name, block);
    if (!found) return found.why();
    open_block& b = *found->state;
    const variable& v = *found->of;
    if (b.is_allocated())
        return usage("variable " + block_name(v, block) + " is already allocated; commit and clear it first");
    if (b.written_in == now_.number() || (!v.time_varying && b.written_in >= 0))
        return usage("variable " + block_name(v, block) + " was already written; call end_iteration first");
    if (auto done = blocks_.evaluate(*found); !done) return done.why();
    const auto bytes = static_cast<uint64_t>(b.shape.bytes);
    b.committed = false;
    if (!serverless()) {
        const auto where = served_->placement.find(v, bytes);
        if (!where) return where.why();
        if (where->what == block_placement::place::kind::segment) {
            b.location = open_block::where::in_segment;
            b.entry = where->entry;
            return static_cast<void*>(served_->room.bytes_of(b.entry));
        }
    }
    b.memory = take_block_memory(bytes);
    if (!b.memory)
        return failure{error_kind::system, "no memory for a block of " + std::to_string(bytes) + " bytes", ENOMEM};
    b.location = open_block::where::in_process;
    return static_cast<void*>(b.memory.get());
}

result<void> client_session::commit(std::string_view name, int block) {
    const timed_call timed(now_);
    auto found = find(name, block);
    if (found) found = blocks_.allocated(*found);
    if (!found) return found.why();
    open_block& b = *found->state;
    if (b.committed) return usage("variable " + block_name(*found->of, block) + " is already committed");
    b.committed = true;
    b.written_in = now_.number();
    return b.location == open_block::where::in_process ? commit_in_process(*found) : commit_in_segment(*found);
}

result<void> client_session::commit_in_process(const open_blocks::found& found) {
    open_block& b = *found.state;
    const variable& v = *found.of;
    const std::byte* data = b.memory.get();
    if (serverless()) {
        if (auto added = add_to_fallback(found, data); !added) return added;
    } else if (v.when_full == full_policy::skip) {
        return served_->placement.skip(v, found.block, b.shape);
    } else if (v.when_full == full_policy::spill) {
        if (auto done = served_->placement.spill(v, found.block, b.shape, data); !done) return done;
    } else if (auto done = served_->placement.store_here(v, found.block, b.shape, data); !done) {
        return done;
    }
    count(b);
    return {};
}

result<void> client_session::commit_in_segment(const open_blocks::found& found) {
    open_block& b = *found.state;
    block_room& room = served_->room;
    room.describe(b.entry, *found.of, found.block, now_.number(), b.shape);
    room.share(b.entry);
    if (loss_.has_happened()) {
        if (auto added = add_to_fallback(found, room.bytes_of(b.entry)); !added) return added;
    } else if (auto done = served_->channel.push(room.event_of(event_kind::block_committed, b.entry)); !done) {
        return done;
    }
    count(b);
    return {};
}

result<void> client_session::clear(std::string_view name, int block) {
    const timed_call timed(now_);
    auto found = find(name, block);
    if (found) found = blocks_.allocated(*found);
    if (!found) return found.why();
    open_block& b = *found->state;
    if (!b.committed)
        return usage("variable " + block_name(*found->of, block) + " is not committed; call commit before clear");
    result<void> done;
    if (b.location == open_block::where::in_segment) {
        served_->room.hand_over(b.entry);
        if (!serverless()) done = served_->channel.push(served_->room.event_of(event_kind::block_handed, b.entry));
    }
    b.close();
    return done;
}

// ---- events and iterations ------------------------------------------------------------------------------------------

result<void> client_session::signal(std::string_view name) {
    {
        const timed_call timed(now_);
        if (finished_) return usage("the session is closed");
        const auto found = event_ids_.find(name);
        if (found == event_ids_.end())
            return usage("no event '" + std::string(name) + "' in the configuration" + known_names(model_.events));
        ++signals_;
        if (serverless()) return fallback_->signal(model_.events[found->second], now_.number());
        event_record e{};
        e.kind = event_kind::signal;
        e.index = found->second;
        e.iteration = now_.number();
        if (auto done = served_->channel.push(e); !done) return done;
    }
    served_->channel.ring(&doorbell::ring);
    return {};
}

result<void> client_session::end_iteration() {
    if (finished_) return usage("the session is closed");
    {
        const timed_call timed(now_);
        if (!serverless()) served_->page.ended_through.store(now_.number(), std::memory_order_release);
    }
    if (loss_.has_happened()) return end_here();
    const fallback_writer::phase seen = now_.seen();
    event_record e{};
    e.kind = event_kind::end_iteration;
    e.iteration = now_.number();
    e.value[0] = seen.begin_ns;
    e.value[1] = seen.visible_ns;
    e.value[2] = seen.blocked_ns;
    e.value[3] = seen.compute_ns;
    e.value[4] = seen.bytes;
    if (auto done = served_->channel.push(e); !done) return done;
    now_.end();
    served_->channel.ring(&doorbell::ring_unless_dozing);
    return {};
}

/// Of a client that stores its blocks itself. What could not be stored is lost, and the simulation is in its next
/// iteration.
result<void> client_session::end_here() {
    result<void> outcome;
    {
        const timed_call timed(now_);
        outcome = fallback_->end_iteration(now_.number());
        loss_.store_for_the_dead();
    }
    auto recorded = fallback_->add_phase(now_.number(), now_.seen());
    now_.end();
    return outcome ? recorded : outcome;
}

result<void> client_session::wait(int64_t iteration, stage which) {
    if (iteration < 0 || iteration >= now_.number())
        return usage("iteration " + std::to_string(iteration) + " has not ended on this client" +
                     (now_.number() == 0 ? ", and none has so far; call end_iteration first"
                                         : "; the last that did is " + std::to_string(now_.number() - 1)));
    if (which == stage::accepted) return {};
    const timed_call timed(now_);
    return completion_->wait(iteration, which);
}

int64_t client_session::first_unmarked() const {
    return segment_ == nullptr ? now_.number()
                               : std::max(now_.number(), segment_->header().ledger.read().stored_through + 1);
}

// ---- the end --------------------------------------------------------------------------------------------------------

/// `open`: set where something belongs to an iteration that has not ended.
result<void> client_session::close_blocks(bool& open) {
    result<void> outcome;
    for (const variable& v : model_.variables)
        for (int block = 0; block < v.blocks_per_client; ++block) {
            open_block& b = blocks_.of(v, block);
            if (!b.is_allocated()) continue;
            open = open || !b.committed;
            if (auto done = b.committed ? clear(v.name, block) : give_up({&b, &v, block}); !done) outcome = done;
        }
    return outcome;
}

/// A block that was allocated and never committed: what lies in it is no data. It is missing in the open iteration.
result<void> client_session::give_up(const open_blocks::found& b) {
    b.state->close();
    if (serverless()) return fallback_->note_missing(*b.of, b.block, now_.number(), absence::cause::uncommitted);
    return served_->channel.push_absence(event_kind::block_uncommitted, *b.of, b.block, absence::cause::uncommitted);
}

result<void> client_session::finish() {
    if (finished_) return usage("the session is already closed");
    bool open = now_.bytes() > 0;
    result<void> outcome = close_blocks(open);
    if (open)
        if (auto done = end_iteration(); !done) outcome = done;
    finished_ = true;
    const bool alone = serverless();
    if (alone) loss_.store_for_the_dead();
    if (auto done = fallback_->finish(); !done) outcome = done;
    if (!loss_.outcome()) outcome = loss_.outcome();
    if (alone) return outcome;
    event_record e{};
    e.kind = event_kind::closed;
    e.iteration = now_.number();
    // Before the event: the server that takes it looks there whether the client closed or died.
    served_->page.closed.store(1, std::memory_order_release);
    if (auto done = served_->channel.push(e); !done) outcome = done;
    segment_->header().bell.ring();
    return outcome;
}

void client_session::release_server(bool build_view) {
    if (loss_.has_happened()) return;
    segment_->header().may_exit.store(build_view ? 2 : 1, std::memory_order_release);
    segment_->header().bell.ring();
}

}  // namespace halcyon::offload
