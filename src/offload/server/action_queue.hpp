#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "offload/actions/plugin_host.hpp"
#include "offload/model/model.hpp"
#include "offload/segment/segment.hpp"
#include "offload/server/action_occasion.hpp"
#include "offload/server/held_blocks.hpp"
#include "offload/server/inbox.hpp"
#include "offload/server/iteration_book.hpp"
#include "offload/server/job_events.hpp"
#include "offload/server/journal.hpp"
#include "offload/server/parameter_values.hpp"
#include "offload/server/pending_iterations.hpp"
#include "offload/server/plugin_lanes.hpp"
#include "offload/server/worker_pool.hpp"

namespace halcyon::offload {

/// Events that were raised and whose actions wait or run; the blocks that a plugin will read are pinned until the
/// event's actions have run. The actions of an event run one after the other, plugins each in the order of its events.
/// Events of scope job run one after the other, in the order that all servers share.
///
/// Threads: the event loop alone calls it. Lines of the log are written by the pool, plugins run in their host, and
/// what became of them comes back through the inbox; so do job events, which arrive on a thread of their
/// implementation.
class action_queue {
  public:
    struct surroundings {
        std::function<void(const std::string&)> log;  ///< writes one line
        job_events* job = nullptr;                    ///< null: the server is alone
    };
    action_queue(const segment& shared, const model& data, surroundings where, iteration_book& book, held_blocks& held,
                 const parameter_values& parameters, pending_iterations& pending, journal& notes, inbox& news,
                 worker_pool& workers);

    /// Starts the plugins, where the configuration has some. Failure: as plugin_host::begin(). `where`: without
    /// `ended_idle`, which the queue knows.
    result<void> begin_plugins(plugin_host* host, plugin_host::surroundings where);
    /// Takes part in the events of the job, as one of `servers`.
    void join_job(int servers);

    /// Runs an event's actions when their turn comes. `client`: who raised it, or -1. `done` is called by the loop
    /// after the actions.
    void run(uint32_t event_id, int64_t iteration, int client, std::function<void()> done = {});
    /// Raises an event of scope job; `client`: -1 when a plugin raised it.
    void raise_in_job(int client, uint32_t event_id, int64_t iteration);

    /// False while so much waits that clients should send no more: then the rings fill up, and clients wait.
    [[nodiscard]] bool takes_events() const {
        return waiting() + job_events_.size() + raised_here_.size() < most_waiting && pinned_ < most_pinned;
    }
    /// No action waits or runs.
    [[nodiscard]] bool empty() const { return open_ == 0; }
    [[nodiscard]] int64_t job_events_taken() const { return job_events_taken_; }

    static constexpr size_t most_waiting = 1U << 16;
    static constexpr size_t most_pinned = 1U << 22;  ///< as well: 32 MiB of keys
    static constexpr int64_t notable = 64;           ///< fewer that wait are nothing that needs to be said

  private:
    /// An event whose actions wait or run.
    struct entry {
        action_occasion what;
        std::function<void()> done;
        size_t next_action = 0;
    };
    struct job_event {
        uint32_t id;
        int64_t iteration;
        int raiser;  ///< client of this node, -1: another node, or a plugin
    };
    [[nodiscard]] size_t waiting() const { return lines_waiting_.size() + lanes_.waiting(); }
    void pin_blocks_for(action_occasion& what);
    bool pin(iteration_book::key k, const action_occasion& what);
    void go_on(const std::shared_ptr<entry>& e, bool from_run);
    void write_waiting_lines();
    void finished(const entry& ran);
    void tell_of_backlog();
    void job_event_came(uint32_t event_id, int64_t iteration, bool own);
    void run_next_job_event();
    void count_done(int client);

    const segment& segment_;
    const model& data_;
    std::function<void(const std::string&)> log_;
    job_events* job_;
    iteration_book& book_;
    held_blocks& held_;
    const parameter_values& parameters_;
    pending_iterations& pending_;
    journal& journal_;
    inbox& inbox_;
    worker_pool& pool_;
    plugin_lanes lanes_;

    size_t open_ = 0;                                   ///< entries that wait or run
    std::deque<std::shared_ptr<entry>> lines_waiting_;  ///< whose next action is a line of the log, or none
    size_t lines_under_way_ = 0;
    size_t pinned_ = 0;                 ///< keys of all entries
    std::deque<int> raised_here_;       ///< raisers of the job events that are on their way
    std::deque<job_event> job_events_;  ///< in the common order
    bool job_event_runs_ = false;
    int64_t job_events_taken_ = 0;
    bool told_of_full_queue_ = false;
    std::vector<bool> told_lost_;  ///< [event]: the log says that it cannot run
};

}  // namespace halcyon::offload
