#include "offload/server/node_server.hpp"

#include <signal.h>

#include <algorithm>
#include <cerrno>

#include "base/clock.hpp"

namespace halcyon::offload {

node_server::node_server(launch l)
    : data_(std::move(l.data)),
      document_(std::move(l.document)),
      segment_(std::move(l.shared)),
      generation_(l.generation),
      peers_(l.peers),
      log_(std::move(l.log)),
      job_(l.job),
      book_(data_, document_.client_ranks, segment_.header().stored_through.load(std::memory_order_acquire) + 1),
      slot_(data_.server.transfer_slots, document_.node, document_.nodes) {
    const segment_geometry& g = segment_.geometry();
    for (uint32_t c = 0; c < g.clients; ++c) {
        events_.emplace_back(segment_.events(c), g.event_slots);
        returns_.emplace_back(segment_.returns(c), g.return_slots);
    }
    spill_files_.resize(g.clients);
    gone_.assign(g.clients, false);
    awaited_.assign(g.clients, false);
    signals_seen_.assign(data_.events.size(), std::vector<uint64_t>(g.clients, 0));
    node_fired_.assign(data_.events.size(), 0);
    told_lost_.assign(data_.events.size(), false);
    stores_.resize(data_.stores.size());
}

node_server::~node_server() {
    if (job_ != nullptr) job_->on_event({});
}

result<std::unique_ptr<node_server>> node_server::start(launch l) {
    // A server that takes over from one of a world has no world, but the blocks have to be stored.
    for (const event& e : l.data.events)
        if (e.scope == scope::job && l.job == nullptr && l.generation == 1)
            return failure{error_kind::config,
                           "events." + e.name +
                               ".scope: 'job' needs all servers of the job in one server world; start the "
                               "simulation with `halcyon run --servers-per-node 1 -- …`, or use scope 'node'",
                           0};
    std::unique_ptr<node_server> s(new node_server(std::move(l)));
    const std::string directory = records_directory(s->data_, s->document_.directory);
    auto records = run_records::open(directory, s->document_.writer);
    if (!records) return records.why();
    s->records_ = std::move(*records);
    auto output = output_writer::open(s->data_, s->document_.directory, s->document_.writer, s->document_.ranks);
    if (!output) return output.why();
    s->output_ = std::move(*output);
    s->actions_ = std::make_unique<action_runner>(
        s->data_, action_runner::surroundings{directory, s->document_.node, s->document_.nodes, s->log_});
    if (auto loaded = s->actions_->load_modules(); !loaded) return loaded.why();
    s->pool_ = std::make_unique<worker_pool>(s->data_.server.threads);
    s->begin_ns_ = monotonic_ns();
    if (s->generation_ > 1)
        s->take_over();
    else
        s->warn_of_compression();
    if (s->job_ != nullptr) {
        s->job_->begin(s->document_.nodes);
        s->job_->on_event([server = s.get()](uint32_t id, int64_t iteration, bool own) {
            server->tell([server, id, iteration, own] { server->job_event_came(id, iteration, own); });
        });
    }
    s->save_counts(false);
    return s;
}

void node_server::warn_of_compression() {
    for (const variable& v : data_.variables)
        if (v.compression == compression::zstd)
            note("variable '" + v.name +
                 "' is compressed with zstd: its readers need the HDF5 plugin for filter 32015");
}

// ---- news from other threads ------------------------------------------------------------------------------------

void node_server::tell(std::function<void()> news) {
    {
        const std::lock_guard lock(inbox_mutex_);
        inbox_.push_back(std::move(news));
    }
    inbox_filled_.store(true, std::memory_order_release);
    segment_.header().bell.ring();
}

bool node_server::read_inbox() {
    if (!inbox_filled_.exchange(false, std::memory_order_acq_rel)) return false;
    std::vector<std::function<void()>> news;
    {
        const std::lock_guard lock(inbox_mutex_);
        news.swap(inbox_);
    }
    for (const auto& n : news) n();
    return !news.empty();
}

void node_server::client_joined(uint32_t client) {
    tell([this, client] { awaited_[client] = false; });
}
void node_server::client_ended(uint32_t client) {
    tell([this, client] { client_gone(client); });
}
void node_server::client_brought_spill(uint32_t client, descriptor file) {
    tell([this, client, fd = std::make_shared<descriptor>(std::move(file))] { spill_files_[client] = std::move(*fd); });
}

// ---- events ------------------------------------------------------------------------------------------------------

bool node_server::pop_events() {
    bool any = false;
    for (uint32_t c = 0; c < events_.size(); ++c) any = pop_client(c) || any;
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
            if (!gone_[client]) {
                note("event ring of rank " + std::to_string(book_.rank_of(client)) +
                     " is corrupt: the client is treated as dead");
                ++counts_.rejected_blocks;
                gone_[client] = true;
                book_.client_left(client, iteration_book::leaving::died);
                ++counts_.dead_clients;
            }
            break;
        }
        any = true;
        handle(client, e);
    }
    if (any && segment_.page(client).waiting.load(std::memory_order_acquire) != 0) progress_ = true;
    return any;
}

void node_server::handle(uint32_t client, const event_record& e) {
    switch (e.kind) {
        case event_kind::block_committed:
            adopt_block(client, e.index, e.sequence, false);
            return;
        case event_kind::block_handed:
            adopt_block(client, e.index, e.sequence, true);
            return;
        case event_kind::block_skipped:
            if (e.index < data_.variables.size() && e.iteration >= book_.next_to_complete())
                book_.note_missing(client, e.index, static_cast<int32_t>(e.value[0]), e.iteration,
                                   missing_block::why::skipped);
            return;
        case event_kind::block_inlined:
            if (e.iteration >= book_.next_to_complete()) book_.note_inlined(client, e.iteration);
            return;
        case event_kind::signal:
            handle_signal(client, e);
            return;
        case event_kind::end_iteration:
            records_.add(phase_record{e.iteration, book_.rank_of(client), e.value[0], e.value[1], e.value[2],
                                      e.value[3], e.value[4]});
            book_.client_ended(client, e.iteration);
            return;
        case event_kind::closed:
            client_gone(client);
            return;
    }
    ++counts_.rejected_blocks;
    note("rank " + std::to_string(book_.rank_of(client)) + " sent an event of unknown kind " +
         std::to_string(static_cast<int>(e.kind)));
}

void node_server::adopt_block(uint32_t client, uint32_t index, uint64_t sequence, bool handed) {
    auto b = check_block(segment_, data_, client, index);
    if (!b) {
        ++counts_.rejected_blocks;
        note("rejected: " + b.why().message);
        return;
    }
    if (b->sequence != sequence) return;  // an old event of an entry that was adopted and released by take_over()
    const iteration_book::key k = iteration_book::key_of(client, index);
    if (b->iteration < book_.next_to_complete() && book_.find(k) == nullptr) {
        // Belongs to an iteration that is closed: its client had been given up, or a predecessor stored it.
        if (handed) release(k);
        return;
    }
    if (book_.adopt(*b, handed) != nullptr) {
        ++counts_.blocks;
        counts_.bytes += b->shape.bytes;
    } else {
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
            raise_job_event(client, e.index, e.iteration);
            return;
        case scope::node: {
            auto& seen = signals_seen_[e.index];
            ++seen[client];
            segment_.page(client).signals_done.fetch_add(1, std::memory_order_relaxed);
            uint64_t all = UINT64_MAX;
            for (uint32_t c = 0; c < seen.size(); ++c)
                if (book_.is_live(c) || c == client) all = std::min(all, seen[c]);
            while (node_fired_[e.index] < all) {
                ++node_fired_[e.index];
                run_event(e.index, e.iteration, -1);
            }
        }
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
                adopt_block(client, i, table[i].sequence, true);
            else if (state == block_state::private_to_client)
                table[i].state.store(block_state::free, std::memory_order_release);
        }
        book_.client_ended(client, segment_.page(client).ended_through.load(std::memory_order_acquire));
        // Nobody reads its committed blocks any more.
        std::vector<iteration_book::key> own;
        for (const auto& [k, h] : book_.all())
            if (h.block.client == client) own.push_back(k);
        for (const iteration_book::key k : own) {
            book_.find(k)->handed = true;
            release_if_done(k);
        }
        segment_.page(client).dead.store(1, std::memory_order_release);
        ++counts_.dead_clients;
        note("rank " + std::to_string(book_.rank_of(client)) +
             " died; its complete iterations are stored, the others marked");
    }
    book_.client_left(client, closed ? iteration_book::leaving::closed : iteration_book::leaving::died);
}

/// A new server of an old segment: the states of the blocks tell what the dead one had been given.
void node_server::take_over() {
    counts_ = records_.saved_counts();
    counts_.finished = false;
    ++counts_.server_restarts;
    const int64_t stored = segment_.header().stored_through.load(std::memory_order_acquire);
    for (uint32_t c = 0; c < segment_.geometry().clients; ++c) {
        client_page& page = segment_.page(c);
        const uint64_t taken = page.signals_taken.load(std::memory_order_acquire);
        const uint64_t done = page.signals_done.load(std::memory_order_acquire);
        counts_.lost_signals += static_cast<int64_t>(taken - std::min(taken, done));
        page.signals_done.store(taken, std::memory_order_release);
        const auto table = segment_.table(c);
        for (uint32_t i = 0; i < table.size(); ++i) {
            const block_state state = table[i].state.load(std::memory_order_acquire);
            if (state != block_state::servers && state != block_state::shared_read) continue;
            auto b = check_block(segment_, data_, c, i);
            if (!b) {
                ++counts_.rejected_blocks;
                note("rejected: " + b.why().message);
                continue;
            }
            const bool handed = state == block_state::servers;
            const bool constant = !data_.variables[b->variable].time_varying;
            if (b->iteration <= stored && handed && !constant)
                release(iteration_book::key_of(c, i));
            else if (iteration_book::held* h = book_.adopt(*b, handed); h != nullptr)
                h->stored = b->iteration <= stored;
        }
        book_.client_ended(c, page.ended_through.load(std::memory_order_acquire));
        if (page.closed.load(std::memory_order_acquire) != 0) {
            gone_[c] = true;
            book_.client_left(c, iteration_book::leaving::closed);
        } else if (page.dead.load(std::memory_order_acquire) != 0) {
            gone_[c] = true;
            book_.client_left(c, iteration_book::leaving::died);
        }
    }
    for (uint32_t c = 0; c < gone_.size(); ++c) awaited_[c] = !gone_[c];
    awaited_until_ns_ = monotonic_ns() + 30'000'000'000;
    note("took over as server " + std::to_string(generation_) + " of this session");
    if (counts_.lost_signals > 0) note(std::to_string(counts_.lost_signals) + " signal(s) lost with its predecessors");
    progress_ = true;
}

/// Clients that died while there was no server join no more, and nobody sees them end.
void node_server::look_for_lost_clients() {
    for (uint32_t c = 0; c < awaited_.size(); ++c) {
        if (!awaited_[c] || gone_[c]) continue;
        const pid_t pid = segment_.page(c).pid.load(std::memory_order_acquire);
        const bool ended = ::kill(pid, 0) != 0 && errno == ESRCH;
        if (!ended && monotonic_ns() < awaited_until_ns_) continue;
        awaited_[c] = false;
        client_gone(c);
    }
}

/// Blocks that were spilled can be stored only once their clients have brought their files to this server.
bool node_server::spill_files_are_here() const {
    for (uint32_t c = 0; c < gone_.size(); ++c)
        if (!gone_[c] && !spill_files_[c] && segment_.page(c).spilled_blocks.load(std::memory_order_acquire) > 0)
            return false;
    return true;
}

// ---- actions -------------------------------------------------------------------------------------------------------

void node_server::raise_job_event(uint32_t client, uint32_t event_id, int64_t iteration) {
    if (job_ != nullptr) {
        raised_here_.push_back(client);
        job_->raise(event_id, iteration);
        return;
    }
    segment_.page(client).signals_done.fetch_add(1, std::memory_order_relaxed);
    ++counts_.lost_signals;
    if (told_lost_[event_id]) return;
    told_lost_[event_id] = true;
    note("event '" + data_.events[event_id].name +
         "' has scope 'job', and the server world is gone: it does not run any more");
}

void node_server::job_event_came(uint32_t event_id, int64_t iteration, bool own) {
    // What is raised here comes back in the same order.
    int raiser = -1;
    if (own && !raised_here_.empty()) {
        raiser = static_cast<int>(raised_here_.front());
        raised_here_.pop_front();
    }
    if (event_id >= data_.events.size()) {
        ++counts_.rejected_blocks;
        note("another server raised event number " + std::to_string(event_id) +
             ", which this configuration does not have");
        return;
    }
    job_events_.push_back({event_id, iteration, raiser});
    run_next_job_event();
}

/// With several threads the pool would run two of them at once, and in another order than on other nodes.
void node_server::run_next_job_event() {
    if (job_event_runs_ || job_events_.empty()) return;
    job_event_runs_ = true;
    const job_event e = job_events_.front();
    job_events_.pop_front();
    run_event(e.id, e.iteration, -1, [this, e] {
        if (e.raiser >= 0)
            segment_.page(static_cast<uint32_t>(e.raiser)).signals_done.fetch_add(1, std::memory_order_relaxed);
        job_event_runs_ = false;
        run_next_job_event();
    });
}

/// `done` is called by the loop after the actions.
void node_server::run_event(uint32_t event_id, int64_t iteration, int client, std::function<void()> done) {
    const event& e = data_.events[event_id];
    for (const uint32_t id : e.action_ids)
        if (data_.actions[id].type == "store")
            for (uint32_t s = 0; s < stores_.size(); ++s)
                if (data_.stores[s].name == data_.actions[id].store) flush_store(s);
    auto pinned = std::make_shared<std::vector<iteration_book::key>>();
    if (book_.knows(iteration))
        for (const iteration_book::key k : book_.at(iteration).blocks)
            if (iteration_book::held* h = book_.find(k);
                h != nullptr && (client < 0 || static_cast<int>(h->block.client) == client)) {
                ++h->pins;
                pinned->push_back(k);
            }
    auto views = std::make_shared<std::vector<block_view>>();
    auto spilled = std::make_shared<std::vector<std::vector<std::byte>>>();
    for (const iteration_book::key k : *pinned)
        if (auto v = view_of(*book_.find(k), *spilled)) views->push_back(*v);
    const int rank = client >= 0 ? book_.rank_of(static_cast<uint32_t>(client)) : -1;
    pool_->submit([this, event_id, iteration, client, rank, pinned, views, spilled, done = std::move(done)] {
        const auto outcome = actions_->run(data_.events[event_id], {iteration, rank, *views});
        tell([this, client, pinned, done, failed = !outcome.ok()] {
            if (failed) ++counts_.failed_actions;
            for (const iteration_book::key k : *pinned) {
                if (iteration_book::held* h = book_.find(k)) --h->pins;
                release_if_done(k);
            }
            if (client >= 0)
                segment_.page(static_cast<uint32_t>(client)).signals_done.fetch_add(1, std::memory_order_relaxed);
            if (done) done();
        });
    });
}

// ---- the loop
// --------------------------------------------------------------------------------------------------------

int node_server::run() {
    segment_header& h = segment_.header();
    h.state.store(server_state::running, std::memory_order_release);
    h.generation.store(generation_, std::memory_order_release);
    h.restart_claim.store(0, std::memory_order_release);
    segment_.announce_progress();
    int64_t spin_until = monotonic_ns() + data_.server.spin.count();
    while (true) {
        bool any = pop_events();
        any = read_inbox() || any;
        if (generation_ > 1) look_for_lost_clients();
        if (spill_files_are_here()) {
            complete_iterations();
            flush_wanted();
            relieve_pressure();
        }
        sync_if_wanted();
        rebuild_view_if_due(false);
        if (progress_) {
            progress_ = false;
            segment_.announce_progress();
        }
        if (drained() && wind_up()) return 0;
        if (any) {
            spin_until = monotonic_ns() + data_.server.spin.count();
            continue;
        }
        if (monotonic_ns() < spin_until) {
            cpu_relax();
            continue;
        }
        h.bell.prepare();
        const bool work = inbox_filled_.load(std::memory_order_acquire) ||
                          std::any_of(events_.begin(), events_.end(), [](const auto& r) { return !r.empty(); });
        if (work) {
            h.bell.cancel();
        } else {
            const int64_t slept = monotonic_ns();
            h.bell.sleep(next_timer_ns());
            counts_.idle_ns += monotonic_ns() - slept;
        }
        spin_until = monotonic_ns() + data_.server.spin.count();
    }
}

/// How long the loop may sleep: half a second at most, so that a missed wake-up of a dying client costs little.
int64_t node_server::next_timer_ns() const {
    int64_t longest = 500'000'000;
    if (view_dirty_ && !view_running_ && document_.node == 0)
        for (const store& s : data_.stores)
            longest = std::min(longest,
                               std::max<int64_t>(1'000'000, last_view_ns_ + s.view_interval.count() - monotonic_ns()));
    return longest;
}

bool node_server::drained() {
    for (uint32_t c = 0; c < gone_.size(); ++c)
        if (!gone_[c]) return false;
    complete_iterations();
    for (uint32_t s = 0; s < stores_.size(); ++s) flush_store(s);
    pool_->hurry();
    if (pool_->outstanding() > 0 || inbox_filled_.load(std::memory_order_acquire)) return false;
    return book_.open_iterations().empty();
}

/// True when the server may exit.
bool node_server::wind_up() {
    segment_header& h = segment_.header();
    if (h.state.load(std::memory_order_acquire) == server_state::running) {
        const bool all_synced =
            std::all_of(data_.stores.begin(), data_.stores.end(), [](const store& s) { return s.durable; });
        if (all_synced || h.durable_wanted.load() >= 0) {
            if (auto done = output_->sync(); !done) note(done.why().message);
            h.durable_through.store(h.stored_through.load());
        }
        if (job_ != nullptr) job_->finish();
        if (inbox_filled_.load(std::memory_order_acquire)) return false;  // job events that came meanwhile
        save_counts(true);
        h.state.store(server_state::drained, std::memory_order_release);
        segment_.announce_progress();
    }
    // The clients that closed in order say when; those that died, or chose not to wait, do not.
    bool somebody_waits = false;
    if (!data_.detach_at_close)
        for (uint32_t c = 0; c < gone_.size(); ++c)
            somebody_waits = somebody_waits || (peers_ != nullptr && peers_->is_connected(c));
    const uint32_t may_exit = h.may_exit.load(std::memory_order_acquire);
    if (may_exit == 0 && somebody_waits) return false;
    if (may_exit == 2 || (may_exit == 0 && document_.node == 0)) {
        // At the end everything there is, unless other nodes may still be at work.
        const auto writers = may_exit == 2 || document_.nodes == 1 ? std::vector<std::string>{} : all_writers();
        if (auto shown = output_->rebuild_views(writers); !shown) note("view: " + shown.why().message);
        save_counts(true);
    }
    h.state.store(server_state::finished, std::memory_order_release);
    segment_.announce_progress();
    return true;
}

void node_server::note(const std::string& message) {
    log_(message);
    if (counts_.messages.size() < 100) counts_.messages.push_back(message);
}

void node_server::save_counts(bool finished) {
    counts_.finished = finished;
    counts_.busy_ns = pool_->busy_ns();
    counts_.skipped_blocks = counts_.skipped_bytes = counts_.spilled_blocks = counts_.spilled_bytes = 0;
    counts_.inlined_blocks = counts_.inlined_bytes = 0;
    for (uint32_t c = 0; c < segment_.geometry().clients; ++c) {
        const client_page& page = segment_.page(c);
        counts_.skipped_blocks += static_cast<int64_t>(page.skipped_blocks.load());
        counts_.skipped_bytes += static_cast<int64_t>(page.skipped_bytes.load());
        counts_.spilled_blocks += static_cast<int64_t>(page.spilled_blocks.load());
        counts_.spilled_bytes += static_cast<int64_t>(page.spilled_bytes.load());
        counts_.inlined_blocks += static_cast<int64_t>(page.inlined_blocks.load());
        counts_.inlined_bytes += static_cast<int64_t>(page.inlined_bytes.load());
    }
    if (auto saved = records_.save(counts_); !saved) log_("counts: " + saved.why().message);
}

}  // namespace halcyon::offload
