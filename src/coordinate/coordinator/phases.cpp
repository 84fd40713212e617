#include "coordinate/coordinator/phases.hpp"

#include <algorithm>
#include <cmath>

namespace halcyon::coordinate {

namespace {

/// Part of the metric of an application whose phase ends now.
double cost_now(const job& of, policy::metric metric, double now_s) {
    policy::application as;
    of.describe(as, now_s);
    if (of.worked_s > 0) as.alone_s = of.worked_s;
    return policy::cost_per_s(as, metric, now_s) * (now_s - of.arrived_s);
}

bool somebody_moves_beside(const registry& all, const job& of, double now_s) {
    policy::application self;
    policy::application other;
    of.describe(self, now_s);
    for (const uint64_t id : all.active()) {
        const job& one = all.jobs().at(id);
        if (id == of.id || !one.has.any()) continue;
        one.describe(other, now_s);
        if (policy::share_targets(self, other)) return true;
    }
    return false;
}

}  // namespace

phases::phases(const settings& how, uint64_t epoch, moment begin)
    : how_(how),
      turns_(how, epoch),
      learned_(how.interference),
      log_(how.decisions_kept),
      relearn_until_heard_s_(begin.heard_s + how.relearn_s),
      before_all_s_(begin.now_s),
      started_s_(begin.now_s),
      last_arrival_s_(begin.now_s) {}

void phases::movers_changed(double now_s) {
    learned_.movers_changed(now_s);
    movers_known_ = company_told_ = false;
}

const std::vector<policy::application>& phases::movers(const registry& all, double now_s) {
    if (movers_known_) return movers_;
    movers_.clear();
    for (const uint64_t id : all.active()) {
        const job& one = all.jobs().at(id);
        if (one.moves()) one.describe(movers_.emplace_back(), now_s);
    }
    movers_known_ = true;
    return movers_;
}

/// Behind every change of a job's turn or phases.
void phases::settle(registry& all, job& of, double now_s) {
    all.note_state(of, now_s);
    if (of.moves() != of.counted_mover) {
        of.counted_mover = of.moves();
        movers_changed(now_s);
    }
    changed_ = true;
}

/// False: the lease that was shown is of no use.
bool phases::show_lease(registry& all, job& of, const inform& what, moment at, outbox& out) {
    if (of.has.any()) {
        if (of.has.lease() == what.lease) return true;
    } else if (fences::epoch_of(what.lease) < turns_.numbers().epoch() &&
               (relearning(at) || !somebody_moves_beside(all, of, at.now_s))) {
        turns_.take_over(of, what.lease, at.now_s, at.heard_s);
        // It had the turn before those that waited, however soon they came back; the newest has it under `interrupt`.
        if (how_.rule != policy::rule::interrupt) of.arrived_s = before_all_s_ = std::nextafter(before_all_s_, -never);
        of.arrived_s = started_s_;  // before all that came to wait since
        return true;
    }
    ++out.counted.dropped_leases;
    return false;
}

void phases::begin(job& of, agent& by, const inform& what, moment at, outbox& out) {
    ++out.counted.phases;
    last_arrival_s_ = of.arrived_s = std::max(at.now_s, std::nextafter(last_arrival_s_, never));
    of.moved_bytes = what.bytes_moved;
    of.worked_s = 0;
    of.worked_at_s = at.now_s;
    of.speed = 0;
    of.next.reset();
    of.trust.begin(what.alone_s);
    by.reported_s = at.now_s;
}

void phases::informed(registry& all, job& of, agent& by, const inform& what, moment at, outbox& out) {
    of.work(at.now_s, movers(all, at.now_s).size());
    if (!of.in_phase()) begin(of, by, what, at, out);
    const bool other_use = by.phase && (by.phase->targets != what.targets || by.phase->demand != what.demand);
    by.phase = what;
    by.left_told_s = at.now_s;
    by.stale_by_heard_s = never;
    by.wait_told_s = -1;
    if (what.left_s > 0) of.trust.told(of.worked_s, what.left_s);
    if (what.lease != 0 && !show_lease(all, of, what, at, out))
        out.send(by.connection, voided{what.lease, "this lease is not valid any more: wait for the turn"});
    // Also if the agent asked before it heard of the standing turn.
    if (of.has.stage() == turn_stage::standing) turns_.hold_standing(of, at.now_s, at.heard_s);
    if (of.has.stage() == turn_stage::held) {
        by.reported_s = at.now_s;
        turns_.renew(of, by, out);
    }
    if (other_use && of.moves()) movers_changed(at.now_s);
    settle(all, of, at.now_s);
}

void phases::expects(registry& all, job& of, const expect& what, moment at) {
    of.next = what;
    of.next_told_s = at.now_s;
    settle(all, of, at.now_s);
}

void phases::progressed(registry& all, job& of, agent& by, const progress& what, moment at, outbox& out) {
    const bool asked = of.has.any() && what.lease == of.has.lease();
    const bool known = by.phase && by.phase->phase == what.phase;
    if (what.bytes_moved > 0 && !(asked && known)) learned_.disturbed(at.now_s + 2 * how_.heartbeat_s);
    if (!known) {
        ++out.counted.dropped_progress;
        return;
    }
    out.counted.bytes_moved += static_cast<uint64_t>(what.bytes_moved);
    of.moved_bytes = std::min(most_bytes_together, of.moved_bytes + what.bytes_moved);
    of.work(at.now_s, movers(all, at.now_s).size());
    if (what.speed > 0) of.speed = what.speed;
    by.phase->bytes_left =
        what.bytes_left > 0 ? what.bytes_left : std::max<int64_t>(0, by.phase->bytes_left - what.bytes_moved);
    if (what.left_s > 0) {
        by.phase->left_s = what.left_s;
        by.left_told_s = at.now_s;
        of.trust.told(of.worked_s, what.left_s);
    }
    if (!asked) {
        ++out.counted.unasked_progress;
        all.note_state(of, at.now_s);
        return;
    }
    if (what.bytes_moved > 0) of.moved_heard_s = at.heard_s;
    by.speed.observe(what.bytes_moved, at.now_s - by.reported_s);
    learned_.report(of.id, movers(all, at.now_s), what.speed, by.reported_s, at.now_s);
    by.reported_s = at.now_s;
    by.unused_bytes -= std::min(by.unused_bytes, what.bytes_moved);
    // An agent tells when half of its bytes are drawn: of them, processes may have moved no more than half so far.
    if (of.has.stage() == turn_stage::held && by.unused_bytes < by.granted_bytes - by.granted_bytes / 4) {
        turns_.renew(of, by, out);
        ++out.counted.renewals;
    }
}

/// An answer has come, or will not come any more.
void phases::proceed(registry& all, job& of, moment at, outbox& out) {
    if (!of.has.ending()) return;
    had_.charge(of, at.now_s);
    of.work(at.now_s, movers(all, at.now_s).size());
    if (!turns_.proceed(of, out)) return;
    of.proven = of.proven || of.moved_bytes > 0;
    settle(all, of, at.now_s);
}

void phases::answered(registry& all, job& of, agent& by, const stopping& what, moment at, outbox& out) {
    if (what.lease == of.has.lease() && of.has.stage() == turn_stage::recalled && of.has.answered(by.id, what.round))
        proceed(all, of, at, out);
    else
        ++out.counted.dropped_answers;
}

/// Unasked, it hands the turn back: the agent waits somewhere else, and will inform anew.
void phases::stopped(registry& all, job& of, agent& by, const coordinate::stopped& what, moment at, outbox& out) {
    const bool mine = of.has.any() && what.lease == of.has.lease();
    if (mine && of.has.ending() && of.has.stopped(by.id))
        proceed(all, of, at, out);
    else if (mine && !of.has.ending() && by.phase)
        finish(all, of, by, at, out);
    else
        ++out.counted.dropped_answers;
}

/// The phase of one agent is over. That of the application is over with the last one, and with it the turn.
void phases::finish(registry& all, job& of, agent& by, moment at, outbox& out) {
    of.work(at.now_s, movers(all, at.now_s).size());
    had_.charge(of, at.now_s);
    const double cost = cost_now(of, how_.metric, at.now_s);
    by.phase.reset();
    by.wait_told_s = -1;
    if (of.has.ending()) of.has.stopped(by.id);
    if (!of.in_phase()) {
        of.trust.ended(of.worked_s);
        log_.phase_ended({of.id, of.arrived_s}, cost);
        of.proven = of.proven || (of.has.any() && of.moved_bytes > 0);
        if (of.has.stage() == turn_stage::held) of.has.end();
    }
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
    if (by.phase) finish(all, of, by, at, out);
    all.remove_agent(of, by.id);
    if (!of.agents.empty()) {
        proceed(all, of, at, out);
        settle(all, of, at.now_s);
        return;
    }
    by_user.remove_application(of.user);
    learned_.forget(of.id);
    if (of.counted_mover) movers_changed(at.now_s);
    all.remove_job(of.id);
    changed_ = true;
}

void phases::grant(registry& all, job& to, moment at, outbox& out) {
    turns_.grant(to, at.now_s, at.heard_s, out);
    settle(all, to, at.now_s);
}

void phases::recall(registry& all, job& from, moment at, outbox& out) {
    turns_.recall(from, at.heard_s, out);
    settle(all, from, at.now_s);
}

void phases::tell_company(registry& all, moment at, outbox& out) {
    if (std::exchange(company_told_, true)) return;
    const auto& moving = movers(all, at.now_s);
    for (const policy::application& one : moving) {
        const auto others = std::ranges::count_if(moving, [&](const policy::application& other) {
            return other.id != one.id && policy::share_targets(one, other);
        });
        turn_keeper::tell_company(*all.find_job(one.id), others, out);
    }
}

void phases::offer_standing(registry& all, job& to, moment at, outbox& out) {
    turns_.offer_standing(to, out);
    settle(all, to, at.now_s);
}

void phases::take_away(registry& all, job& of, const char* reason, moment at, outbox& out, users& by_user) {
    had_.charge(of, at.now_s);
    log_.phase_broken({of.id, of.arrived_s});
    turns_.void_lease(of, reason, out);
    of.barred_until_s = at.now_s + bar_s(of.strikes, of.struck_s, how_.stalled_s, at.now_s);
    by_user.strike(of.user, how_.stalled_s, at.now_s);
    settle(all, of, at.now_s);
}

void phases::void_all(registry& all, const char* reason, outbox& out) {
    for (const uint64_t id : all.active())
        if (job& one = *all.find_job(id); one.has.any()) turns_.void_lease(one, reason, out);
}

/// Phases and answers of agents that were lost and did not come back in time. The agents themselves stay.
void phases::forget_stale(registry& all, job& of, moment at, outbox& out) {
    for (agent& one : of.agents) {
        if (one.stale_by_heard_s > at.heard_s) continue;
        if (one.connection != 0) one.stale_by_heard_s = never;
        had_.charge(of, at.now_s);
        const bool had_phase = one.phase.has_value();
        one.phase.reset();
        of.has.gone(one.id);
        if (had_phase && !of.in_phase()) log_.phase_broken({of.id, of.arrived_s});
        const bool nobody = std::ranges::none_of(of.agents, [&](const agent& each) {
            return each.phase || (each.connection != 0 && of.has.stage() == turn_stage::standing);
        });
        if (of.has.any() && nobody) {
            ++out.counted.lost_holders;
            of.has.end();
        }
        settle(all, of, at.now_s);
    }
    proceed(all, of, at, out);
}

/// The first bytes come as soon as a writer has woken up.
void phases::hurry_suspects(registry& all, moment at, outbox& out, users& by_user) {
    constexpr double first_bytes_s = 0.05;
    job* idle = nullptr;
    bool anybody_waits = false;
    for (const uint64_t id : all.active()) {
        job& one = *all.find_job(id);
        const bool nothing_yet = one.moved_heard_s <= one.turn_heard_s && at.heard_s - one.turn_heard_s > first_bytes_s;
        if (one.has.stage() == turn_stage::held && nothing_yet && by_user.suspect(one, at.now_s)) idle = &one;
        anybody_waits = anybody_waits || (one.in_phase() && !one.has.any() && !by_user.barred(one, at.now_s));
    }
    if (idle == nullptr || !anybody_waits) return;
    ++out.counted.stalled_holders;
    take_away(all, *idle, "nothing was moved, and others wait", at, out, by_user);
}

/// Suspects have two heartbeats where others have seconds.
void phases::expire(registry& all, moment at, outbox& out, users& by_user) {
    std::vector<uint64_t> ids;
    for (const auto& [id, one] : all.jobs()) ids.push_back(id);
    for (const uint64_t id : ids) {
        job& of = *all.find_job(id);
        forget_stale(all, of, at, out);
        const bool suspect = by_user.suspect(of, at.now_s);
        const double stalled_s = suspect ? std::min(how_.stalled_s, 2 * how_.heartbeat_s) : how_.stalled_s;
        const double early_s = suspect ? how_.stop_s - std::min(how_.stop_s, 2 * how_.heartbeat_s) : 0;
        if (of.has.stage() == turn_stage::held && at.heard_s - of.moved_heard_s > stalled_s) {
            ++out.counted.stalled_holders;
            take_away(all, of, "nothing was moved for too long", at, out, by_user);
        } else if (of.has.ending() && of.has.overdue_at_s() - early_s <= at.heard_s) {
            ++out.counted.overdue_stops;
            take_away(all, of, "the application did not stop in time", at, out, by_user);
        }
        std::vector<uint64_t> gone;
        for (const agent& one : of.agents)
            if (one.connection == 0 && one.stale_by_heard_s <= at.heard_s) gone.push_back(one.id);
        const bool all_of_them = gone.size() == of.agents.size();
        for (const uint64_t one : gone) leaves(all, of, *registry::find_agent(of, one), at, out, by_user);
        if (all_of_them) continue;  // and the job
    }
}

}  // namespace halcyon::coordinate
