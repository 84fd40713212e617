// Events and their actions.

#include <algorithm>

#include "base/clock.hpp"
#include "offload/server/node_server.hpp"

namespace halcyon::offload {

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
        tell([this, client, pinned, done, outcome] {
            if (!outcome) {
                ++counts_.failed_actions;
                note(outcome.why().message);
            }
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

}  // namespace halcyon::offload
