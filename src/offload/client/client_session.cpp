#include "offload/client/client_session.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/clock.hpp"
#include "base/node_identity.hpp"
#include "offload/client/client_session_parts.hpp"
#include "offload/client/known_names.hpp"
#include "offload/client/notice.hpp"

namespace halcyon::offload {

client_session::client_session(model& data, place_in_job where, std::unique_ptr<segment> shared,
                               std::unique_ptr<server_link> link, std::unique_ptr<fallback_store> fallback)
    : model_(data),
      where_(where),
      segment_(std::move(shared)),
      link_(std::move(link)),
      fallback_(std::move(fallback)),
      inline_(segment_ == nullptr) {
    first_block_ = first_blocks(model_);
    blocks_.resize(first_block_.back());
    for (const variable& v : model_.variables) variable_ids_.emplace(v.name, v.id);
    for (const event& e : model_.events) event_ids_.emplace(e.name, e.id);
    if (segment_) {
        const segment_geometry& g = segment_->geometry();
        table_ = segment_->table(where_.client);
        page_ = &segment_->page(where_.client);
        events_ = event_ring::producer(segment_->events(where_.client), g.event_slots);
        returns_ = return_ring::consumer(segment_->returns(where_.client), g.return_slots);
        arena_ = arena(g.arena_bytes, g.blocks_per_client);
        free_entries_.reserve(g.blocks_per_client);
        for (uint32_t e = g.blocks_per_client; e-- > 0;) free_entries_.push_back(e);
        taken_.assign(g.blocks_per_client, {});
        in_use_.assign(g.blocks_per_client, false);
        page_->rank.store(where_.rank, std::memory_order_relaxed);
        page_->pid_namespace.store(pid_namespace(), std::memory_order_relaxed);
        page_->pid.store(::getpid(), std::memory_order_release);
        tenure_seen_ = segment_->header().tenure.load();
        silence_.emplace(*segment_, model_.server.hang_timeout,
                         silence::listener{[this](const std::string& what) { complain(what); },
                                           [this](uint32_t generation) { return link_->end_server(generation); }});
    }
    phase_end_monotonic_ns_ = monotonic_ns();
}

client_session::~client_session() = default;

/// To whoever looks at the run now, and to the caller of the call that waits, once it returns.
void client_session::complain(const std::string& what) {
    notice() = what;
    fallback_->log(what);
}

result<client_session::open_block*> client_session::find(std::string_view name, int block, const variable*& v) {
    if (finished_) return usage("the session is closed: open a new one before writing '" + std::string(name) + "'");
    const auto found = variable_ids_.find(name);
    if (found == variable_ids_.end())
        return usage("no variable '" + std::string(name) + "' in the configuration" + known_names(model_.variables));
    v = &model_.variables[found->second];
    if (block < 0 || block >= v->blocks_per_client)
        return usage("variable '" + v->name + "' has blocks 0 to " + std::to_string(v->blocks_per_client - 1) +
                     " on each client, not " + std::to_string(block) + "; see blocks-per-client");
    return &blocks_[first_block_[v->id] + static_cast<uint32_t>(block)];
}

result<void> client_session::evaluate(open_block& b, const variable& v, int block) {
    if (b.shape_version == parameter_version_) return {};
    auto shape = shape_of(model_, v, {where_.rank, where_.size, block});
    if (!shape) return shape.why();
    b.shape = *shape;
    b.shape_version = parameter_version_;
    return {};
}

result<block_shape> client_session::describe(std::string_view name, int block, scalar_type& type) {
    const variable* v = nullptr;
    auto b = find(name, block, v);
    if (!b) return b.why();
    if (auto done = evaluate(**b, *v, block); !done) return done.why();
    type = model_.layouts[v->layout_id].type;
    return (*b)->shape;
}

result<void> client_session::set_parameter(std::string_view name, double value) {
    if (auto set = model_.set_parameter(name, value); !set) return set;
    ++parameter_version_;
    return {};
}

result<void> client_session::write(std::string_view name, int block, const void* data, int64_t bytes_or_negative) {
    timed_call timed(*this);
    const variable* v = nullptr;
    auto found = find(name, block, v);
    if (!found) return found.why();
    open_block& b = **found;
    if (auto done = evaluate(b, *v, block); !done) return done;
    if (bytes_or_negative >= 0 && bytes_or_negative != b.shape.bytes)
        return usage("variable " + block_name(*v, block) + " holds " + std::to_string(b.shape.bytes) +
                     " bytes by its layout, but the data has " + std::to_string(bytes_or_negative));
    if (data == nullptr && b.shape.bytes > 0) return usage("data of " + block_name(*v, block) + " is a null pointer");
    if (b.location != open_block::where::nowhere)
        return usage("variable " + block_name(*v, block) + " is allocated: fill that block and call commit and clear");
    if (b.written_in == iteration_ || (!v->time_varying && b.written_in >= 0))
        return usage("variable " + block_name(*v, block) + " was already written " +
                     (v->time_varying ? "in iteration " + std::to_string(iteration_) + "; call end_iteration first"
                                      : "and has time-varying: false"));
    const auto bytes = static_cast<uint64_t>(b.shape.bytes);
    if (serverless()) {
        if (auto added = fallback_->add(*v, block, iteration_, b.shape, {static_cast<const std::byte*>(data), bytes});
            !added)
            return added;
    } else {
        auto r = find_room(*v, bytes);
        if (!r) return r.why();
        switch (r->what) {
            case room::kind::skip:
                b.written_in = iteration_;
                return skip(*v, block, b.shape.bytes);
            case room::kind::spill:
                if (auto done = spill(*v, block, b.shape, data); !done) return done;
                break;
            case room::kind::run_inline:
                if (auto done = store_here(*v, block, b.shape, data); !done) return done;
                break;
            case room::kind::segment: {
                std::memcpy(bytes_of(r->entry), data, bytes);
                describe_entry(r->entry, *v, block, b.shape);
                hand_over(r->entry);
                if (auto done = push_block(event_kind::block_handed, r->entry); !done) return done;
            }
        }
    }
    b.written_in = iteration_;
    ++counts_.blocks;
    counts_.bytes += bytes;
    phase_bytes_ += bytes;
    return {};
}

result<void*> client_session::alloc(std::string_view name, int block) {
    timed_call timed(*this);
    const variable* v = nullptr;
    auto found = find(name, block, v);
    if (!found) return found.why();
    open_block& b = **found;
    if (b.location != open_block::where::nowhere)
        return usage("variable " + block_name(*v, block) + " is already allocated; commit and clear it first");
    if (b.written_in == iteration_ || (!v->time_varying && b.written_in >= 0))
        return usage("variable " + block_name(*v, block) + " was already written; call end_iteration first");
    if (auto done = evaluate(b, *v, block); !done) return done.why();
    const auto bytes = static_cast<uint64_t>(b.shape.bytes);
    b.committed = false;
    if (!serverless()) {
        auto r = find_room(*v, bytes);
        if (!r) return r.why();
        if (r->what == room::kind::segment) {
            b.location = open_block::where::in_segment;
            b.entry = r->entry;
            return static_cast<void*>(bytes_of(r->entry));
        }
        if (r->what == room::kind::skip) b.entry = no_entry;
    }
    b.memory = take_block_memory(bytes);
    if (!b.memory)
        return failure{error_kind::system, "no memory for a block of " + std::to_string(bytes) + " bytes", ENOMEM};
    b.location = open_block::where::in_process;
    return static_cast<void*>(b.memory.get());
}

result<client_session::open_block*> client_session::find_allocated(std::string_view name, int block,
                                                                   const variable*& v) {
    auto found = find(name, block, v);
    if (found && (*found)->location == open_block::where::nowhere)
        return usage("variable " + block_name(*v, block) + " is not allocated; call alloc first");
    return found;
}

result<void> client_session::commit(std::string_view name, int block) {
    timed_call timed(*this);
    const variable* v = nullptr;
    auto found = find_allocated(name, block, v);
    if (!found) return found.why();
    open_block& b = **found;
    if (b.committed) return usage("variable " + block_name(*v, block) + " is already committed");
    const auto bytes = static_cast<uint64_t>(b.shape.bytes);
    b.committed = true;
    b.written_in = iteration_;
    if (b.location == open_block::where::in_process) {
        if (serverless()) {
            if (auto added = fallback_->add(*v, block, iteration_, b.shape, {b.memory.get(), bytes}); !added)
                return added;
        } else if (v->when_full == full_policy::skip) {
            return skip(*v, block, b.shape.bytes);
        } else if (v->when_full == full_policy::spill) {
            if (auto done = spill(*v, block, b.shape, b.memory.get()); !done) return done;
        } else if (auto done = store_here(*v, block, b.shape, b.memory.get()); !done) {
            return done;
        }
    } else {
        describe_entry(b.entry, *v, block, b.shape);
        table_[b.entry].state.store(block_state::shared_read, std::memory_order_release);
        if (inline_) {
            if (auto added = fallback_->add(*v, block, iteration_, b.shape, {bytes_of(b.entry), bytes}); !added)
                return added;
        } else if (auto done = push_block(event_kind::block_committed, b.entry); !done) {
            return done;
        }
    }
    ++counts_.blocks;
    counts_.bytes += bytes;
    phase_bytes_ += bytes;
    return {};
}

result<void> client_session::clear(std::string_view name, int block) {
    timed_call timed(*this);
    const variable* v = nullptr;
    auto found = find_allocated(name, block, v);
    if (!found) return found.why();
    open_block& b = **found;
    if (!b.committed) return usage("variable " + block_name(*v, block) + " is not committed; call commit before clear");
    result<void> done;
    if (b.location == open_block::where::in_segment) {
        hand_over(b.entry);
        if (!serverless()) done = push_block(event_kind::block_handed, b.entry);
    }
    b.memory.reset();
    b.location = open_block::where::nowhere;
    b.entry = no_entry;
    b.committed = false;
    return done;
}

result<void> client_session::signal(std::string_view name) {
    {
        timed_call timed(*this);
        if (finished_) return usage("the session is closed");
        const auto found = event_ids_.find(name);
        if (found == event_ids_.end())
            return usage("no event '" + std::string(name) + "' in the configuration" + known_names(model_.events));
        ++counts_.signals;
        if (serverless()) return fallback_->signal(model_.events[found->second], iteration_);
        event_record e{};
        e.kind = event_kind::signal;
        e.index = found->second;
        e.iteration = iteration_;
        if (auto done = push(e); !done) return done;
        ++signals_sent_;
    }
    ring_server(&doorbell::ring);
    return {};
}

/// Called when the time of a call has been taken: its fence waits until the server's core has let go of the event's
/// line, and reading the clock fills that time. A wake-up is counted here, as what the simulation sees next.
void client_session::ring_server(bool (doorbell::*ring)()) {
    const int64_t begin = phase_end_monotonic_ns_;
    if (!(segment_->header().bell.*ring)()) return;
    phase_end_monotonic_ns_ = monotonic_ns();
    phase_visible_ns_ += phase_end_monotonic_ns_ - begin;
    counts_.visible_ns += phase_end_monotonic_ns_ - begin;
}

result<void> client_session::end_iteration() {
    if (finished_) return usage("the session is closed");
    {
        timed_call timed(*this);
        if (!serverless()) page_->ended_through.store(iteration_, std::memory_order_release);
    }
    result<void> outcome;
    if (inline_) {
        const int64_t begin = monotonic_ns();
        // What could not be stored is lost, and the simulation is in its next iteration.
        outcome = fallback_->end_iteration(iteration_);
        store_for_the_dead();
        phase_end_monotonic_ns_ = monotonic_ns();
        phase_visible_ns_ += phase_end_monotonic_ns_ - begin;
        counts_.visible_ns += phase_end_monotonic_ns_ - begin;
        auto recorded = fallback_->add_phase(iteration_, {phase_begin_ns_, static_cast<int64_t>(phase_visible_ns_),
                                                          static_cast<int64_t>(phase_blocked_ns_), phase_compute_ns_,
                                                          static_cast<int64_t>(phase_bytes_)});
        if (outcome) outcome = recorded;
    } else {
        event_record e{};
        e.kind = event_kind::end_iteration;
        e.iteration = iteration_;
        e.value[0] = phase_begin_ns_;
        e.value[1] = static_cast<int64_t>(phase_visible_ns_);
        e.value[2] = static_cast<int64_t>(phase_blocked_ns_);
        e.value[3] = phase_compute_ns_;
        e.value[4] = static_cast<int64_t>(phase_bytes_);
        if (auto done = push(e); !done) return done;
    }
    ++iteration_;
    phase_begin_ns_ = 0;
    phase_visible_ns_ = phase_blocked_ns_ = phase_bytes_ = 0;
    if (!inline_) ring_server(&doorbell::ring_unless_dozing);
    return outcome;
}

}  // namespace halcyon::offload
