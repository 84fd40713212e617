#include "coordinate/coordinator/phases.hpp"

#include <algorithm>
#include <cmath>

#include "coordinate/coordinator/storage_limit.hpp"
#include "coordinate/estimates/caches_fill.hpp"

namespace halcyon::coordinate {

namespace {

/// Part of the metric of an application whose phase ends now.
double cost_now(const job& of, const settings& how, double now_s) {
    policy::application as;
    of.describe(as, now_s);
    how.complete(as);
    if (of.worked_s > 0) as.alone_s = of.worked_s;
    return policy::cost_per_s(as, how.metric) * (now_s - of.arrived_s);
}

bool somebody_has_turn_beside(const registry& all, const job& of) {
    return std::ranges::any_of(all.active(), [&](uint64_t id) {
        const job& one = all.jobs().at(id);
        return id != of.id && one.has.any() && policy::share_targets(of.targets, one.targets);
    });
}

}  // namespace

phases::phases(const settings& how, uint64_t epoch, moment begin)
    : how_(how),
      turns_(how, epoch),
      learned_(how.interference),
      log_(how.decisions_kept),
      arrivals_(begin.now_s),
      relearn_until_heard_s_(begin.heard_s + how.relearn_s) {}

void phases::movers_changed(double now_s) {
    learned_.movers_changed(now_s);
    movers_.change();
    movers_changed_s_ = now_s;
}

void phases::set_targets(registry& all, job& of, std::vector<uint32_t> targets, double now_s) {
    if (targets == of.targets) return;
    if (of.counted_mover) {
        movers_.count(all, of, -1, now_s);
        movers_changed(now_s);
    }
    all.set_targets(of, std::move(targets));
    if (of.counted_mover) movers_.count(all, of, 1, now_s);
}

/// What an application uses only grows until its phase is over.
void phases::add_targets(registry& all, job& of, bool begins, std::vector<uint32_t> more, double now_s) {
    std::ranges::sort(more);
    more.erase(std::unique(more.begin(), more.end()), more.end());
    if (begins) return set_targets(all, of, std::move(more), now_s);
    std::vector<uint32_t> both;
    if (!of.targets.empty() && !more.empty()) std::ranges::set_union(of.targets, more, std::back_inserter(both));
    set_targets(all, of, std::move(both), now_s);
}

/// Behind every change of a job's turn or phases.
void phases::settle(registry& all, job& of, double now_s) {
    all.note_state(of, now_s);
    if (of.moves() != of.counted_mover) {
        of.counted_mover = of.moves();
        movers_.count(all, of, of.counted_mover ? 1 : -1, now_s);
        movers_changed(now_s);
    }
    if (!of.in_phase()) set_targets(all, of, {}, now_s);
    changed_ = true;
}

/// False: the lease that was shown is of no use. Anybody can invent one, so it counts only while this coordinator
/// relearns who moved, and for one holder of a storage: the others wait.
bool phases::show_lease(registry& all, job& of, const inform& what, moment at, outbox& out) {
    if (of.has.any()) {
        if (of.has.lease() == what.lease) return true;
    } else if (relearning(at) && fences::epoch_of(what.lease) < turns_.numbers().epoch() &&
               (how_.rule == policy::rule::interfere || !somebody_has_turn_beside(all, of))) {
        turns_.take_over(of, what.lease, at.now_s, at.heard_s);
        place(of, how_.rule != policy::rule::interrupt, at);
        return true;
    }
    ++out.counted.dropped_leases;
    return false;
}

/// Its place in the order of arrival: before all others, or behind them.
void phases::place(job& of, bool before_all, moment at) {
    of.arrived_s = before_all ? arrivals_.before_all() : arrivals_.behind_all(at.now_s);
}

/// Who had the turn before a restart had it before those that waited, in whatever order they come back. Under
/// `interrupt` it had the turn since it was the newest.
void phases::begin(job& of, const inform& what, moment at, outbox& out) {
    ++out.counted.phases;
    if (of.begun_s >= 0) of.between_starts.add(at.now_s - of.begun_s);
    of.begun_s = at.now_s;
    place(of, relearning(at) && how_.rule == policy::rule::interrupt, at);
    of.arrived_heard_s = at.heard_s;
    of.moved_bytes = what.bytes_moved;
    of.worked_s = 0;
    of.worked_at_s = at.now_s;
    of.charged_s = at.now_s;  // under a turn that is being called back no other begin is noted
    of.speed = 0;
    of.look_again();
    for (agent& one : of.agents) one.next.reset();
    of.trust.begin(what.alone_s);
}

void phases::informed(registry& all, job& of, agent& by, const inform& what, moment at, outbox& out) {
    of.work(at.now_s);
    const bool begins = !of.in_phase();
    if (begins) begin(of, what, at, out);
    if (!by.phase) by.reported_s = by.over_until_s = by.phase_told_s = at.now_s;
    if (what.lease == 0) by.lease = 0;  // what it was told of was lost with a connection, or is told again below
    if (what.fence > 0 ? what.fence >= by.unheard_fence : what.lease == of.has.lease()) by.unheard_fence = 0;
    const bool other_use = by.phase && by.phase->demand != what.demand;
    of.begin_phase(by, what);
    add_targets(all, of, begins, std::exchange(by.phase->targets, {}), at.now_s);
    by.left_told_worked_s = by.bytes_told_worked_s = of.worked_s;
    if (what.left_s > 0) by.bytes_told = false;  // of a time that is told without bytes, none are beyond
    by.note_left(of.worked_s);
    const bool came_back = std::exchange(by.stale_by_heard_s, never) != never;
    by.wait_told_s = -1;
    if (what.left_s > 0) of.trust.told(of.worked_s, what.left_s);
    if (what.lease != 0) {
        if (show_lease(all, of, what, at, out))
            by.lease = what.lease;  // it has it also where it is being stopped: what is lost is lost for it, too
        else
            out.send(by.connection, voided{what.lease, "this lease is not valid any more: wait for the turn"});
    }
    // Also if the agent asked before it heard of the standing turn.
    if (of.has.stage() == turn_stage::standing) turns_.hold_standing(of, at.now_s, at.heard_s);
    if (of.has.stage() == turn_stage::held) turns_.renew(of, by, out);
    // It would have said `stopped` first, had it not forgotten the recall, or not heard of it yet. One that has come
    // back was told then.
    if (of.has.ending() && !came_back) turns_.repeat(of, by, out);
    if (other_use && of.moves()) movers_changed(at.now_s);
    settle(all, of, at.now_s);
}

void phases::expects(registry& all, job& of, agent& by, const expect& what, moment at) {
    by.next.reset();
    if (what.probability > 0) by.next = what;
    by.next_told_s = at.now_s;
    settle(all, of, at.now_s);
}

/// The time that a report is about. Reports that lay in a socket come all at once: the agent knows better how long each
/// one's interval was. But all of them together are not about more time than has passed, and a heartbeat.
double phases::believed_over_s(agent& by, double told_s, double now_s) const {
    constexpr double longest_in_sockets_s = 2;
    const double since_s = std::max(by.over_until_s, std::min(by.reported_s, now_s - longest_in_sockets_s));
    const double most_s = std::max(0.0, now_s + how_.heartbeat_s - since_s);
    const double over_s = std::min(most_s, told_s > 0 ? told_s : now_s - by.reported_s);
    by.over_until_s = since_s + over_s;
    return over_s;
}

/// True: its node moved it while no other application moved.
bool phases::note_alone(const registry& all, agent& by, const begun_bytes::moved& moved, double now_s) {
    constexpr double long_enough_s = 1;
    const double began_s = now_s - moved.begun_ago_s;
    if (movers_.list(all, now_s).size() != 1 || !moved.is_after(movers_changed_s_, now_s)) return false;
    if (began_s < learned_.disturbed_until_s()) return false;
    // Caches take the first bytes of a phase faster than the storage does.
    if (began_s < by.phase_told_s + caches_fill_s && moved.seconds < long_enough_s) return false;
    by.alone.add(static_cast<double>(moved.bytes), moved.seconds);
    return true;
}

/// Of the application, by what one of its nodes moved alone in `moved_s`.
void phases::learn_alone(job& of, double moved_s) {
    const job::sums& all_nodes = of.lately();
    const job::alone_speed& known = all_nodes.alone;
    if (!(known.seconds > 0) || !known.of_all) return;
    const double each_s = moved_s / static_cast<double>(std::max<int64_t>(1, all_nodes.in_phase));
    double bytes_per_s = alone_.believed(of.id, known.bytes_per_s);
    if (how_.storage_bytes_per_s > 0) bytes_per_s = std::min(bytes_per_s, how_.storage_bytes_per_s);
    alone_.add(of.id, bytes_per_s, all_nodes.processes, all_nodes.nodes, each_s);
    if (known.is_known()) of.fills_storage = false;
}

void phases::note_unasked(const registry& all, const job& of, int64_t bytes, double now_s) {
    double moving_bytes_per_s = 0;
    for (const policy::application& one : movers_.list(all, now_s)) {
        if (!policy::share_targets(of.targets, one.targets)) continue;
        const auto found = all.jobs().find(one.id);
        if (found != all.jobs().end()) moving_bytes_per_s += found->second.lately().known_bytes_per_s;
    }
    if (unasked_.add(bytes, moving_bytes_per_s, now_s)) learned_.disturbed(now_s + 2 * how_.heartbeat_s);
}

void phases::progressed(registry& all, job& of, agent& by, const progress& what, moment at, outbox& out) {
    const bool asked = of.has.any() && what.lease == of.has.lease();
    if (asked) by.under_way = what.under_way;
    const bool known = by.phase && by.phase->phase == what.phase;
    // Without a phase, anybody could keep the others' speeds from being learnt.
    if (what.bytes_moved > 0 && known && !asked) note_unasked(all, of, what.bytes_moved, at.now_s);
    if (!known) {
        // An agent may tell that it cleans caches behind the phase.
        if (!asked || what.bytes_moved > 0) ++out.counted.dropped_progress;
        return;
    }
    // Of a count that began anew, Prometheus would take all for moved since.
    out.counted.bytes_moved += std::min(static_cast<uint64_t>(what.bytes_moved), UINT64_MAX - out.counted.bytes_moved);
    of.moved_bytes = std::min(most_bytes_together, of.moved_bytes + what.bytes_moved);
    by.phase->bytes_moved = std::min(most_bytes_together, by.phase->bytes_moved + what.bytes_moved);
    of.work(at.now_s);
    const bool tells_rest = what.bytes_left > 0 || what.left_s > 0;
    const bool beyond = by.bytes_told && !tells_rest && what.bytes_moved > by.phase->bytes_left;
    by.phase->bytes_left =
        what.bytes_left > 0 ? what.bytes_left : std::max<int64_t>(0, by.phase->bytes_left - what.bytes_moved);
    by.bytes_told_worked_s = of.worked_s;
    if (what.left_s > 0) {
        by.phase->left_s = what.left_s;
        by.left_told_worked_s = of.worked_s;
        of.trust.told(of.worked_s, what.left_s);
    }
    // It told too little, and is late: by how much, the time beyond what was told says.
    if (beyond) by.phase->left_s = by.phase->alone_s = 0;
    by.note_left(of.worked_s);
    if (!asked) {
        ++out.counted.unasked_progress;
        all.note_state(of, at.now_s);
        return;
    }
    if (what.bytes_moved > 0) {
        of.moved_heard_s = at.heard_s;
        of.excused = false;
    }
    const double over_s = believed_over_s(by, what.over_s, at.now_s);
    const auto moved = by.speed.observe(what.bytes_moved, over_s, what.under_way > 0);
    if (what.under_way > 0 && by.speed.ahead_s() > 0) of.busy_heard_s = at.heard_s;
    const double began_s = at.now_s - std::max({over_s, what.speed_s, moved ? moved->begun_ago_s : 0});
    const bool tells_speed = moved && !of.stopped_within(*moved, at.now_s);
    const bool was_alone = tells_speed && note_alone(all, by, *moved, at.now_s);
    if (tells_speed) by.note_beside(*moved, movers_changed_s_, at.now_s);
    const bool looks = of.look(at.now_s, movers_changed_s_);
    of.hear_speed(what.speed);
    if (was_alone) learn_alone(of, moved->seconds);
    if (looks) {  // others may be able to move, too, or not to go on
        changed_ = storage_limit::reported(all, of, movers_changed_s_, at.now_s) || changed_;
        changed_ = changed_ || std::abs(of.most_demand(at.now_s) - of.demand_decided_by) > 0.1;
    }
    learned_.report(of.id, movers_.list(all, at.now_s), what.speed, std::min(began_s, by.reported_s), at.now_s);
    by.reported_s = at.now_s;
    by.unused_bytes -= std::min(by.unused_bytes, what.bytes_moved);
    // An agent tells when half of its bytes are drawn: of them, processes may have moved no more than half so far.
    if (of.has.stage() == turn_stage::held && by.unused_bytes < by.granted_bytes - by.granted_bytes / 4) {
        turns_.renew(of, by, out);
        ++out.counted.renewals;
    }
}

/// The turn counts up to now where it ends. Thousands of agents may end their parts of it one after the other, and each
/// charge looks at all of them.
void phases::charge(job& of, bool ends, double now_s) {
    if (ends || now_s - of.charged_s >= job::between_looks_s) had_.charge(of, now_s);
}

/// An answer has come, or will not come any more.
void phases::proceed(registry& all, job& of, moment at, outbox& out) {
    if (!of.has.ending()) return;
    charge(of, of.has.all_stopped(), at.now_s);
    of.work(at.now_s);
    if (!turns_.proceed(of, out)) return;
    of.proven = of.proven || of.moved_bytes > 0;
    settle(all, of, at.now_s);
}

void phases::answered(registry& all, job& of, agent& by, const stopping& what, moment at, outbox& out) {
    // The recall has crossed the release of the agent. Nothing else may tell it that no stop will come.
    if (what.lease != of.has.lease() || (of.has.ending() && !of.has.waits_for(by.id)))
        return out.send(by.connection, voided{what.lease, "this turn is over"});
    if (of.has.stage() == turn_stage::recalled && of.has.answered(by.id, what.round))
        proceed(all, of, at, out);
    else
        ++out.counted.dropped_answers;
}

/// Unasked, it hands the turn back: the agent waits somewhere else, and will inform anew.
void phases::stopped(registry& all, job& of, agent& by, const coordinate::stopped& what, moment at, outbox& out) {
    const bool mine = of.has.any() && what.lease == of.has.lease();
    if (mine) {
        by.under_way = 0;
        by.unheard_fence = 0;
    }
    if (mine && of.has.ending() && of.has.stopped(by.id))
        proceed(all, of, at, out);
    else if (mine && !of.has.ending() && (by.phase || by.lease != 0))
        finish(all, of, by, at, out);
    else
        ++out.counted.dropped_answers;
}

/// The phase of one agent is over. That of the application is over with the last one, and with it the turn.
void phases::finish(registry& all, job& of, agent& by, moment at, outbox& out) {
    of.work(at.now_s);
    const bool is_last = by.phase && of.agents_in_phase() == 1;
    charge(of, is_last, at.now_s);
    const double cost = is_last ? cost_now(of, how_, at.now_s) : 0;
    of.end_phase(by);
    by.wait_told_s = -1;
    if (by.unheard_fence == 0) {
        by.lease = 0;
        if (of.has.ending()) of.has.stopped(by.id);
    }
    if (is_last) {
        of.trust.ended(of.worked_s);
        log_.phase_ended({of.id, of.arrived_s}, cost);
        of.proven = of.proven || (of.has.any() && of.moved_bytes > 0);
    }
    if (of.has.any() && !of.has.ending() && !of.in_phase()) turn_keeper::rest(of);
    proceed(all, of, at, out);
    settle(all, of, at.now_s);
}

void phases::released(registry& all, job& of, agent& by, const release& what, moment at, outbox& out) {
    if (by.phase && by.phase->phase == what.phase)
        finish(all, of, by, at, out);
    else
        ++out.counted.dropped_releases;
}

void phases::leaves(registry& all, job& of, agent& by, moment at, outbox& out, users& by_user) {
    by.unheard_fence = 0;
    const bool took_part = by.phase || by.lease != 0 || by.next || of.has.any();
    if (by.phase || by.lease != 0) finish(all, of, by, at, out);
    all.remove_agent(of, by.id);
    if (!of.agents.empty()) {
        changed_ = true;
        if (!took_part) return;  // nothing else has changed; of thousands, all may leave at once
        proceed(all, of, at, out);
        settle(all, of, at.now_s);
        return;
    }
    by_user.remove_application(of.user);
    learned_.forget(of.id);
    if (of.counted_mover) {
        movers_.count(all, of, -1, at.now_s);
        movers_changed(at.now_s);
    }
    all.remove_job(of.id);
    changed_ = true;
}

void phases::grant(registry& all, job& to, moment at, outbox& out) {
    turns_.grant(to, at.now_s, at.heard_s, out);
    settle(all, to, at.now_s);
}

void phases::recall(registry& all, job& from, double waited_s, moment at, outbox& out) {
    turns_.recall(from, waited_s, at.heard_s, out);
    from.recalled_s = at.now_s;
    settle(all, from, at.now_s);
}

void phases::offer_standing(registry& all, job& to, moment at, outbox& out) {
    turns_.offer_standing(to, out);
    settle(all, to, at.now_s);
}

void phases::void_turn(registry& all, job& of, const char* reason, moment at, outbox& out) {
    had_.charge(of, at.now_s);
    log_.phase_broken({of.id, of.arrived_s});
    turns_.void_lease(of, reason, out);
    if (of.in_phase()) place(of, false, at);
    settle(all, of, at.now_s);
}

void phases::void_all(registry& all, const char* reason, outbox& out) {
    for (const uint64_t id : all.active())
        if (job& one = *all.find_job(id); one.has.any()) turns_.void_lease(one, reason, out);
}

void phases::forget_stale(registry& all, job& of, moment at, outbox& out) {
    const bool had_turn = of.has.any();
    for (agent& one : of.agents) {
        if (one.stale_by_heard_s > at.heard_s) continue;
        if (one.connection != 0) one.stale_by_heard_s = never;
        had_.charge(of, at.now_s);
        const bool had_phase = one.phase.has_value();
        of.end_phase(one);
        if (one.connection == 0) one.lease = 0;
        // One that is back was called back once more, and calls of it may be under way until it says that it stopped.
        if (one.connection == 0) of.has.gone(one.id);
        if (had_phase && !of.in_phase()) log_.phase_broken({of.id, of.arrived_s});
        if (of.has.any() && !of.has.ending() && !of.in_phase()) turn_keeper::rest(of);
        settle(all, of, at.now_s);
    }
    proceed(all, of, at, out);
    if (had_turn && !of.has.any()) ++out.counted.lost_holders;
}

}  // namespace halcyon::coordinate
