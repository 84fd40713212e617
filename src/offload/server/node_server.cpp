#include "offload/server/node_server.hpp"

#include <algorithm>
#include <future>
#include <utility>

#include "base/clock.hpp"
#include "offload/model/unstored.hpp"
#include "offload/output/node_counts.hpp"
#include "offload/server/doze.hpp"

namespace halcyon::offload {

namespace {

/// How often clients hear of a server that does what takes long.
constexpr std::chrono::milliseconds heartbeat{250};

failure needs_world(const std::string& what, const std::string& otherwise) {
    return {error_kind::config,
            what +
                " needs all servers of the job in one server world; start the simulation with "
                "`halcyon run --servers-per-node 1 -- …`, or " +
                otherwise,
            0};
}

}  // namespace

node_server::node_server(launch l)
    : data_(std::move(l.data)),
      document_(std::move(l.document)),
      segment_(std::move(l.shared)),
      generation_(l.generation),
      has_own_core_(l.has_own_core),
      peers_(l.peers),
      log_(std::move(l.log)),
      job_(l.job),
      files_(l.files),
      book_(data_, document_.client_ranks, segment_.header().ledger.read().stored_through + 1),
      slot_(data_.server.transfer_slots, document_.node, document_.nodes),
      stored_through_(book_.next_to_complete() - 1) {
    const segment_geometry& g = segment_.geometry();
    for (uint32_t c = 0; c < g.clients; ++c) {
        events_.emplace_back(segment_.events(c), g.event_slots);
        returns_.emplace_back(segment_.returns(c), g.return_slots);
    }
    spill_files_.resize(g.clients);
    gone_.assign(g.clients, false);
    spills_.assign(g.clients, false);
    spill_lost_.assign(g.clients, false);
    silent_.assign(g.clients, false);
    awaited_.assign(g.clients, true);
    first_block_ = first_blocks(data_);
    told_lost_.assign(data_.events.size(), false);
    stores_.resize(data_.stores.size());
}

node_server::~node_server() {
    if (files_ != nullptr) files_->leave();
    if (job_ != nullptr) job_->on_event({});
}

result<std::unique_ptr<node_server>> node_server::start(launch l) {
    // A server that takes over from one of a world has no world, but the blocks have to be stored.
    for (const event& e : l.data.events)
        if (e.scope == scope::job && l.job == nullptr && l.generation == 1)
            return needs_world(e.scope_where + ": 'job'", "use scope 'node'");
    for (const store& kept : l.data.stores)
        if (kept.collective && l.files == nullptr && l.job != nullptr)
            return failure{error_kind::config,
                           kept.collective_where +
                               ": this halcyon-server-world was built without an HDF5 for its MPI; build "
                               "Halcyon with one, or leave it out: the view shows the files of all nodes as one",
                           0};
    for (const store& kept : l.data.stores)
        if (kept.collective && l.files == nullptr && l.generation == 1)
            return needs_world(kept.collective_where + ": a file that all servers write together",
                               "leave it out: the view shows the files of all nodes as one");
    std::unique_ptr<node_server> s(new node_server(std::move(l)));
    const std::string directory = records_directory(s->data_, s->document_.directory);
    auto records = run_records::open(directory, s->document_.writer, s->document_.run);
    if (!records) return records.why();
    auto output = output_writer::open(s->data_, s->document_.directory, s->document_.writer, s->document_.ranks,
                                      s->document_.run);
    if (!output) return output.why();
    s->output_ = std::move(*output);
    s->actions_ = std::make_unique<action_runner>(
        s->data_, action_runner::surroundings{
                      directory, s->document_.node, s->document_.nodes, s->log_,
                      [server = s.get()](uint32_t id, int64_t iteration) {
                          server->tell([server, id, iteration] { server->raise_job_event(-1, id, iteration); });
                          return server->job_ != nullptr;
                      },
                      [server = s.get()](uint32_t id) { return &server->segment_.mark_of(id); }});
    if (auto loaded = s->actions_->load_modules(s->document_.directory); !loaded) return loaded.why();
    s->pool_ = std::make_unique<worker_pool>(s->data_.server.threads);
    s->recorder_ = std::make_unique<worker_pool>(1);
    s->records_ = std::make_unique<records_writer>(
        std::move(*records), *s->recorder_, [server = s.get()](const result<void>& saved) {
            server->tell([server, saved] { server->say_whether_saved(saved); });
        });
    s->begin_ns_ = monotonic_ns();
    if (s->generation_ > 1)
        s->take_over();
    else
        s->warn_of_configuration();
    s->begin_sharing();
    if (s->job_ != nullptr) {
        s->job_->begin(s->document_.nodes);
        s->job_->on_event([server = s.get()](uint32_t id, int64_t iteration, bool own) {
            server->tell([server, id, iteration, own] { server->job_event_came(id, iteration, own); });
        });
    }
    s->save_counts();
    return s;
}

void node_server::warn_of_configuration() {
    if (const std::string unstored = unstored_warning(data_); !unstored.empty()) note(unstored);
    for (const variable& v : data_.variables)
        if (v.compression == compression::zstd)
            note("variable '" + v.name +
                 "' is compressed with zstd: its readers need the HDF5 plugin for filter 32015");
}

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
    tell([this, client] {
        silent_[client] = true;
        client_gone(client);
    });
}
void node_server::client_brought_spill(uint32_t client, descriptor file) {
    tell([this, client, fd = std::make_shared<descriptor>(std::move(file))] {
        spill_files_[client] = std::move(*fd);
        spill_lost_[client] = !spill_files_[client];
        if (spill_lost_[client])
            note("the spill file of rank " + std::to_string(book_.rank_of(client)) +
                 " could not be taken: this process has no descriptor left (ulimit -n)");
    });
}

int node_server::run() {
    segment_header& h = segment_.header();
    h.state.store(server_state::running, std::memory_order_release);
    const tenure claimed = h.tenure.load();
    if (claimed.generation != generation_ || !h.tenure.change(claimed, claimed.in_service())) {
        static_cast<void>(log_("another server was appointed: this one ends"));
        return 1;
    }
    segment_.announce_progress();
    int64_t spin_until = monotonic_ns() + data_.server.spin.count();
    while (true) {
        h.heartbeats.fetch_add(1, std::memory_order_relaxed);
        bool any = pop_events();
        any = read_inbox() || any;
        look_for_lost_clients();
        if (spill_files_are_here()) {
            complete_iterations();
            flush_wanted();
            for (uint32_t s = 0; s < stores_.size(); ++s) offer_if_ready(s);
            relieve_pressure();
        }
        sync_if_wanted();
        rebuild_view_if_due();
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
        restate();
        const int64_t fell_asleep = monotonic_ns();
        const int64_t dozes = has_own_core_ ? doze_ns(fell_asleep, slot_.last_ns(), slot_.estimate_ns()) : 0;
        h.bell.prepare(dozes > 0);
        if (somebody_rang()) {
            h.bell.cancel();
        } else {
            h.bell.sleep(dozes > 0 ? std::min(dozes, next_timer_ns()) : next_timer_ns());
            slept_ns_ += monotonic_ns() - fell_asleep;
        }
        spin_until = dozes > 0 ? 0 : monotonic_ns() + data_.server.spin.count();
    }
}

/// Everything that clients and other threads ring for, looked at once more after the loop said that it is about to
/// sleep: whoever wrote before that did not see it asleep.
bool node_server::somebody_rang() {
    if (inbox_filled_.load(std::memory_order_acquire)) return true;
    if (takes_events())
        for (const auto& ring : events_)
            if (!ring.empty()) return true;
    return wishes_.have_changed(segment_);
}

/// How long the loop may sleep: half a second at most, so that a missed wake-up of a dying client costs little.
int64_t node_server::next_timer_ns() const {
    int64_t longest = 500'000'000;
    for (const store_state& s : stores_)
        if (s.not_before_ns > 0 && !s.pending.empty())
            longest = std::min(longest, std::max<int64_t>(1'000'000, s.not_before_ns - monotonic_ns()));
    if (view_dirty_ && !view_running_ && document_.node == 0)
        longest = std::min(longest, std::max<int64_t>(1'000'000, last_view_ns_ + view_pause_ns() - monotonic_ns()));
    return longest;
}

bool node_server::drained() {
    for (uint32_t c = 0; c < gone_.size(); ++c)
        if (!gone_[c]) return false;
    if (!spill_files_are_here()) return false;
    complete_iterations();
    for (uint32_t s = 0; s < stores_.size(); ++s) flush_store(s);
    pool_->hurry();
    for (const store_state& s : stores_)
        if (s.offered || !s.pending.empty()) return false;
    if (!waiting_actions_.empty() || !waiting_files_.empty() || pool_->outstanding() > 0 ||
        inbox_filled_.load(std::memory_order_acquire))
        return false;
    return book_.open_iterations().empty();
}

/// Under the policy inline a client is a writer, too.
std::set<std::string> node_server::dead_writers() const {
    std::set<std::string> dead;
    for (uint32_t c = 0; c < gone_.size(); ++c)
        if (segment_.page(c).dead.load() != 0) dead.insert(client_writer(book_.rank_of(c)));
    return dead;
}

/// True when the server may exit.
bool node_server::wind_up() {
    segment_header& h = segment_.header();
    if (h.state.load(std::memory_order_acquire) == server_state::running) {
        const bool all_synced =
            std::all_of(data_.stores.begin(), data_.stores.end(), [](const store& s) { return s.durable; });
        if (all_synced || h.durable_wanted.load() >= 0) {
            result<void> outcome;
            at_length(server_act::syncing_at_end, [&] { outcome = output_->sync(clients_that_stored()); });
            synced(stored_through_, outcome);
        }
        if (files_ != nullptr) files_->leave();
        if (job_ != nullptr && !job_->finish(job_events_taken_)) return false;
        look_for_lost_files();
        output_->remove_halves_of(dead_writers());
        result<void> saved = save_last_counts();
        if (count_lines_lost_with_predecessors()) saved = save_last_counts();
        if (!saved) tell_of_unsaved_counts(saved.why());
        // Of the others nothing is written from here on, and nobody waits until they are gone.
        if (document_.node != 0) output_->release_directories();
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
        result<int64_t> shown = int64_t{0};
        at_length(server_act::showing_at_end, [&] { shown = output_->rebuild_views(writers); });
        if (!shown) note("view: " + shown.why().message);
        for (const std::string& remark : output_->new_view_remarks()) note("view: " + remark);
        // Clients know by now; the counts that are there lack no more than words about the view.
        static_cast<void>(save_last_counts());
    }
    output_->release_directories();
    h.state.store(server_state::finished, std::memory_order_release);
    segment_.announce_progress();
    return true;
}

/// Does what takes as long as the storage likes on a thread of the pool, and meanwhile tells the clients of a server
/// that lives.
void node_server::at_length(server_act act, const std::function<void()>& work) {
    segment_header& h = segment_.header();
    h.act.store(act, std::memory_order_relaxed);
    std::packaged_task<void()> task(work);
    std::future<void> over = task.get_future();
    pool_->submit([&task] { task(); });
    while (over.wait_for(heartbeat) != std::future_status::ready) h.heartbeats.fetch_add(1, std::memory_order_relaxed);
    h.act.store(server_act::serving, std::memory_order_relaxed);
    over.get();
}

/// The last look: what was stored is there, or is said not to be.
void node_server::look_for_lost_files() {
    tell_of_lost(output_->look_for_lost_directories());
    const auto missing = output_->missing_files();
    if (!missing) return note("what was stored cannot be looked over: " + missing.why().message);
    if (*missing == 0) return;
    counts_.lost_files += *missing;
    note(std::to_string(*missing) + " file(s) of this server were deleted or moved while the run went on");
}

/// What was counted outlives this server from here on.
void node_server::write_ledger() {
    segment_.header().ledger.write({stored_through_, counts_});
}

void node_server::note(const std::string& message) {
    write_ledger();
    const auto logged = log_(message);
    const auto count = [this](std::string text) {
        if (counts_.messages.size() < 100) counts_.messages.push_back(std::move(text));
    };
    count(message);
    if (logged || std::exchange(told_of_log_, true)) return;
    count("the log cannot be written: " + logged.why().message);
}

void node_server::sum_up(bool finished) {
    counts_.finished = finished;
    counts_.busy_ns = earlier_busy_ns_ + pool_->busy_ns() + shared_ns_;
    // The loop sleeps while the pool works, too: idle is only what no thread had work for.
    counts_.idle_ns =
        earlier_idle_ns_ + std::max<int64_t>(0, data_.server.threads * slept_ns_ - pool_->busy_ns() - shared_ns_);
    count_clients(segment_, counts_);
    write_ledger();
}

void node_server::save_counts() {
    sum_up(false);
    records_->save(counts_);
}

result<void> node_server::save_last_counts() {
    sum_up(true);
    const bool said = records_->unsaved();
    // Known from the last view alone, and none of what successors count on from.
    run_counts last = counts_;
    last.incomplete_iterations += output_->ended_short();
    auto saved = records_->save_now(last);
    if (saved.ok() == said) say_whether_saved(saved);
    return saved;
}

void node_server::say_whether_saved(const result<void>& saved) {
    if (saved) return static_cast<void>(log_("counts are saved again"));
    note("counts cannot be saved, and are tried again after each file: " + saved.why().message);
}

/// A server that is killed takes records with it that had not been written. Each iteration that a client ended has a
/// line; a client that died may not have said so of its last one. True: some are lost.
bool node_server::count_lines_lost_with_predecessors() {
    if (generation_ == 1) return false;
    int64_t expected = 0;
    for (uint32_t c = 0; c < gone_.size(); ++c) {
        const bool dead = segment_.page(c).dead.load(std::memory_order_acquire) != 0;
        expected += std::max<int64_t>(0, book_.ended_through(c) + (dead ? 0 : 1));
    }
    const int64_t known = records_->phase_lines() + records_->lost_lines() + counts_.lost_records;
    if (known >= expected) return false;
    counts_.lost_records += expected - known;
    note(std::to_string(expected - known) + " line(s) of the phases were lost with a server that was killed");
    return true;
}

}  // namespace halcyon::offload
