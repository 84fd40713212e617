#include "coordinate/coordinator/turn_watch.hpp"

#include <algorithm>
#include <ranges>
#include <vector>

namespace halcyon::coordinate {

namespace {

bool waits(const job& one) {
    return !one.has.any() && one.in_phase() && one.connected();
}

/// By those that wait and of which `counts` says so.
template <class Counts>
policy::target_groups find_wanted(const registry& all, Counts counts) {
    policy::target_groups found;
    for (const uint64_t id : all.active())
        if (const job& one = all.jobs().at(id); waits(one) && counts(one)) found.add(one.targets);
    return found;
}

/// When the first of those that wait for the storage of `of` came; `never`: nobody waits for it.
double first_waiter_heard_s(const registry& all, const job& of) {
    double first_s = never;
    for (const uint64_t id : all.active()) {
        const job& one = all.jobs().at(id);
        if (!waits(one) || one.arrived_heard_s >= first_s) continue;
        if (policy::share_targets(of.targets, one.targets)) first_s = one.arrived_heard_s;
    }
    return first_s;
}

}  // namespace

void turn_watch::take_away(registry& all, phases& of, job& from, const char* reason, users& by_user, moment at,
                           outbox& out) const {
    const bool no_fault = from.calls_under_way() && (from.proven || from.moved_bytes > 0) && !from.excused;
    of.void_turn(all, from, reason, at, out);
    if (no_fault) {
        from.excused = true;
        return;
    }
    from.barred_until_s = at.now_s + bar_s(from.penalties, from.penalized_s, how_.stalled_s, at.now_s);
    by_user.penalize(from.user, how_.stalled_s, at.now_s);
}

/// The first bytes come as soon as a writer has woken up. A sync of what was written before has none: who has proven
/// that it moves some has the time that punish() leaves it.
void turn_watch::take_unused_turns(registry& all, phases& of, users& by_user, moment at, outbox& out) const {
    constexpr double first_bytes_s = 0.05;
    std::vector<job*> idle;
    for (const uint64_t id : all.active()) {
        job& one = *all.find_job(id);
        const bool nothing_yet = one.moved_heard_s <= one.turn_heard_s && at.heard_s - one.turn_heard_s > first_bytes_s;
        const bool syncs = one.proven && one.calls_under_way();
        if (one.has.stage() == turn_stage::held && nothing_yet && !syncs && by_user.is_on_probation(one, at.now_s))
            idle.push_back(&one);
    }
    if (idle.empty()) return;
    policy::target_groups wanted = find_wanted(all, [&](const job& one) { return !by_user.barred(one, at.now_s); });
    for (job* const one : idle) {
        if (wanted.group_at(one->targets) == policy::target_groups::nobody) continue;
        ++out.counted.stalled_holders;
        take_away(all, of, *one, "nothing was moved, and others wait", by_user, at, out);
    }
}

/// When its calls under way were last such that they had not had the time that their bytes need.
double turn_watch::busy_heard_s(const job& one) const {
    return std::min(one.busy_heard_s, one.moved_heard_s + std::max(0.0, how_.bounds.starvation_s - how_.stalled_s));
}

/// On probation there are two heartbeats where others have seconds. Thousands may move nothing while nobody waits for
/// them: that is no look at all others for each.
void turn_watch::punish(registry& all, phases& of, job& one, wanted_targets& wanted, users& by_user, moment at,
                        outbox& out) const {
    const bool on_probation = by_user.is_on_probation(one, at.now_s);
    const double stalled_s = on_probation ? std::min(how_.stalled_s, 2 * how_.heartbeat_s) : how_.stalled_s;
    const double early_s = on_probation ? how_.stop_s - std::min(how_.stop_s, 2 * how_.heartbeat_s) : 0;
    if (one.has.stage() == turn_stage::held && at.heard_s - one.moved_heard_s > stalled_s) {
        if (!wanted) wanted = find_wanted(all, [](const job&) { return true; });
        if (wanted->group_at(one.targets) == policy::target_groups::nobody) return;
        const double waits_since_s = first_waiter_heard_s(all, one);
        double since_s = std::max(one.moved_heard_s, busy_heard_s(one));
        if (one.calls_under_way()) since_s = std::max(since_s, waits_since_s);
        if (waits_since_s == never || at.heard_s - since_s <= stalled_s) return;
        ++out.counted.stalled_holders;
        take_away(all, of, one, "nothing was moved for too long, and others wait", by_user, at, out);
        wanted.reset();
    } else if (one.has.ending() && one.has.overdue_at_s() - early_s <= at.heard_s) {
        const bool is_busy = at.heard_s - busy_heard_s(one) <= 2 * how_.heartbeat_s;
        if (is_busy && at.heard_s < one.has.excused_until_s()) return;
        ++out.counted.overdue_stops;
        take_away(all, of, one, "the application did not stop in time", by_user, at, out);
        wanted.reset();
    }
}

void turn_watch::expire(registry& all, phases& of, users& by_user, moment at, outbox& out) const {
    std::vector<uint64_t> ids;
    for (const auto& [id, one] : all.jobs()) ids.push_back(id);
    wanted_targets wanted;
    for (const uint64_t id : ids) {
        job& one = *all.find_job(id);
        of.forget_stale(all, one, at, out);
        punish(all, of, one, wanted, by_user, at, out);
        std::vector<uint64_t> gone;
        for (const agent& each : one.agents)
            if (each.connection == 0 && each.stale_by_heard_s <= at.heard_s) gone.push_back(each.id);
        // With the last one, the job is gone, too. From the end of the list on: those behind one that leaves move up.
        for (const uint64_t each : std::views::reverse(gone))
            of.leaves(all, one, *registry::find_agent(one, each), at, out, by_user);
    }
}

}  // namespace halcyon::coordinate
