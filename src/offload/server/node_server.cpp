#include "offload/server/node_server.hpp"

#include <algorithm>
#include <chrono>
#include <future>
#include <utility>

#include "base/clock.hpp"
#include "offload/model/unstored.hpp"
#include "offload/server/doze.hpp"
#include "offload/server/transfer_slots.hpp"
#include "offload/store/file_name.hpp"

namespace halcyon::offload {
namespace {

/// How often clients hear of a server that does what takes long.
constexpr std::chrono::milliseconds heartbeat{250};

/// Where nobody hands in anything else.
std::unique_ptr<turn> turns_of(const model& data, const session_document& document) {
    if (data.server.turns != turns::transfer_slots) return std::make_unique<no_turns>();
    return std::make_unique<transfer_slots>(document.node, document.nodes);
}

}  // namespace

node_server::node_server(launch l, opened o)
    : data_(std::move(o.data)),
      document_(std::move(l.document)),
      segment_(std::move(l.shared)),
      generation_(l.generation),
      has_own_core_(l.has_own_core),
      peers_(l.peers),
      log_(std::move(l.log)),
      output_(std::move(o.output)),
      inbox_(segment_.header().bell),
      progress_(segment_),
      journal_(segment_, log_, std::move(o.records), inbox_, pool_, data_->server.threads),
      losses_(segment_, journal_),
      clients_(segment_, generation_),
      spill_files_(clients_.size()),
      book_(*data_, document_.client_ranks, journal_.stored_through() + 1),
      held_(segment_, *data_, book_, clients_, spill_files_, journal_, progress_),
      pending_(data_->stores.size()),
      actions_(
          segment_, *data_,
          {{records_directory(*data_, document_.directory), document_.node, document_.nodes, log_}, generation_, l.job},
          book_, held_, pending_, journal_, inbox_, pool_),
      signals_(segment_, *data_, book_, actions_, journal_),
      blocks_(segment_, *data_, generation_, book_, held_, spill_files_, journal_, losses_),
      steering_(segment_, *data_, document_, clients_, journal_, log_),
      events_(segment_, *data_, book_, clients_, blocks_, held_, signals_, actions_, steering_, journal_, progress_),
      takeover_(segment_, *data_, generation_, book_, clients_, spill_files_, held_, blocks_, signals_, events_,
                actions_, journal_, progress_),
      turns_(std::move(l.turns)),
      found_(std::move(l.found)),
      view_(*data_, document_.node, document_.nodes, *output_, journal_, inbox_, pool_),
      assembly_(*data_, book_, held_, journal_, losses_),
      settlement_(segment_, *data_, book_, held_, pace_, view_, journal_, losses_, progress_),
      files_(*data_, *turns_, book_, *output_, assembly_, settlement_, journal_, losses_, inbox_, pool_),
      sharing_(*data_, l.files, book_, *output_, assembly_, settlement_, pending_, files_, journal_, losses_, inbox_),
      schedule_(segment_, *data_, clients_, book_, held_, pending_, *turns_, pace_, assembly_, settlement_, files_,
                sharing_, *output_, journal_, pool_),
      durability_(segment_, *data_, book_, *output_, journal_, losses_, progress_, inbox_, pool_),
      pool_(data_->server.threads),
      world_(std::move(o.world)) {}

result<std::unique_ptr<node_server>> node_server::start(launch l) {
    if (auto possible = world_membership::check(l.data, l.job, l.files, l.generation > 1); !possible)
        return possible.why();
    world_membership world(l.job, l.files);
    auto data = std::make_unique<const model>(std::move(l.data));
    auto records = run_records::open(records_directory(*data, l.document.directory), l.document.writer, l.document.run);
    if (!records) return records.why();
    auto output = output_writer::open(*data, l.document.directory, l.document.writer, l.document.ranks, l.document.run);
    if (!output) return output.why();
    if (!l.turns) l.turns = turns_of(*data, l.document);
    std::unique_ptr<node_server> s(
        new node_server(std::move(l), {std::move(data), std::move(*records), std::move(*output), std::move(world)}));
    if (auto loaded = s->actions_.load_modules(s->document_.directory); !loaded) return loaded.why();
    if (s->generation_ > 1)
        s->takeover_.run();
    else
        s->warn_of_configuration();
    s->sharing_.begin();
    s->actions_.join_job(s->document_.nodes);
    for (const std::string& remark : s->turns_->take_remarks()) s->journal_.note(remark);
    s->journal_.save();
    return s;
}

void node_server::warn_of_configuration() {
    if (const std::string unstored = unstored_warning(*data_); !unstored.empty()) journal_.note(unstored);
    for (const variable& v : data_->variables)
        if (v.compression == compression::zstd)
            journal_.note("variable '" + v.name +
                          "' is compressed with zstd: its readers need the HDF5 plugin for filter 32015");
}

void node_server::client_joined(uint32_t client) {
    inbox_.tell([this, client] { clients_.joined(client); });
}
void node_server::client_ended(uint32_t client) {
    inbox_.tell([this, client] {
        clients_.fell_silent(client);
        events_.client_gone(client);
    });
}
void node_server::client_brought_spill(uint32_t client, descriptor file) {
    inbox_.tell([this, client, fd = std::make_shared<descriptor>(std::move(file))] {
        if (!spill_files_.bring(client, std::move(*fd)))
            journal_.note("the spill file of rank " + std::to_string(book_.rank_of(client)) +
                          " could not be taken: this process has no descriptor left (ulimit -n)");
    });
}

void node_server::steered(const steering::peer& from, std::shared_ptr<const std::string> message) {
    inbox_.tell([this, from, text = std::move(message)] { steering_.take(from, *text); });
}
void node_server::steerer_left(const steering::peer& gone) {
    inbox_.tell([this, gone] { steering_.forget(gone); });
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
    const int64_t spin_ns = data_->server.spin.count();
    int64_t spin_until = monotonic_ns() + spin_ns;
    while (true) {
        const bool any = work_once();
        if (drained() && wind_up()) return 0;
        if (any) {
            spin_until = monotonic_ns() + spin_ns;
            continue;
        }
        if (monotonic_ns() < spin_until) {
            cpu_relax();
            continue;
        }
        restate();
        const int64_t fell_asleep = monotonic_ns();
        const int64_t dozes = has_own_core_ ? doze_ns(fell_asleep, pace_.last_ns(), pace_.estimate_ns()) : 0;
        h.bell.prepare(dozes > 0);
        if (somebody_rang()) {
            h.bell.cancel();
        } else {
            h.bell.sleep(dozes > 0 ? std::min(dozes, next_timer_ns()) : next_timer_ns());
            journal_.add_sleep(monotonic_ns() - fell_asleep);
        }
        spin_until = dozes > 0 ? 0 : monotonic_ns() + spin_ns;
    }
}

/// True: there were events or news.
bool node_server::work_once() {
    segment_.header().heartbeats.fetch_add(1, std::memory_order_relaxed);
    bool any = events_.pop();
    any = inbox_.read() || any;
    for (const uint32_t c : clients_.take_lost()) events_.client_gone(c);
    if (spill_files_.are_here(clients_)) {
        schedule_.complete_iterations();
        schedule_.flush_wanted();
        sharing_.offer_what_is_ready();
        schedule_.relieve_pressure();
    }
    durability_.sync_if_wanted();
    view_.rebuild_if_due();
    progress_.announce();
    return any;
}

/// Words of the segment that are this server's to write, and for which clients wait: somebody may have written over
/// them.
void node_server::restate() {
    journal_.restate();
    auto& act = segment_.header().act;
    if (act.load(std::memory_order_relaxed) != server_act::serving)
        act.store(server_act::serving, std::memory_order_release);
    events_.restate();
}

/// Everything that clients and other threads ring for, looked at once more after the loop said that it is about to
/// sleep: whoever wrote before that did not see it asleep.
bool node_server::somebody_rang() {
    return inbox_.has_news() || events_.has_events() || wishes_.have_changed(segment_);
}

/// How long the loop may sleep: half a second at most, so that a missed wake-up of a dying client costs little.
int64_t node_server::next_timer_ns() const {
    return view_.due_in_ns(sharing_.due_in_ns(500'000'000));
}

bool node_server::drained() {
    if (!clients_.are_all_gone() || !spill_files_.are_here(clients_)) return false;
    schedule_.complete_iterations();
    schedule_.flush_all();
    pool_.hurry();
    if (sharing_.has_offers() || !pending_.empty()) return false;
    if (!actions_.empty() || !files_.empty() || pool_.outstanding() > 0 || inbox_.has_news()) return false;
    return book_.open_iterations().empty();
}

/// Under the policy inline a client is a writer, too.
std::set<std::string> node_server::dead_writers() const {
    std::set<std::string> dead;
    for (uint32_t c = 0; c < clients_.size(); ++c)
        if (segment_.page(c).dead.load() != 0) dead.insert(client_writer(book_.rank_of(c)));
    return dead;
}

/// True when the server may exit.
bool node_server::wind_up() {
    segment_header& h = segment_.header();
    if (h.state.load(std::memory_order_acquire) == server_state::running && !come_to_rest()) return false;
    // The clients that closed in order say when; those that died, or chose not to wait, do not.
    bool somebody_waits = false;
    if (!data_->detach_at_close)
        for (uint32_t c = 0; c < clients_.size(); ++c)
            somebody_waits = somebody_waits || (peers_ != nullptr && peers_->is_connected(c));
    const uint32_t may_exit = h.may_exit.load(std::memory_order_acquire);
    if (may_exit == 0 && somebody_waits) return false;
    // At the end everything there is, unless other nodes may still be at work.
    if (may_exit == 2 || (may_exit == 0 && document_.node == 0)) show_at_end(may_exit == 2 || document_.nodes == 1);
    output_->release_directories();
    h.state.store(server_state::finished, std::memory_order_release);
    segment_.announce_progress();
    return true;
}

/// Everything is stored. False: other servers of the job have sent more to do.
bool node_server::come_to_rest() {
    if (durability_.is_wanted_at_end()) {
        result<void> outcome;
        at_length(server_act::syncing_at_end, [&] { outcome = durability_.sync_files(); });
        durability_.synced(journal_.stored_through(), outcome);
    }
    world_.leave_files();
    if (!world_.finish(actions_.job_events_taken())) return false;
    steering_.end();
    found_.reset();
    losses_.look_for_files(*output_);
    output_->remove_halves_of(dead_writers());
    result<void> saved = journal_.save_last(output_->ended_short());
    if (takeover_.count_lines_lost_with_predecessors()) saved = journal_.save_last(output_->ended_short());
    if (!saved) losses_.counts_unsaved(saved.why());
    // Of the others nothing is written from here on, and nobody waits until they are gone.
    if (document_.node != 0) output_->release_directories();
    segment_.header().state.store(server_state::drained, std::memory_order_release);
    segment_.announce_progress();
    return true;
}

void node_server::show_at_end(bool of_all) {
    result<int64_t> shown = int64_t{0};
    at_length(server_act::showing_at_end, [&] { shown = view_.rebuild_at_end(of_all); });
    view_.tell_of(shown, output_->new_view_remarks());
    // Clients know by now; the counts that are there lack no more than words about the view.
    static_cast<void>(journal_.save_last(output_->ended_short()));
}

/// Does what takes as long as the storage likes on a thread of the pool, and meanwhile tells the clients of a server
/// that lives.
void node_server::at_length(server_act act, const std::function<void()>& work) {
    segment_header& h = segment_.header();
    h.act.store(act, std::memory_order_relaxed);
    std::packaged_task<void()> task(work);
    std::future<void> over = task.get_future();
    pool_.submit([&task] { task(); });
    while (over.wait_for(heartbeat) != std::future_status::ready) h.heartbeats.fetch_add(1, std::memory_order_relaxed);
    h.act.store(server_act::serving, std::memory_order_relaxed);
    over.get();
}

}  // namespace halcyon::offload
