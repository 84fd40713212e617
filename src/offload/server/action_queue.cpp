#include "offload/server/action_queue.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace halcyon::offload {

action_queue::action_queue(const segment& shared, const model& data, surroundings where, iteration_book& book,
                           held_blocks& held, const parameter_values& parameters, pending_iterations& pending,
                           journal& notes, inbox& news, worker_pool& workers)
    : segment_(shared),
      data_(data),
      log_(std::move(where.log)),
      job_(where.job),
      book_(book),
      held_(held),
      parameters_(parameters),
      pending_(pending),
      journal_(notes),
      inbox_(news),
      pool_(workers),
      lanes_(shared, data, book, held, notes, news),
      told_lost_(data.events.size(), false) {
    lanes_.on_raise([this](uint32_t id, int64_t iteration) { raise_in_job(-1, id, iteration); });
}

result<void> action_queue::begin_plugins(plugin_host* host, plugin_host::surroundings where) {
    const bool any = std::any_of(data_.actions.begin(), data_.actions.end(),
                                 [](const action& a) { return a.is_plugin() && !a.run_inline; });
    if (!any) return {};
    if (host == nullptr) return failure{error_kind::internal, "this server has nothing to run plugins in", 0};
    where.ended_idle = [this](uint32_t id, const std::string& why) {
        inbox_.tell([this, id, why] { lanes_.ended_idle(id, why); });
    };
    if (auto begun = host->begin(std::move(where)); !begun) return begun;
    lanes_.use(host, job_ != nullptr);
    return {};
}

void action_queue::join_job(int servers) {
    if (job_ == nullptr) return;
    job_->begin(servers);
    job_->on_event([this](uint32_t id, int64_t iteration, bool own) {
        inbox_.tell([this, id, iteration, own] { job_event_came(id, iteration, own); });
    });
}

void action_queue::count_done(int client) {
    if (client >= 0) segment_.page(static_cast<uint32_t>(client)).signals_done.fetch_add(1, std::memory_order_relaxed);
}

// ---- events of scope job --------------------------------------------------------------------------------------------

void action_queue::raise_in_job(int client, uint32_t event_id, int64_t iteration) {
    if (job_ != nullptr) {
        raised_here_.push_back(client);
        job_->raise(event_id, iteration);
        return;
    }
    count_done(client);
    journal_.add(&run_counts::lost_signals);
    if (told_lost_[event_id]) return;
    told_lost_[event_id] = true;
    journal_.note("event '" + data_.events[event_id].name +
                  "' has scope 'job', and the server world is gone: it does not run any more");
}

void action_queue::job_event_came(uint32_t event_id, int64_t iteration, bool own) {
    ++job_events_taken_;
    // What is raised here comes back in the same order.
    int raiser = -1;
    if (own && !raised_here_.empty()) {
        raiser = raised_here_.front();
        raised_here_.pop_front();
    }
    if (event_id >= data_.events.size()) {
        journal_.add(&run_counts::rejected_blocks);
        journal_.note("another server raised event number " + std::to_string(event_id) +
                      ", which this configuration does not have");
        return;
    }
    job_events_.push_back({event_id, iteration, raiser});
    run_next_job_event();
    tell_of_backlog();
}

/// With several threads the pool would run two of them at once, and in another order than on other nodes.
void action_queue::run_next_job_event() {
    if (job_event_runs_ || job_events_.empty()) return;
    job_event_runs_ = true;
    const job_event e = job_events_.front();
    job_events_.pop_front();
    run(e.id, e.iteration, -1, [this, e] {
        count_done(e.raiser);
        job_event_runs_ = false;
        run_next_job_event();
    });
}

// ---- all events -----------------------------------------------------------------------------------------------------

void action_queue::run(uint32_t event_id, int64_t iteration, int client, std::function<void()> done) {
    const event& e = data_.events[event_id];
    bool sees_blocks = false;
    for (const uint32_t id : e.action_ids) {
        const action& a = data_.actions[id];
        sees_blocks = sees_blocks || (a.is_plugin() && !a.run_inline);
        if (a.type != "store") continue;
        for (uint32_t s = 0; s < data_.stores.size(); ++s)
            if (data_.stores[s].name == a.store) pending_.want(s, iteration);
    }
    auto next = std::make_shared<entry>(entry{{event_id, iteration, client, {}, {}, 0, {}}, std::move(done)});
    if (sees_blocks) {
        pin_blocks_for(next->what);
        next->what.parameters = parameters_.of(client, iteration);
    }
    ++open_;
    go_on(next, true);
    tell_of_backlog();
}

/// What is in memory of the event's iteration stays there. Of a block in an early part the client may have reused the
/// bytes already.
void action_queue::pin_blocks_for(action_occasion& what) {
    if (book_.knows(what.iteration))
        for (const iteration_book::key k : book_.at(what.iteration).blocks) {
            const iteration_book::held* h = book_.find(k);
            // The entry may be another block's by now: what no store takes goes when its iteration is complete.
            if (h == nullptr || h->block.iteration != what.iteration) continue;
            if (what.client >= 0 && static_cast<int>(h->block.client) != what.client) continue;
            if (h->buried)
                ++what.left_out;
            else
                what.blocks.push_back(k);
        }
    for (const iteration_book::key k : book_.constants()) {
        const iteration_book::held* h = book_.find(k);
        if (h == nullptr || h->buried || h->block.iteration >= what.iteration) continue;
        if (what.client < 0 || static_cast<int>(h->block.client) == what.client) what.once.push_back(k);
    }
    for (const auto* keys : {&what.blocks, &what.once})
        for (const iteration_book::key k : *keys) book_.pin(k);
    pinned_ += what.blocks.size() + what.once.size();
}

/// To the next action of an event, or to its end. By way of the pool or of a lane: no event ends within run().
void action_queue::go_on(const std::shared_ptr<entry>& e, bool from_run) {
    const std::vector<uint32_t>& actions = data_.events[e->what.event_id].action_ids;
    for (; e->next_action < actions.size(); ++e->next_action) {
        const uint32_t id = actions[e->next_action];
        const action& a = data_.actions[id];
        if (a.run_inline || a.type == "store") continue;
        if (!a.is_plugin()) {
            from_run = true;
            break;
        }
        ++e->next_action;
        // The lane knows the event as long as it is in it.
        lanes_.run(id, {e, &e->what}, [this, e] { go_on(e, false); });
        return;
    }
    if (!from_run) return finished(*e);
    lines_waiting_.push_back(e);
    write_waiting_lines();
}

/// One thread is left to the files, however long a line takes; with a single one, files and lines take turns.
void action_queue::write_waiting_lines() {
    const auto at_once = static_cast<size_t>(std::max(1, data_.server.threads - 1));
    while (!lines_waiting_.empty() && lines_under_way_ < at_once) {
        const std::shared_ptr<entry> next = std::move(lines_waiting_.front());
        lines_waiting_.pop_front();
        ++lines_under_way_;
        const event& e = data_.events[next->what.event_id];
        const bool is_over = next->next_action >= e.action_ids.size();
        if (!is_over) ++next->next_action;
        const int client = next->what.client;
        const int rank = client >= 0 ? book_.rank_of(static_cast<uint32_t>(client)) : -1;
        pool_.submit([this, next, is_over, rank, &e] {
            if (!is_over)
                log_("event '" + e.name + "' iteration " + std::to_string(next->what.iteration) +
                     (rank >= 0 ? " from rank " + std::to_string(rank) : std::string()));
            inbox_.tell([this, next, is_over] {
                --lines_under_way_;
                is_over ? finished(*next) : go_on(next, false);
                write_waiting_lines();
            });
        });
    }
}

void action_queue::finished(const entry& ran) {
    --open_;
    pinned_ -= ran.what.blocks.size() + ran.what.once.size();
    for (const auto* keys : {&ran.what.blocks, &ran.what.once})
        for (const iteration_book::key k : *keys) {
            book_.unpin(k);
            held_.give_back_if_done(k);
        }
    count_done(ran.what.client);
    if (ran.done) ran.done();
}

/// Events that come faster than their actions run do not delay the simulation, but somebody should know.
void action_queue::tell_of_backlog() {
    const auto now = static_cast<int64_t>(waiting() + job_events_.size());
    const int64_t most = journal_.counts().waiting_actions;
    if (now < notable || now <= most) return;
    const bool doubled = std::bit_width(static_cast<uint64_t>(now)) > std::bit_width(static_cast<uint64_t>(most));
    journal_.set(&run_counts::waiting_actions, now);
    if (doubled)
        journal_.note(std::to_string(now) +
                      " actions wait: events come faster than their actions run; blocks that these will read stay "
                      "where they are");
    if (takes_events() || told_of_full_queue_) return;
    told_of_full_queue_ = true;
    journal_.note("no event is taken from the clients until some of these actions have run");
}

}  // namespace halcyon::offload
