#pragma once

#include <utility>
#include <vector>

#include "coordinate/coordinator/arrival_order.hpp"
#include "coordinate/coordinator/decision_log.hpp"
#include "coordinate/coordinator/moved_alone.hpp"
#include "coordinate/coordinator/movers.hpp"
#include "coordinate/coordinator/outbox.hpp"
#include "coordinate/coordinator/registry.hpp"
#include "coordinate/coordinator/shares.hpp"
#include "coordinate/coordinator/side_by_side.hpp"
#include "coordinate/coordinator/turn_keeper.hpp"
#include "coordinate/coordinator/unasked_bytes.hpp"
#include "coordinate/coordinator/users.hpp"

namespace halcyon::coordinate {

/// Now, by the clock and by the hearing clock.
struct moment {
    double now_s = 0;
    double heard_s = 0;
};

/// The I/O phases of applications, as their agents tell them, and what is learnt of them: speeds, interference, how far
/// forecasts can be believed, what decisions have cost. Gives turns to nobody and takes them from nobody by itself: the
/// arbiter and the turn_watch do.
class phases {
  public:
    phases(const settings& how, uint64_t epoch, moment begin);

    void informed(registry& all, job& of, agent& by, const inform& what, moment at, outbox& out);
    void expects(registry& all, job& of, agent& by, const expect& what, moment at);
    void progressed(registry& all, job& of, agent& by, const progress& what, moment at, outbox& out);
    void answered(registry& all, job& of, agent& by, const stopping& what, moment at, outbox& out);
    void stopped(registry& all, job& of, agent& by, const coordinate::stopped& what, moment at, outbox& out);
    void released(registry& all, job& of, agent& by, const release& what, moment at, outbox& out);
    /// The agent is new, or has come back.
    void joins(job& of, agent& by, outbox& out) {
        turns_.repeat(of, by, out);
        changed_ = true;
        movers_.tell_again();
    }
    /// The agent leaves for good. `of` and `by` may be gone behind this.
    void leaves(registry& all, job& of, agent& by, moment at, outbox& out, users& by_user);

    /// Whatever anybody has, for good: this coordinator decides nothing any more.
    void void_all(registry& all, const char* reason, outbox& out);

    // For the turn_watch.
    /// The turn ends at once with all phases, and the agents are told so.
    void void_turn(registry& all, job& of, const char* reason, moment at, outbox& out);
    /// Phases of agents that were lost and have not told them again in time, and answers of those that are not back.
    /// The agents themselves stay.
    void forget_stale(registry& all, job& of, moment at, outbox& out);

    // For the arbiter.
    void grant(registry& all, job& to, moment at, outbox& out);
    /// `waited_s`: for so long somebody has waited for its storage.
    void recall(registry& all, job& from, double waited_s, moment at, outbox& out);
    void offer_standing(registry& all, job& to, moment at, outbox& out);
    /// To all that move, how many move beside them.
    void tell_others(registry& all, outbox& out) { movers_.tell(all, out); }
    /// After the start, while applications of the coordinator before this one come back.
    [[nodiscard]] bool relearning(moment at) const { return at.heard_s < relearn_until_heard_s_; }
    /// Something has changed since this was asked last: a decision is due.
    bool take_changed() { return std::exchange(changed_, false); }
    [[nodiscard]] bool has_changed() const { return changed_; }

    [[nodiscard]] double last_arrival_s() const { return arrivals_.last_s(); }
    /// What an application is about to need is told by what others did.
    void describe_storage(job& to, double now_s) const {
        to.storage = {
            .alone_bytes_per_s = alone_.bytes_per_s(),
            .alone_processes = alone_.processes(),
            .alone_nodes = alone_.nodes(),
            .fastest_bytes_per_s = alone_.fastest(to.processes(), to.nodes()),
            .most_bytes_per_s = alone_.most_bytes_per_s(),
            .bytes_per_s = how_.storage_bytes_per_s,
        };
        to.demand_decided_by = to.most_demand(now_s);
    }
    shares& had() { return had_; }
    [[nodiscard]] const shares& had() const { return had_; }
    decision_log& log() { return log_; }
    [[nodiscard]] const decision_log& log() const { return log_; }
    [[nodiscard]] const side_by_side& learned() const { return learned_; }
    [[nodiscard]] const fences& numbers() const { return turns_.numbers(); }

  private:
    friend struct coordinator_digest;
    void set_targets(registry& all, job& of, std::vector<uint32_t> targets, double now_s);
    void add_targets(registry& all, job& of, bool begins, std::vector<uint32_t> more, double now_s);
    void settle(registry& all, job& of, double now_s);
    void place(job& of, bool before_all, moment at);
    void begin(job& of, const inform& what, moment at, outbox& out);
    void charge(job& of, bool ends, double now_s);
    void finish(registry& all, job& of, agent& by, moment at, outbox& out);
    void proceed(registry& all, job& of, moment at, outbox& out);
    bool show_lease(registry& all, job& of, const inform& what, moment at, outbox& out);
    void movers_changed(double now_s);
    void note_unasked(const registry& all, const job& of, int64_t bytes, double now_s);
    bool note_alone(const registry& all, agent& by, const begun_bytes::moved& moved, double now_s);
    void learn_alone(job& of, double moved_s);
    double believed_over_s(agent& by, double told_s, double now_s) const;

    settings how_;
    turn_keeper turns_;
    side_by_side learned_;
    moved_alone alone_;
    unasked_bytes unasked_;
    shares had_;
    decision_log log_;
    movers movers_;
    arrival_order arrivals_;
    bool changed_ = true;
    double movers_changed_s_ = 0;
    double relearn_until_heard_s_;
};

}  // namespace halcyon::coordinate
