#pragma once

#include <poll.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/descriptor.hpp"
#include "insitu/protocol/worker_messages.hpp"
#include "insitu/workers/worker_process.hpp"
#include "offload/actions/plugin_host.hpp"

namespace halcyon::insitu {

/// One plugin's worker: what it is about, and how long it may be. Never waits.
///
///     absent ──start──▶ loading ──loaded──▶ starting ──ready──▶ idle ◀──done── running
///        ▲                                                       │ ──run──▶
///        └── its process ended ── from each ─────────────────── finishing ◀──finish
///
/// Used by one thread at a time; start() always by the same.
class plugin_seat {
  public:
    using task = offload::plugin_host::task;
    using outcome = offload::plugin_host::outcome;
    using teller = std::function<void(const outcome&)>;
    /// What all seats of a server have in common.
    struct surroundings {
        const offload::plugin_host::surroundings* of_host;
        const std::string* program;
        int document;
    };

    plugin_seat(uint32_t action_id, surroundings where);

    /// Starts a worker where one is wanted and absent.
    void start();
    /// Takes a run, of which there is none now; sends it where the worker waits for one.
    void take(task what, teller tell);
    /// The worker ends its plugin in order; one that has run nothing yet is ended at once.
    void finish();
    /// What the worker says, and whether its process has ended.
    void hear();
    /// Adds what hear() and send() wait for.
    void add_waits(std::vector<pollfd>& to) const;
    /// Ends a worker that has taken too long.
    void look_at_clock(int64_t now_ns);
    /// Sends what the socket has not taken before.
    void send();

    [[nodiscard]] bool wants_start() const { return state_ == state::absent && wanted_; }
    [[nodiscard]] bool is_absent() const { return state_ == state::absent; }
    /// There is something for the thread that starts and hears it.
    [[nodiscard]] bool needs_thread() const { return wants_start() || !outgoing_.empty() || process_.socket() < 0; }
    /// The first worker has loaded the plugin, or could not.
    [[nodiscard]] bool has_tried_to_load() const { return tried_to_load_; }
    /// Why it cannot be loaded (config), where that is so.
    [[nodiscard]] const std::optional<failure>& refused() const { return refused_; }
    [[nodiscard]] int64_t deadline_ns() const { return deadline_ns_; }
    [[nodiscard]] const std::vector<std::string>& complaints_at_end() const { return complaints_; }

  private:
    enum class state { absent, loading, starting, idle, running, finishing };
    [[nodiscard]] const offload::action& about() const { return where_.of_host->data->actions[action_id_]; }
    [[nodiscard]] std::string named() const { return "action '" + about().name + "'"; }
    bool handle(const received_message& m);
    void set_deadline();
    void send_run();
    template <class Message>
    bool put(Message m, std::vector<descriptor> descriptors = {});
    bool put_start();
    bool put_run(const task& what);
    void end(const std::string& why);
    void ended(const std::string& how);
    void over(const std::string& why);
    void tell(const outcome& what);

    uint32_t action_id_;
    surroundings where_;
    state state_ = state::absent;
    bool wanted_ = true;  ///< a worker; from the beginning, so that its start delays no run
    worker_process process_;
    std::vector<worker_process> dying_;  ///< that were killed, and nobody waits for them
    int64_t deadline_ns_ = 0;            ///< monotonic; 0: nobody waits for it
    std::deque<packet> outgoing_;
    std::set<uint32_t> spill_files_sent_;
    std::optional<std::pair<task, teller>> run_;
    bool tried_to_load_ = false, finalized_ = false;
    std::optional<failure> refused_;
    std::vector<std::string> complaints_;
};

/// Another descriptor of the same file or memory, by which nobody can write.
result<descriptor> reopened_read_only(int fd);

}  // namespace halcyon::insitu
