#include "offload/client/client_session.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/clock.hpp"
#include "offload/client/known_names.hpp"

namespace halcyon::offload {
namespace {

/// How long a waiting client sleeps before it looks again whether the server still lives.
constexpr int64_t patience_ns = 50'000'000;

failure usage(std::string message) {
    return {error_kind::usage, std::move(message), 0};
}

std::string block_name(const variable& v, int block) {
    return v.blocks_per_client == 1 ? "'" + v.name + "'" : "'" + v.name + "' block " + std::to_string(block);
}

}  // namespace

/// Adds the time of one call to the visible time, and notes when the phase began.
class client_session::timed_call {
  public:
    explicit timed_call(client_session& session) : session_(session), begin_(monotonic_ns()) {
        if (session_.phase_begin_ns_ == 0) {
            session_.phase_begin_ns_ = realtime_ns();
            session_.phase_compute_ns_ = begin_ - session_.phase_end_monotonic_ns_;
        }
    }
    timed_call(const timed_call&) = delete;
    timed_call& operator=(const timed_call&) = delete;
    ~timed_call() {
        const int64_t end = monotonic_ns();
        session_.phase_visible_ns_ += end - begin_;
        session_.counts_.visible_ns += end - begin_;
        session_.phase_end_monotonic_ns_ = end;
    }

  private:
    client_session& session_;
    int64_t begin_;
};

client_session::client_session(model& data, place_in_job where, std::unique_ptr<segment> shared,
                               std::unique_ptr<server_link> link, std::unique_ptr<fallback_store> fallback)
    : model_(data),
      where_(where),
      segment_(std::move(shared)),
      link_(std::move(link)),
      fallback_(std::move(fallback)),
      inline_(segment_ == nullptr) {
    uint32_t next = 0;
    for (const variable& v : model_.variables) {
        variable_ids_.emplace(v.name, v.id);
        first_block_.push_back(next);
        next += static_cast<uint32_t>(v.blocks_per_client);
    }
    blocks_.resize(next);
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
        taken_bytes_.assign(g.blocks_per_client, 0);
        in_use_.assign(g.blocks_per_client, false);
        page_->pid.store(::getpid(), std::memory_order_release);
        generation_seen_ = segment_->header().generation.load(std::memory_order_acquire);
    }
    phase_end_monotonic_ns_ = monotonic_ns();
}

client_session::~client_session() = default;

// ---- finding and evaluating ---------------------------------------------------------------------------------------

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

// ---- room -----------------------------------------------------------------------------------------------------------

void client_session::take_back_released() {
    uint32_t entry = 0;
    while (returns_.pop(entry) == return_ring::consumer::outcome::popped) {
        if (entry >= in_use_.size() || !in_use_[entry]) continue;  // already found by resynchronise()
        if (table_[entry].state.load(std::memory_order_acquire) != block_state::free) continue;
        in_use_[entry] = false;
        if (taken_bytes_[entry] > 0)
            arena_.give_back(table_[entry].location - segment_->geometry().arena_offset(where_.client),
                             taken_bytes_[entry]);
        taken_bytes_[entry] = 0;
        free_entries_.push_back(entry);
    }
    if (segment_->header().generation.load(std::memory_order_acquire) != generation_seen_) resynchronise();
}

/// A server that died may have freed blocks without sending them back: look at every entry once.
void client_session::resynchronise() {
    generation_seen_ = segment_->header().generation.load(std::memory_order_acquire);
    for (uint32_t entry = 0; entry < in_use_.size(); ++entry) {
        if (!in_use_[entry] || table_[entry].state.load(std::memory_order_acquire) != block_state::free) continue;
        in_use_[entry] = false;
        if (taken_bytes_[entry] > 0)
            arena_.give_back(table_[entry].location - segment_->geometry().arena_offset(where_.client),
                             taken_bytes_[entry]);
        taken_bytes_[entry] = 0;
        free_entries_.push_back(entry);
    }
}

bool client_session::try_entry(uint64_t bytes, bool constant, uint32_t& entry) {
    take_back_released();
    if (free_entries_.empty()) return false;
    const auto at = arena_.take(aligned_bytes(bytes), constant ? arena::side::above : arena::side::below);
    if (!at) return false;
    entry = free_entries_.back();
    free_entries_.pop_back();
    in_use_[entry] = true;
    taken_bytes_[entry] = std::max(aligned_bytes(bytes), block_alignment);
    block_entry& e = table_[entry];
    e.location = segment_->geometry().arena_offset(where_.client) + *at;
    e.in_spill = 0;
    e.sequence = ++sequence_;
    e.state.store(block_state::private_to_client, std::memory_order_release);
    return true;
}

/// Sleeps until the server made progress. Failure (unavailable): there is no server any more.
result<void> client_session::wait_for_room() {
    const int64_t begin = monotonic_ns();
    segment_header& h = segment_->header();
    const uint32_t seen = h.progress.load(std::memory_order_acquire);
    page_->waiting.store(1, std::memory_order_release);
    h.bell.ring();
    take_back_released();
    if (link_->available()) futex_wait(h.progress, seen, patience_ns);
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
    while (true) {
        if (auto waited = wait_for_room(); !waited) return waited.why();
        if (try_entry(bytes, !v.time_varying, r.entry)) return r;
        if (!link_->available()) {
            if (auto left = leave_server(); !left) return left.why();
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
            anything_to_come = s == block_state::free || (s == block_state::servers && !constant);
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
    while (!events_.push(e)) {
        const uint32_t seen = h.progress.load(std::memory_order_acquire);
        page_->waiting.store(1, std::memory_order_release);
        h.bell.ring();
        if (!link_->available()) break;  // what the states of the blocks say is enough for leave_server()
        futex_wait(h.progress, seen, patience_ns / 50);
    }
    page_->waiting.store(0, std::memory_order_release);
    const int64_t took = monotonic_ns() - begin;
    counts_.blocked_ns += took;
    phase_blocked_ns_ += took;
    return {};
}

void client_session::hand_over(uint32_t entry) {
    block_entry& e = table_[entry];
    e.state.store(block_state::servers, std::memory_order_release);
}

// ---- the calls ------------------------------------------------------------------------------------------------------

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
                std::memcpy(segment_->bytes_at(table_[r->entry].location), data, bytes);
                describe_entry(r->entry, *v, block, b.shape);
                hand_over(r->entry);
                event_record e{};
                e.kind = event_kind::block_handed;
                e.index = r->entry;
                e.iteration = iteration_;
                e.sequence = table_[r->entry].sequence;
                if (auto done = push(e); !done) return done;
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
            return static_cast<void*>(segment_->bytes_at(table_[r->entry].location));
        }
        if (r->what == room::kind::skip) b.entry = no_entry;
    }
    b.memory.reset(new (std::align_val_t{64}, std::nothrow) std::byte[std::max<uint64_t>(bytes, 1)]);
    if (!b.memory)
        return failure{error_kind::system, "no memory for a block of " + std::to_string(bytes) + " bytes", ENOMEM};
    b.location = open_block::where::in_process;
    return static_cast<void*>(b.memory.get());
}

result<void> client_session::commit(std::string_view name, int block) {
    timed_call timed(*this);
    const variable* v = nullptr;
    auto found = find(name, block, v);
    if (!found) return found.why();
    open_block& b = **found;
    if (b.location == open_block::where::nowhere)
        return usage("variable " + block_name(*v, block) + " is not allocated; call alloc first");
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
        event_record e{};
        e.kind = event_kind::block_committed;
        e.index = b.entry;
        e.iteration = iteration_;
        e.sequence = table_[b.entry].sequence;
        if (inline_) {
            if (auto added = fallback_->add(*v, block, iteration_, b.shape,
                                            {segment_->bytes_at(table_[b.entry].location), bytes});
                !added)
                return added;
        } else if (auto done = push(e); !done) {
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
    auto found = find(name, block, v);
    if (!found) return found.why();
    open_block& b = **found;
    if (b.location == open_block::where::nowhere)
        return usage("variable " + block_name(*v, block) + " is not allocated; call alloc first");
    if (!b.committed) return usage("variable " + block_name(*v, block) + " is not committed; call commit before clear");
    result<void> done;
    if (b.location == open_block::where::in_segment) {
        hand_over(b.entry);
        event_record e{};
        e.kind = event_kind::block_handed;
        e.index = b.entry;
        e.iteration = table_[b.entry].iteration;
        e.sequence = table_[b.entry].sequence;
        if (!serverless()) done = push(e);
    }
    b.memory.reset();
    b.location = open_block::where::nowhere;
    b.entry = no_entry;
    b.committed = false;
    return done;
}

result<void> client_session::skip(const variable& v, int block, int64_t bytes) {
    ++counts_.skipped_blocks;
    counts_.skipped_bytes += static_cast<uint64_t>(bytes);
    page_->skipped_blocks.store(counts_.skipped_blocks, std::memory_order_relaxed);
    page_->skipped_bytes.store(counts_.skipped_bytes, std::memory_order_relaxed);
    event_record e{};
    e.kind = event_kind::block_skipped;
    e.index = v.id;
    e.iteration = iteration_;
    e.value[0] = block;
    return push(e);
}

result<void> client_session::spill(const variable& v, int block, const block_shape& shape, const void* data) {
    const bool first = !spill_.is_open();
    // An entry without arena bytes still needs its place in the table.
    while (free_entries_.empty()) {
        take_back_released();
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
    taken_bytes_[entry] = 0;
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
    event_record told{};
    told.kind = event_kind::block_handed;
    told.index = entry;
    told.iteration = iteration_;
    told.sequence = e.sequence;
    return push(told);
}

result<void> client_session::store_here(const variable& v, int block, const block_shape& shape, const void* data) {
    const std::span<const std::byte> bytes{static_cast<const std::byte*>(data), static_cast<size_t>(shape.bytes)};
    if (inline_) return fallback_->add(v, block, iteration_, shape, bytes);
    if (auto done = fallback_->store_now(v, block, iteration_, shape, bytes); !done) return done;
    ++counts_.inlined_blocks;
    counts_.inlined_bytes += bytes.size();
    page_->inlined_blocks.store(counts_.inlined_blocks, std::memory_order_relaxed);
    page_->inlined_bytes.store(counts_.inlined_bytes, std::memory_order_relaxed);
    event_record e{};
    e.kind = event_kind::block_inlined;
    e.index = v.id;
    e.iteration = iteration_;
    e.value[0] = block;
    return push(e);
}

result<void> client_session::signal(std::string_view name) {
    timed_call timed(*this);
    if (finished_) return usage("the session is closed");
    const auto found = event_ids_.find(name);
    if (found == event_ids_.end())
        return usage("no event '" + std::string(name) + "' in the configuration" + known_names(model_.events));
    ++counts_.signals;
    if (serverless()) return fallback_->signal(model_.events[found->second], iteration_);
    page_->signals_sent.store(counts_.signals, std::memory_order_relaxed);
    event_record e{};
    e.kind = event_kind::signal;
    e.index = found->second;
    e.iteration = iteration_;
    if (auto done = push(e); !done) return done;
    segment_->header().bell.ring();
    return {};
}

result<void> client_session::end_iteration() {
    if (finished_) return usage("the session is closed");
    {
        timed_call timed(*this);
        if (serverless()) {
            // Its own time is part of what the simulation saw.
        } else {
            page_->ended_through.store(iteration_, std::memory_order_release);
        }
    }
    if (inline_) {
        const int64_t begin = monotonic_ns();
        const auto done =
            fallback_->end_iteration(iteration_, {phase_begin_ns_, static_cast<int64_t>(phase_visible_ns_), 0,
                                                  phase_compute_ns_, static_cast<int64_t>(phase_bytes_)});
        counts_.visible_ns += monotonic_ns() - begin;
        phase_end_monotonic_ns_ = monotonic_ns();
        if (!done) return done;
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
        segment_->header().bell.ring();
    }
    ++iteration_;
    phase_begin_ns_ = 0;
    phase_visible_ns_ = phase_blocked_ns_ = phase_bytes_ = 0;
    return {};
}

result<void> client_session::wait(int64_t iteration, stage which) {
    if (iteration < 0 || iteration >= iteration_)
        return usage("iteration " + std::to_string(iteration) + " has not ended on this client; the last that did is " +
                     std::to_string(iteration_ - 1));
    if (which == stage::accepted) return {};
    timed_call timed(*this);
    if (serverless()) {
        if (auto done = fallback_->flush(); !done) return done;
        return which == stage::durable ? fallback_->sync() : result<void>{};
    }
    segment_header& h = segment_->header();
    auto& wanted = which == stage::durable ? h.durable_wanted : h.stored_wanted;
    auto& reached = which == stage::durable ? h.durable_through : h.stored_through;
    for (int64_t now = wanted.load(); now < iteration && !wanted.compare_exchange_weak(now, iteration);) {
    }
    const uint32_t failed_before = h.failed_files.load(std::memory_order_acquire);
    while (true) {
        const uint32_t seen = h.progress.load(std::memory_order_acquire);
        if (reached.load(std::memory_order_acquire) >= iteration) break;
        h.bell.ring();
        if (serverless()) return fallback_->flush();
        futex_wait(h.progress, seen, patience_ns);
    }
    if (h.failed_files.load(std::memory_order_acquire) != failed_before)
        return failure{
            error_kind::system,
            "files could not be written: " + std::string(h.last_error, strnlen(h.last_error, sizeof h.last_error)),
            EIO};
    return {};
}

// ---- the end, and the server's
// ----------------------------------------------------------------------------------------

/// True when this client stores its blocks itself; notices a server that is gone for good.
bool client_session::serverless() {
    if (!inline_ && !link_->available()) static_cast<void>(leave_server());
    return inline_;
}

/// The last server is gone: what the segment holds of this client is stored by the client, then it goes on inline.
result<void> client_session::leave_server() {
    inline_ = true;
    const int64_t stored = segment_->header().stored_through.load(std::memory_order_acquire);
    result<void> outcome;
    for (int64_t iteration = stored + 1; iteration <= iteration_; ++iteration) {
        for (uint32_t entry = 0; entry < in_use_.size(); ++entry) {
            if (!in_use_[entry]) continue;
            const block_entry& e = table_[entry];
            const block_state s = e.state.load(std::memory_order_acquire);
            if ((s != block_state::servers && s != block_state::shared_read) || e.iteration != iteration) continue;
            const variable& v = model_.variables[e.variable];
            if (e.in_spill != 0) {
                if (auto done = store_spilled(v, e); !done) outcome = done;
            } else if (auto done = fallback_->add(v, e.block, iteration, e.shape,
                                                  {segment_->bytes_at(e.location), static_cast<size_t>(e.shape.bytes)});
                       !done) {
                outcome = done;
            }
        }
        if (iteration < iteration_)
            if (auto done = fallback_->end_iteration(iteration, {}); !done) outcome = done;
    }
    // Blocks the simulation still reads stay where they are; the rest is no longer needed.
    return outcome;
}

result<void> client_session::store_spilled(const variable& v, const block_entry& e) {
    std::vector<std::byte> data(static_cast<size_t>(e.shape.bytes));
    if (auto got = spill_.read(e.location, data.data(), data.size()); !got) return got;
    return fallback_->add(v, e.block, e.iteration, e.shape, data);
}

uint64_t client_session::arena_free() {
    if (segment_) take_back_released();
    return arena_.free_bytes();
}

result<void> client_session::finish() {
    if (finished_) return usage("the session is already closed");
    result<void> outcome;
    for (const variable& v : model_.variables)
        for (int block = 0; block < v.blocks_per_client; ++block) {
            open_block& b = blocks_[first_block_[v.id] + static_cast<uint32_t>(block)];
            if (b.location == open_block::where::nowhere) continue;
            if (!b.committed)
                if (auto done = commit(v.name, block); !done) outcome = done;
            if (auto done = clear(v.name, block); !done) outcome = done;
        }
    const bool open_iteration = phase_bytes_ > 0;
    if (open_iteration)
        if (auto done = end_iteration(); !done) outcome = done;
    finished_ = true;
    const bool alone = serverless();
    if (auto done = fallback_->finish(); !done) outcome = done;
    if (alone) return outcome;
    event_record e{};
    e.kind = event_kind::closed;
    e.iteration = iteration_;
    if (auto done = push(e); !done) outcome = done;
    page_->closed.store(1, std::memory_order_release);
    segment_->header().bell.ring();
    return outcome;
}

result<void> client_session::wait_until_drained() {
    if (inline_) return {};
    segment_header& h = segment_->header();
    while (true) {
        const uint32_t seen = h.progress.load(std::memory_order_acquire);
        if (h.state.load(std::memory_order_acquire) >= server_state::drained) break;
        h.bell.ring();
        if (serverless()) return fallback_->finish();
        futex_wait(h.progress, seen, patience_ns);
    }
    if (const uint32_t failed = h.failed_files.load(std::memory_order_acquire); failed > 0)
        return failure{error_kind::system,
                       std::to_string(failed) + " file(s) could not be written, their blocks are lost: " +
                           std::string(h.last_error, strnlen(h.last_error, sizeof h.last_error)),
                       EIO};
    return {};
}

void client_session::release_server(bool build_view) {
    if (inline_) return;
    segment_->header().may_exit.store(build_view ? 2 : 1, std::memory_order_release);
    segment_->header().bell.ring();
}

result<void> client_session::wait_until_finished() {
    if (inline_) return {};
    segment_header& h = segment_->header();
    while (true) {
        const uint32_t seen = h.progress.load(std::memory_order_acquire);
        if (h.state.load(std::memory_order_acquire) == server_state::finished || !link_->available()) return {};
        futex_wait(h.progress, seen, patience_ns);
    }
}

}  // namespace halcyon::offload
