#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "offload/actions/action_runner.hpp"
#include "offload/model/model.hpp"
#include "offload/segment/segment.hpp"
#include "offload/server/held_blocks.hpp"
#include "offload/server/inbox.hpp"
#include "offload/server/iteration_book.hpp"
#include "offload/server/job_events.hpp"
#include "offload/server/journal.hpp"
#include "offload/server/pending_iterations.hpp"
#include "offload/server/worker_pool.hpp"

namespace halcyon::offload {

/// Events that were raised and whose actions wait or run, in the order in which they came; the blocks that an action
/// will read are pinned until it has run. Events of scope job run one after the other, in the order that all servers
/// share.
///
/// Threads: the event loop alone calls it. Actions run on the pool, and what became of them comes back through the
/// inbox; so do events that an action raises, and job events, which arrive on a thread of their implementation.
class action_queue {
  public:
    struct surroundings {
        action_runner::surroundings actions;  ///< without `raise_job` and `mark_of`, which the queue knows
        uint32_t generation = 1;
        job_events* job = nullptr;  ///< null: the server is alone
    };
    action_queue(const segment& shared, const model& data, surroundings where, iteration_book& book, held_blocks& held,
                 pending_iterations& pending, journal& notes, inbox& news, worker_pool& workers);

    /// As action_runner::load_modules().
    result<void> load_modules(const std::string& working_directory);
    /// Takes part in the events of the job, as one of `servers`.
    void join_job(int servers);
    /// Code that ended a server would end each of its successors: it is not run any more.
    void put_aside_what_ended_the_last_server();

    /// Runs an event's actions when their turn comes. `client`: who raised it, or -1. `done` is called by the loop
    /// after the actions.
    void run(uint32_t event_id, int64_t iteration, int client, std::function<void()> done = {});
    /// Raises an event of scope job; `client`: -1 when an action raised it.
    void raise_in_job(int client, uint32_t event_id, int64_t iteration);

    /// False while so much waits that clients should send no more: then the rings fill up, and clients wait.
    [[nodiscard]] bool takes_events() const {
        return waiting_.size() + job_events_.size() + raised_here_.size() < most_waiting && pinned_ < most_pinned;
    }
    /// No action waits for its turn.
    [[nodiscard]] bool empty() const { return waiting_.empty(); }
    [[nodiscard]] int64_t job_events_taken() const { return job_events_taken_; }

    static constexpr size_t most_waiting = 1U << 16;
    static constexpr size_t most_pinned = 1U << 22;  ///< as well: 32 MiB of keys
    static constexpr int64_t notable = 64;           ///< fewer that wait are nothing that needs to be said

  private:
    struct entry {
        uint32_t event_id;
        int64_t iteration;
        int client;                               ///< that raised it, or -1
        std::vector<iteration_book::key> pinned;  ///< blocks that it will read
        size_t left_out;                          ///< blocks that it would read, if they were still in memory
        std::function<void()> done;
    };
    struct job_event {
        uint32_t id;
        int64_t iteration;
        int raiser;  ///< client of this node, -1: another node, or an action
    };
    void pin_blocks_for(entry& e);
    void begin_waiting();
    void finished(const entry& ran, const result<void>& outcome);
    void tell_of_backlog();
    void job_event_came(uint32_t event_id, int64_t iteration, bool own);
    void run_next_job_event();
    void count_done(int client);

    const segment& segment_;
    const model& data_;
    uint32_t generation_;
    job_events* job_;
    iteration_book& book_;
    held_blocks& held_;
    pending_iterations& pending_;
    journal& journal_;
    inbox& inbox_;
    worker_pool& pool_;
    action_runner runner_;

    std::deque<entry> waiting_;
    size_t running_ = 0;
    size_t pinned_ = 0;                 ///< keys of all actions that wait or run
    std::deque<int> raised_here_;       ///< raisers of the job events that are on their way
    std::deque<job_event> job_events_;  ///< in the common order
    bool job_event_runs_ = false;
    int64_t job_events_taken_ = 0;
    bool told_of_full_queue_ = false;
    std::vector<bool> told_lost_;  ///< [event]: the log says that it cannot run
};

}  // namespace halcyon::offload
