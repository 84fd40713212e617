#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "coordinate/coordinator/effects.hpp"
#include "coordinate/coordinator/forecast_trust.hpp"
#include "coordinate/coordinator/link_speed.hpp"
#include "coordinate/coordinator/mean_speed.hpp"
#include "coordinate/coordinator/moved_alone.hpp"
#include "coordinate/coordinator/turn.hpp"
#include "coordinate/estimates/recent_mean.hpp"
#include "coordinate/protocol/fields.hpp"
#include "coordinate/protocol/messages.hpp"
#include "policy/application.hpp"

namespace halcyon::coordinate {

inline constexpr double never = std::numeric_limits<double>::infinity();
/// Sums of bytes stop here: no message may tell of more.
inline constexpr int64_t most_bytes_together = most_bytes;

/// One node of a job, or one of several mounts of that node. Where a time is one of hearing, its name says so: see
/// hearing_clock.
struct agent {
    uint64_t id = 0;  ///< never used again; stays when the agent comes back by another connection
    std::string node;
    uint64_t mount = 0;
    connection_id connection = 0;  ///< 0: lost
    int64_t processes = 1;
    int64_t nodes = 1;
    double stale_by_heard_s = never;  ///< lost, or back and has not told its phase again: then that is forgotten

    std::optional<inform> phase;  ///< as told last, progress included; begun and ended by the job
    bool size_told = false;       ///< bytes or time that were left of the phase, once at least
    bool bytes_told = false;      ///< likewise bytes
    // By the work of the application (job::worked_s): while it waits, its end comes no nearer.
    double left_told_worked_s = 0;    ///< when its left_s was told
    double bytes_told_worked_s = 0;   ///< likewise bytes_left
    double ran_out_worked_s = never;  ///< when nothing was left any more of what was told
    double reported_s = 0;            ///< begin of the interval that its next `progress` is about
    double over_until_s = 0;          ///< up to when its reports have told, by the intervals that it named
    link_speed speed;
    mean_speed alone{10};  ///< while no other application moved
    struct {
        double since_s = -1;
        mean_speed speed{1};
    } beside;                 ///< since exactly those applications move that do
    double phase_told_s = 0;  ///< its begin
    uint64_t lease = 0;       ///< that it was told of, and has not given back
    /// Of the latest `standing`, unless it is known that the agent has heard it; else 0. A release may have been sent
    /// before that: then it does not give that lease back.
    uint64_t unheard_fence = 0;
    int64_t granted_bytes = 0;
    int64_t unused_bytes = 0;  ///< of them
    int64_t under_way = 0;     ///< calls, as told last

    std::optional<expect> next;  ///< its next phase
    double next_told_s = 0;

    /// What has moved, by a report, where exactly those move since then that do.
    void note_beside(const begun_bytes::moved& moved, double movers_since_s, double now_s);
    /// After the phase has changed: whether anything is left of what was told.
    void note_left(double worked_s);

    double wait_told_s = -1;  ///< `wait::expected_s`; negative: none told
    double wait_told_at_s = 0;
};

/// One application.
struct job {
    uint64_t id = 0;
    std::string name;
    std::string secret;
    uint32_t user = 0;
    std::string account;
    uint32_t account_key = 0;
    double account_weight = 1;
    /// In ascending order of their numbers.
    std::vector<agent> agents;

    turn has;                                    ///< its turn
    int64_t others_told = 0;                     ///< under this turn: that move, too
    bool takes_itself_for_the_only_one = false;  ///< likewise: it came as a standing turn
    policy::movement state = policy::movement::computing;
    double since_s = 0;            ///< in this state
    double arrived_s = 0;          ///< begin of the phase of the application
    double arrived_heard_s = 0;    ///< likewise
    double begun_s = -1;           ///< when its latest phase was told; negative: none was yet
    recent_mean between_starts;    ///< times from one of these to the next
    double waited_s = 0;           ///< before the turn that it has
    int64_t moved_bytes = 0;       ///< in this phase
    double moved_heard_s = 0;      ///< when bytes moved last, or the turn began
    double busy_heard_s = -never;  ///< when calls were last under way that need more time for the bytes told
    double turn_heard_s = 0;       ///< when the turn began
    double recalled_s = 0;         ///< when its turn was called back last
    double charged_s = 0;          ///< up to when its turn is in the ledgers
    bool counted_mover = false;    ///< moves(), as learning knows it
    int64_t others = 0;            ///< movers that share storage with it, while it is one
    /// That its agents have told in this phase, in ascending order; none: all targets. Agents keep no lists.
    std::vector<uint32_t> targets;

    forecast_trust trust;
    double worked_s = 0;     ///< in this phase
    double worked_at_s = 0;  ///< up to when that counts
    double speed = 0;        ///< by the latest report, as far as that is believed (hear_speed); 0: not known
    struct {
        double alone_bytes_per_s = 0;    ///< of others that had it for themselves
        double alone_processes = 0;      ///< of these, by their time
        double alone_nodes = 0;          ///< likewise
        double fastest_bytes_per_s = 0;  ///< of the fastest of them, as if that were as large as this one
        double most_bytes_per_s = 0;     ///< that one of them has ever had, whatever its size
        double bytes_per_s = 0;          ///< that it can bear
    } storage;                           ///< as known at the latest decision; 0: not known
    double slow_since_s = never;         ///< beside others; never: it is not (storage_limit)
    bool fills_storage = false;          ///< seen beside others, and has not moved alone since
    double demand_decided_by = 1;        ///< most_demand() then
    bool proven = false;                 ///< has moved bytes in a turn that ended well
    bool excused = false;                ///< it lost its last turn without fault, and has told no bytes under one since
    uint32_t penalties = 0;              ///< turns that it lost by its own fault
    double penalized_s = 0;
    double barred_until_s = 0;  ///< waits until then if anybody else wants the storage

    /// Of one of `agents`, as told; also where it was in one before.
    void begin_phase(agent& one, const inform& what);
    /// Also where it was in none.
    void end_phase(agent& one);
    [[nodiscard]] bool in_phase() const { return in_phase_ > 0; }
    [[nodiscard]] int64_t agents_in_phase() const { return in_phase_; }
    [[nodiscard]] bool connected() const;
    /// An agent may move, or begin to, under the turn.
    [[nodiscard]] bool has_lease_out() const;
    [[nodiscard]] bool calls_under_way() const;
    /// A phase of an agent is forecast.
    [[nodiscard]] bool expects_phase() const;
    /// Has a turn and a phase, also while it is being stopped.
    [[nodiscard]] bool moves() const { return has.any() && in_phase(); }
    /// Work done counts up to now.
    void work(double now_s);
    /// worked_s as it will be after work().
    [[nodiscard]] double worked_until(double now_s) const;
    /// That its agent tells, relative to the speed alone.
    void hear_speed(double told);
    /// Work counts up to now by the speed told last, and by no other one until the next is told.
    void forget_speed(double now_s) {
        work(now_s);
        speed = 0;
    }
    /// Computed from turn and phases.
    [[nodiscard]] policy::movement state_now() const;
    [[nodiscard]] int64_t processes() const;
    [[nodiscard]] int64_t nodes() const;
    [[nodiscard]] int64_t bytes_left() const;
    /// Of all its nodes; 0: not known of all of them.
    [[nodiscard]] double bytes_per_s() const;
    /// Of those of which it is known.
    [[nodiscard]] double known_bytes_per_s() const;
    /// Likewise, since exactly those applications move that do; none: too little is known of a node that moves.
    [[nodiscard]] std::optional<double> bytes_per_s_beside(double movers_since_s) const;
    struct alone_speed {
        double bytes_per_s = 0;
        double seconds = 0;  ///< that it is about, of the node that is known least; 0: not known
        [[nodiscard]] bool is_known() const { return seconds >= moved_alone::known_after_s; }
        /// Nodes that have moved bytes in the phase; else those not known count as the others, or not yet.
        bool of_all = true;
    };
    /// Of the nodes in the phase, while nobody else moved; of all nodes between phases.
    [[nodiscard]] alone_speed alone(double now_s) const;
    /// What all its agents amount to. There may be thousands, and each report is of one: so reports go by a look at all
    /// of them that was a moment ago.
    struct sums {
        alone_speed alone;
        double bytes_per_s = 0;
        double known_bytes_per_s = 0;
        int64_t processes = 1;
        int64_t nodes = 1;
        int64_t in_phase = 1;  ///< agents
        bool calls_under_way = false;
        std::optional<double> beside_bytes_per_s;
        double beside_since_s = -1;
        /// As bytes_per_s_beside(), of an application that has told nothing since then, too.
        [[nodiscard]] std::optional<double> beside(double movers_since_s) const {
            if (beside_since_s == movers_since_s) return beside_bytes_per_s;
            return calls_under_way ? std::nullopt : std::optional(0.0);
        }
    };
    static constexpr double between_looks_s = 0.1;
    /// True: it looked; false: the last look was a moment ago, in the same phase. `movers_since_s`: since when exactly
    /// those applications move that do.
    bool look(double now_s, double movers_since_s);
    [[nodiscard]] const sums& lately() const { return lately_; }
    [[nodiscard]] uint64_t looks() const { return looks_; }
    /// A phase begins.
    void look_again() { looked_s_ = -never; }
    /// Likewise, by the mean of what others did; 0: nobody moved alone yet.
    [[nodiscard]] double usual_by_others() const;
    /// Its turn was called back meanwhile: some of its processes had stopped, and the others moved the rest, so that it
    /// was slower than the storage is.
    [[nodiscard]] bool stopped_within(const begun_bytes::moved& moved, double now_s) const;
    /// At most the share of the storage that it takes alone, by its speeds; 1: nobody knows.
    [[nodiscard]] double most_demand(double now_s) const;
    /// Time that the phase still needs without others, as believed; negative: not known.
    [[nodiscard]] double left_s(double now_s) const;
    /// As a decision sees it. Clears and fills `into`, so that its memory is used again.
    void describe(policy::application& into, double now_s) const;

  private:
    int64_t in_phase_ = 0;  ///< agents: of thousands, each begins its phase and ends it
    sums lately_;
    double looked_s_ = -never;
    uint64_t looks_ = 0;

    [[nodiscard]] double part_of_each() const;
    [[nodiscard]] double fastest_by_others() const;
    [[nodiscard]] double speed_by_others() const;
    [[nodiscard]] double speed_alone(const alone_speed& usual) const;
    [[nodiscard]] double slowed_down(const alone_speed& usual) const;
    [[nodiscard]] double not_told(double now_s) const;
    void describe_next(policy::application& into, double now_s) const;
};

}  // namespace halcyon::coordinate
