// Events and their actions.

#include <algorithm>
#include <bit>

#include "base/clock.hpp"
#include "offload/server/node_server.hpp"

namespace halcyon::offload {

/// Code that ended a server would end each of its successors.
void node_server::put_aside_what_its_predecessor_died_in() {
    for (uint32_t id = 0; id < data_.actions.size(); ++id) {
        action_mark& mark = segment_.mark_of(id);
        if (mark.running.exchange(0, std::memory_order_relaxed) == 0) continue;
        mark.aside.store(1, std::memory_order_relaxed);
        note("action '" + data_.actions[id].name + "' is not run any more: server " + std::to_string(generation_ - 1) +
             " ended while it ran");
    }
}

/// `client`: -1 when an action raised it.
void node_server::raise_job_event(int client, uint32_t event_id, int64_t iteration) {
    if (job_ != nullptr) {
        raised_here_.push_back(client);
        job_->raise(event_id, iteration);
        return;
    }
    if (client >= 0) segment_.page(static_cast<uint32_t>(client)).signals_done.fetch_add(1, std::memory_order_relaxed);
    ++counts_.lost_signals;
    if (told_lost_[event_id]) return;
    told_lost_[event_id] = true;
    note("event '" + data_.events[event_id].name +
         "' has scope 'job', and the server world is gone: it does not run any more");
}

void node_server::job_event_came(uint32_t event_id, int64_t iteration, bool own) {
    ++job_events_taken_;
    // What is raised here comes back in the same order.
    int raiser = -1;
    if (own && !raised_here_.empty()) {
        raiser = raised_here_.front();
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
    tell_of_waiting_actions();
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
                if (data_.stores[s].name == data_.actions[id].store)
                    stores_[s].wanted = std::max(stores_[s].wanted, iteration);
    waiting_action next{event_id, iteration, client, {}, 0, std::move(done)};
    if (actions_->reads_blocks(e)) pin_blocks_for(next);
    waiting_actions_.push_back(std::move(next));
    run_waiting_actions();
    tell_of_waiting_actions();
}

/// What is in memory of the event's iteration stays there. Of a block in an early part the client may have reused the
/// bytes already.
void node_server::pin_blocks_for(waiting_action& action) {
    if (!book_.knows(action.iteration)) return;
    for (const iteration_book::key k : book_.at(action.iteration).blocks) {
        iteration_book::held* h = book_.find(k);
        // The entry may be another block's by now: what no store takes goes when its iteration is complete.
        if (h == nullptr || h->block.iteration != action.iteration) continue;
        if (action.client >= 0 && static_cast<int>(h->block.client) != action.client) continue;
        if (h->buried) {
            ++action.left_out;
            continue;
        }
        ++h->pins;
        action.pinned.push_back(k);
    }
    pinned_keys_ += action.pinned.size();
}

/// One thread is left to the files, however long the actions take; with a single one, files and actions take turns.
/// What was spilled is in memory only for actions that run.
void node_server::run_waiting_actions() {
    const auto at_once = static_cast<size_t>(std::max(1, data_.server.threads - 1));
    while (!waiting_actions_.empty() && running_actions_ < at_once) {
        auto next = std::make_shared<waiting_action>(std::move(waiting_actions_.front()));
        waiting_actions_.pop_front();
        ++running_actions_;
        auto views = std::make_shared<std::vector<block_view>>();
        auto spilled = std::make_shared<std::vector<std::vector<std::byte>>>();
        for (const iteration_book::key k : next->pinned)
            if (auto v = view_of(*book_.find(k), *spilled))
                views->push_back(*v);
            else
                ++next->left_out;
        counts_.unseen_blocks += static_cast<int64_t>(next->left_out);
        const int rank = next->client >= 0 ? book_.rank_of(static_cast<uint32_t>(next->client)) : -1;
        pool_->submit([this, next, rank, views, spilled] {
            const auto outcome =
                actions_->run(data_.events[next->event_id], {next->iteration, rank, *views, next->left_out});
            tell([this, next, outcome] { action_done(*next, outcome); });
        });
    }
}

void node_server::action_done(const waiting_action& ran, const result<void>& outcome) {
    --running_actions_;
    if (!outcome) {
        ++counts_.failed_actions;
        note(outcome.why().message);
    }
    pinned_keys_ -= ran.pinned.size();
    for (const iteration_book::key k : ran.pinned) {
        if (iteration_book::held* h = book_.find(k)) --h->pins;
        release_if_done(k);
    }
    if (ran.client >= 0)
        segment_.page(static_cast<uint32_t>(ran.client)).signals_done.fetch_add(1, std::memory_order_relaxed);
    if (ran.done) ran.done();
    run_waiting_actions();
}

/// Events that come faster than their actions run do not delay the simulation, but somebody should know.
void node_server::tell_of_waiting_actions() {
    const auto now = static_cast<int64_t>(waiting_actions_.size() + job_events_.size());
    if (now < notable_waiting_actions || now <= counts_.waiting_actions) return;
    const bool doubled =
        std::bit_width(static_cast<uint64_t>(now)) > std::bit_width(static_cast<uint64_t>(counts_.waiting_actions));
    counts_.waiting_actions = now;
    if (doubled)
        note(std::to_string(now) +
             " actions wait: events come faster than their actions run; blocks that these will read stay where they "
             "are");
    if (takes_events() || told_of_full_queue_) return;
    told_of_full_queue_ = true;
    note("no event is taken from the clients until some of these actions have run");
}

}  // namespace halcyon::offload
