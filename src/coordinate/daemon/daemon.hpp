#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/event_loop.hpp"
#include "coordinate/configuration/coordinators.hpp"
#include "coordinate/coordinator/coordinator.hpp"
#include "coordinate/daemon/clients.hpp"
#include "coordinate/daemon/fault_report.hpp"
#include "coordinate/daemon/listener.hpp"
#include "coordinate/daemon/log.hpp"
#include "coordinate/daemon/metrics_server.hpp"
#include "coordinate/daemon/metrics_text.hpp"
#include "coordinate/daemon/signals.hpp"
#include "coordinate/election/election.hpp"
#include "coordinate/fencing/epoch.hpp"

namespace halcyon::coordinate {

/// Runs the coordinator of one file system: owns its sockets, tells the state machine what came, does what that returns
/// and wakes in time. Everything is on one thread, but for the checks of TCP peers.
///
/// Each round reads whatever is there, from each client in turn, and only then has the state machine decide, so that
/// nobody is taken for silent whose messages lie unread. A flood of messages delays heartbeats and decisions by some
/// 50 ms at most: then the round goes on, and those that were not read are in the next one.
///
/// Four times a second it looks whether the files of its Unix sockets are still there, and makes them anew where they
/// are not.
///
/// SIGTERM and SIGINT end it. SIGHUP has it read its configuration again: a wrong one changes nothing; another one than
/// before begins a new epoch, in which clients connect again and show their leases, as if the daemon had been
/// restarted.
///
/// Where daemons are elected, one that does not lead has no state machine: it answers each client where to go. A term
/// begins like a restart. One that ends leaves nothing behind.
class daemon : client_handler {
  public:
    /// The configuration, read again at each call.
    using source = std::function<result<coordinator_entry>()>;

    /// Failure: an address cannot be listened at, a limit is too low, or no epoch is to be had.
    static result<std::unique_ptr<daemon>> start(source configuration, int log_to);
    ~daemon() override;

    /// Until a signal ends it.
    result<void> run();

    /// Where it listens, with ports that the system chose.
    [[nodiscard]] std::vector<socket_address> addresses() const;

  private:
    daemon(source configuration, coordinator_entry entry, std::unique_ptr<event_loop> loop, int log_to);

    bool came(connection_id id, const peer_identity& who) override;
    void said(connection_id id, std::string_view line) override;
    void waits(connection_id id) override;
    void said_too_much(connection_id id) override;
    void went(connection_id id) override;

    /// Those of `entry`, of which some may be open already. Failure: nothing has changed.
    result<void> open_listeners(const coordinator_entry& entry);
    result<std::unique_ptr<metrics_server>> open_metrics(const service& reached);
    void begin_epoch(const epoch_source::epoch& epoch);
    void end_epoch();
    result<void> start_election();
    void end_election();
    [[nodiscard]] std::string own_address() const;
    void follow_election();
    void step_down(const char* reason, bool was_lost);
    [[nodiscard]] bool may_speak() const;
    /// Without an election at once; else as soon as it is elected again.
    result<void> renew_epoch();
    [[nodiscard]] settings settings_within_limits();

    void look_after_doors(int64_t now_ns);
    result<void> read_all();
    void tell_gone();
    void carry_out(const effects& todo);
    void say(const effects::outgoing& one);
    void reload();
    result<void> take_over(coordinator_entry entry);
    result<void> take_over_elected(coordinator_entry entry, bool same_settings);
    void send_on(connection_id id);
    [[nodiscard]] counts counted() const;
    std::string metrics();

    source configuration_;
    coordinator_entry entry_;
    daemon_counts counted_;
    log log_;
    fault_report faults_;
    std::unique_ptr<event_loop> loop_;
    std::unique_ptr<signals> signals_;
    std::unique_ptr<epoch_source> epochs_;  ///< null: elections give them
    std::unique_ptr<election> election_;    ///< null: this daemon is the only one
    event_loop::watch election_watch_ = event_loop::watch::none;
    election::standing elected_;
    uint64_t led_epoch_ = 0;                ///< of the latest term that this daemon has taken up
    std::unique_ptr<coordinator> machine_;  ///< null: another daemon leads
    std::unique_ptr<clients> clients_;      ///< before the listeners: they hand over to it
    std::vector<std::unique_ptr<listener>> listeners_;
    std::unique_ptr<metrics_server> metrics_;
    std::map<std::string, double, std::less<>> counted_before_;
    std::map<policy::reason, uint64_t> decided_before_;
    std::vector<connection_id> came_in_vain_;  ///< while another daemon leads
    std::vector<connection_id> gone_;          ///< while effects are carried out
    bool carrying_out_ = false;
    bool all_read_ = true;  ///< in this round, of all that had sent anything
    double wake_at_s_ = 0;
    int64_t begin_ns_ = 0, looked_after_listeners_ns_ = 0;
    bool has_files_ = true;  ///< of sockets, that somebody may delete
};

}  // namespace halcyon::coordinate
