#include "offload/server/action_queue.hpp"

#include <algorithm>
#include <bit>
#include <memory>
#include <utility>

namespace halcyon::offload {

action_queue::action_queue(const segment& shared, const model& data, surroundings where, iteration_book& book,
                           held_blocks& held, pending_iterations& pending, journal& notes, inbox& news,
                           worker_pool& workers)
    : segment_(shared),
      data_(data),
      generation_(where.generation),
      job_(where.job),
      book_(book),
      held_(held),
      pending_(pending),
      journal_(notes),
      inbox_(news),
      pool_(workers),
      runner_(data,
              [this, &where] {
                  action_runner::surroundings of_runner = std::move(where.actions);
                  of_runner.raise_job = [this](uint32_t id, int64_t iteration) {
                      inbox_.tell([this, id, iteration] { raise_in_job(-1, id, iteration); });
                      return job_ != nullptr;
                  };
                  of_runner.mark_of = [this](uint32_t id) { return &segment_.mark_of(id); };
                  return of_runner;
              }()),
      told_lost_(data.events.size(), false) {}

result<void> action_queue::load_modules(const std::string& working_directory) {
    return runner_.load_modules(working_directory);
}

void action_queue::join_job(int servers) {
    if (job_ == nullptr) return;
    job_->begin(servers);
    job_->on_event([this](uint32_t id, int64_t iteration, bool own) {
        inbox_.tell([this, id, iteration, own] { job_event_came(id, iteration, own); });
    });
}

void action_queue::put_aside_what_ended_the_last_server() {
    for (uint32_t id = 0; id < data_.actions.size(); ++id) {
        action_mark& mark = segment_.mark_of(id);
        if (mark.running.exchange(0, std::memory_order_relaxed) == 0) continue;
        mark.aside.store(1, std::memory_order_relaxed);
        journal_.note("action '" + data_.actions[id].name + "' is not run any more: server " +
                      std::to_string(generation_ - 1) + " ended while it ran");
    }
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
    for (const uint32_t id : e.action_ids)
        if (data_.actions[id].type == "store")
            for (uint32_t s = 0; s < data_.stores.size(); ++s)
                if (data_.stores[s].name == data_.actions[id].store) pending_.want(s, iteration);
    entry next{event_id, iteration, client, {}, 0, std::move(done)};
    if (runner_.reads_blocks(e)) pin_blocks_for(next);
    waiting_.push_back(std::move(next));
    begin_waiting();
    tell_of_backlog();
}

/// What is in memory of the event's iteration stays there. Of a block in an early part the client may have reused the
/// bytes already.
void action_queue::pin_blocks_for(entry& e) {
    if (!book_.knows(e.iteration)) return;
    for (const iteration_book::key k : book_.at(e.iteration).blocks) {
        const iteration_book::held* h = book_.find(k);
        // The entry may be another block's by now: what no store takes goes when its iteration is complete.
        if (h == nullptr || h->block.iteration != e.iteration) continue;
        if (e.client >= 0 && static_cast<int>(h->block.client) != e.client) continue;
        if (h->buried) {
            ++e.left_out;
            continue;
        }
        book_.pin(k);
        e.pinned.push_back(k);
    }
    pinned_ += e.pinned.size();
}

/// One thread is left to the files, however long the actions take; with a single one, files and actions take turns.
/// What was spilled is in memory only for actions that run.
void action_queue::begin_waiting() {
    const auto at_once = static_cast<size_t>(std::max(1, data_.server.threads - 1));
    while (!waiting_.empty() && running_ < at_once) {
        auto next = std::make_shared<entry>(std::move(waiting_.front()));
        waiting_.pop_front();
        ++running_;
        auto views = std::make_shared<std::vector<block_view>>();
        auto spilled = std::make_shared<std::vector<std::vector<std::byte>>>();
        for (const iteration_book::key k : next->pinned)
            if (auto v = held_.view_of(*book_.find(k), *spilled))
                views->push_back(*v);
            else
                ++next->left_out;
        journal_.add(&run_counts::unseen_blocks, static_cast<int64_t>(next->left_out));
        const int rank = next->client >= 0 ? book_.rank_of(static_cast<uint32_t>(next->client)) : -1;
        pool_.submit([this, next, rank, views, spilled] {
            const auto outcome =
                runner_.run(data_.events[next->event_id], {next->iteration, rank, *views, next->left_out});
            inbox_.tell([this, next, outcome] { finished(*next, outcome); });
        });
    }
}

void action_queue::finished(const entry& ran, const result<void>& outcome) {
    --running_;
    if (!outcome) {
        journal_.add(&run_counts::failed_actions);
        journal_.note(outcome.why().message);
    }
    pinned_ -= ran.pinned.size();
    for (const iteration_book::key k : ran.pinned) {
        book_.unpin(k);
        held_.give_back_if_done(k);
    }
    count_done(ran.client);
    if (ran.done) ran.done();
    begin_waiting();
}

/// Events that come faster than their actions run do not delay the simulation, but somebody should know.
void action_queue::tell_of_backlog() {
    const auto now = static_cast<int64_t>(waiting_.size() + job_events_.size());
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
