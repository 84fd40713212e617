#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "coordinate/agent/agent_counts.hpp"
#include "coordinate/agent/first_bytes.hpp"
#include "coordinate/agent/held_lease.hpp"
#include "coordinate/agent/phase_history.hpp"
#include "coordinate/agent/stop_progress.hpp"
#include "coordinate/agent/told_bytes.hpp"
#include "coordinate/agent/told_expectation.hpp"
#include "coordinate/agent/told_rest.hpp"
#include "coordinate/agent/told_targets.hpp"
#include "coordinate/page/node_state.hpp"
#include "coordinate/page/permission.hpp"
#include "coordinate/protocol/messages.hpp"

namespace halcyon::coordinate {

/// What has to be done, in this order.
struct agent_effects {
    struct page_change {
        permission to = permission::closed;
        uint64_t stop_round = 0;
        std::optional<int64_t> bytes;  ///< of the lease, if it was renewed
        bool operator==(const page_change&) const = default;
    };
    struct told_wait {
        double expected_s = 0;
        std::vector<std::string> holders;
        int64_t in_phase = 0;  ///< jobs; 0: not known
    };
    std::optional<page_change> page;
    std::optional<told_wait> wait;         ///< for people
    std::optional<double> longest_wait_s;  ///< that a call may wait: it has become known, or has changed
    bool others_move = false;              ///< or may: for the page, whether or not that has changed
    bool lists_targets = false;            ///< the phase, as it was told: likewise
    bool targets_told = false;             ///< all of the phase that were observed
    std::vector<to_coordinator> messages;  ///< none while nobody is connected
    /// The processes must be looked at once more, now that the page has changed, and advance() be called again.
    bool look_again = false;
    /// What the node's caches hold of the job's files must reach the storage; then caches_clean().
    bool clean_caches = false;
    bool close = false;    ///< the connection
    double wake_at_s = 0;  ///< advance() must be called then at the latest, with what the processes do then
};

/// Takes the turns of one job on one node at one file system: a state machine without sockets, threads and clocks.
/// Whoever runs it tells it what came and what the processes do, and then does what advance() returns:
///
///     agent.received(message, now);                 whatever came
///     agent.observed(page.observe(0, agent.stop_round(), now_ns));
///     carry_out(agent.advance(now));
///
/// `now_s` is of a clock that does not step; an earlier time than before counts as the one before.
///
/// At `recall` all calls are held for the moment that it takes to read the highest round that was begun. Behind that
/// round they stay held until the coordinator names the round for all nodes: otherwise a writer could begin that round
/// before it is told. Rounds below go on. `stopped` is said when no call is under way that the stop allows, no
/// aggregator can begin one (or has not for `settings::behind_s`), and the caches are clean.
///
/// A phase ends in two steps of one turn: the page lets nothing begin under the lease any more; the processes are
/// looked at again; `release` is said if the phase is over still. A call that began before it could see that page was
/// counted before the look (page.hpp: process_part); one that comes later does not move. In either case the look sees
/// the call, unless it has ended: the page says again what it said, and the phase goes on under its lease. One look was
/// not enough: between that and the page, a call could begin under a turn that is given back.
///
/// Calls that are under way when a turn is lost go on beside others' turns: no turn is asked for, or kept, for them
/// alone. Some may never return.
///
/// What a phase uses of the storage is what its processes tell, all of them together; it uses all targets where one of
/// them does not tell, or moves bytes in calls alone. That only grows. But where everybody who had the turn has given
/// it back, and somebody asks for targets beyond those that it was for, the phase ends, and another one asks for its
/// turn in its place: these targets may be in use by others.
///
/// What lies in the caches is still moving. So a phase that has left more there than a quarter of a lease ends when
/// that has reached the storage, where other applications are registered; until then, calls go on under its lease.
class turn_agent {
  public:
    /// One that has waited for as long as any may gets its turn from the coordinator: it goes on by itself only when
    /// this has not come so long after the time that others have to stop.
    static constexpr double late_turn_s = 1;
    /// No coordinator makes a call wait longer, whatever times it tells: it may not be the one that it is taken for.
    static constexpr double most_believed_wait_s = 600;

    struct settings {
        registration job;            ///< what to say at first; the counts grow with the processes
        double patience_s = 1;       ///< silence of the coordinator after which I/O goes on unasked
        double pause_s = 0.01;       ///< the phase is over when nothing was moved or asked for so long
        double behind_s = 0.2;       ///< an aggregator that has begun nothing for so long waits for others that stopped
        double stop_look_s = 0.001;  ///< between looks while calls come to their end
    };
    turn_agent(settings how, double now_s);

    void connected(double now_s);
    void disconnected(double now_s);
    /// While there is no connection.
    void not_connected(const std::string& why);
    /// Whether it came from a coordinator that coordinates this agent, and so breaks its silence.
    bool received(const from_coordinator& message, double now_s);
    /// What was received last may have been said more than `lease_silence_s` ago, and not count any more: the lease,
    /// one that has come with it, too, is shown to the coordinator first.
    void came_late();
    void observed(const node_state& now);
    /// A message of advance() that could not be written. Of a phase, it is tried again after a heartbeat.
    void not_sent(const to_coordinator& message, const std::string& why);
    void caches_clean();
    /// A process has replaced the turn in the page: it must be written anew.
    void page_was_replaced() { shown_.reset(); }
    /// The job waits at another file system: a turn under which nothing was seen to move is given back in the next
    /// advance(), if nothing moves then. False: nothing comes of it.
    bool give_back_if_quiet();
    /// The job ends: a process that has the page and comes yet finds it closed.
    void withdraw() { withdraws_ = true; }
    /// It does not end: such a process has come. To be told while nobody is connected.
    void stay() { withdraws_ = false; }

    /// Valid until the next call.
    const agent_effects& advance(double now_s);

    [[nodiscard]] uint64_t stop_round() const { return stop_.round(); }
    /// A call, or a program that can do nothing else, waits for the turn. Who has only announced a phase does not.
    [[nodiscard]] bool waits() const {
        return in_phase_ && !lease_.any() && !silent_ && state_.waiting > state_.announced;
    }
    /// The phase is over, but for what is in the caches.
    [[nodiscard]] bool cleans_up() const { return cleans_up_; }
    [[nodiscard]] bool is_registered() const { return registered_; }
    [[nodiscard]] const agent_counts& counted() const { return counted_; }
    /// Why no coordinator gives turns at present, as far as it was said; "": not known, or one does.
    [[nodiscard]] const std::string& no_turn_reason() const { return no_turn_reason_; }
    /// Of the last one of `refusals`, `errors` and `unsent`.
    [[nodiscard]] const std::string& last_reason() const { return last_reason_; }
    /// Why there has been no connection since the last one; "": there is one, or no try has failed yet.
    [[nodiscard]] const std::string& connect_failure() const { return connect_failure_; }

  private:
    void heard(const registered& what);
    void heard(const refused& what);
    void heard(const error_report& what);
    void heard(const grant& what);
    void heard(const recall& what);
    void heard(const stop& what);
    void heard(const voided& what);
    void heard(const standing& what);
    void heard(const wait& what);
    void heard(const company& what);
    template <class Other>
    void heard(const Other&) {}

    void note_reason(const std::string& reason);
    void note_stale();
    void leave_coordinator();
    [[nodiscard]] bool is_new(uint64_t fence);
    void begin_lease(uint64_t lease, int64_t bytes, bool is_standing);
    void note_silence();
    void note_phases();
    void end_phase_if_over(bool active);
    [[nodiscard]] bool asks_for_other_targets() const;
    [[nodiscard]] bool leaves_in_caches() const;
    void clean_caches();
    [[nodiscard]] bool lets_begin() const;
    void end_phase();
    [[nodiscard]] int64_t phase_bytes() const;
    void say_all();
    [[nodiscard]] bool may_tell_phase() const;
    void say_registration();
    void say_phase();
    void say_progress();
    void keep_lease();
    [[nodiscard]] bool uses_turn() const { return in_phase_ && lease_.any() && !stop_.any(); }
    void say_expected();
    void stop_calls();
    void show();
    void say(to_coordinator message);
    [[nodiscard]] permission wanted() const;
    [[nodiscard]] double next_look_s() const;
    void estimate(int64_t& bytes_left, double& left_s);
    [[nodiscard]] bool is_alone() const { return lease_.is_alone() && !silent_; }

    settings how_;
    node_state state_;  ///< of the processes
    agent_counts counted_;
    agent_effects todo_, given_;
    phase_history history_;
    stop_progress stop_;
    double now_s_;

    // The coordinator.
    bool connected_ = false;
    bool registered_ = false;
    bool comes_back_ = false;  ///< nothing was heard yet over this connection
    bool silent_ = false;
    bool withdraws_ = false;
    std::string no_turn_reason_, last_reason_, connect_failure_;
    double heard_s_;
    double sent_s_ = 0;
    double heartbeat_s_ = 0.25;
    int64_t processes_told_ = 0;
    uint64_t epoch_ = 0;        ///< of the coordinator that has registered this agent
    uint64_t least_epoch_ = 0;  ///< that is believed

    // The phase.
    bool in_phase_ = false;
    bool informed_ = false;
    bool tells_again_ = false;  ///< it has come back in a phase, and the coordinator forgets that unless it hears of it
    bool is_unsent_ = false;    ///< the last `inform`
    uint64_t phase_ = 0;
    uint64_t known_phase_ = 0;  ///< that the coordinator was told of over this connection, up to date or not
    double active_s_ = 0;       ///< when something was last seen to move or wait
    double moved_s_ = 0;        ///< to move
    double asked_s_ = 0;        ///< of the last `inform`
    double stop_heard_s_ = 0;
    uint64_t stopped_lease_ = 0;  ///< of the last `stopped` over this connection
    int64_t phase_moved_ = 0;
    int64_t leased_bytes_ = 0;    ///< moved under leases, ever
    int64_t seen_bytes_ = 0;      ///< and unasked
    int64_t cleaned_bytes_ = 0;   ///< likewise, of which nothing is in the caches any more
    int64_t cleaning_bytes_ = 0;  ///< likewise, when they were last asked to be cleaned
    uint64_t seen_begun_ = 0;
    int64_t left_behind_ = 0;    ///< calls under way since a turn was lost with them
    bool cleans_up_ = false;     ///< at the end of the phase
    bool hands_back_ = false;    ///< when nothing moves
    bool closes_ = false;        ///< the page lets nothing begin, until the processes were looked at again
    told_expectation expected_;  ///< the next one
    told_rest told_rest_;
    told_targets targets_;

    // The lease.
    held_lease lease_;
    uint64_t phase_lease_ = 0;  ///< that the phase has, or had last
    uint64_t fence_ = 0;
    first_bytes first_;
    bool was_alone_ = false;  ///< since progress was told last
    told_bytes told_moved_;
    int64_t told_unasked_ = 0;
    double told_s_ = 0;

    std::optional<agent_effects::page_change> shown_;
};

}  // namespace halcyon::coordinate
