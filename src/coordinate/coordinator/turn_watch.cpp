#include "coordinate/coordinator/turn_watch.hpp"

#include <algorithm>

namespace halcyon::coordinate {

void turn_watch::take_away(registry& all, phases& of, job& from, const char* reason, users& by_user, moment at,
                           outbox& out) const {
    of.void_turn(all, from, reason, at, out);
    from.barred_until_s = at.now_s + bar_s(from.strikes, from.struck_s, how_.stalled_s, at.now_s);
    by_user.strike(from.user, how_.stalled_s, at.now_s);
}

/// The first bytes come as soon as a writer has woken up.
void turn_watch::hurry_suspects(registry& all, phases& of, users& by_user, moment at, outbox& out) const {
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
    take_away(all, of, *idle, "nothing was moved, and others wait", by_user, at, out);
}

/// Suspects have two heartbeats where others have seconds.
void turn_watch::punish(registry& all, phases& of, job& one, users& by_user, moment at, outbox& out) const {
    const bool suspect = by_user.suspect(one, at.now_s);
    const double stalled_s = suspect ? std::min(how_.stalled_s, 2 * how_.heartbeat_s) : how_.stalled_s;
    const double early_s = suspect ? how_.stop_s - std::min(how_.stop_s, 2 * how_.heartbeat_s) : 0;
    if (one.has.stage() == turn_stage::held && at.heard_s - one.moved_heard_s > stalled_s) {
        ++out.counted.stalled_holders;
        take_away(all, of, one, "nothing was moved for too long", by_user, at, out);
    } else if (one.has.ending() && one.has.overdue_at_s() - early_s <= at.heard_s) {
        ++out.counted.overdue_stops;
        take_away(all, of, one, "the application did not stop in time", by_user, at, out);
    }
}

void turn_watch::expire(registry& all, phases& of, users& by_user, moment at, outbox& out) const {
    std::vector<uint64_t> ids;
    for (const auto& [id, one] : all.jobs()) ids.push_back(id);
    for (const uint64_t id : ids) {
        job& one = *all.find_job(id);
        of.forget_stale(all, one, at, out);
        punish(all, of, one, by_user, at, out);
        std::vector<uint64_t> gone;
        for (const agent& each : one.agents)
            if (each.connection == 0 && each.stale_by_heard_s <= at.heard_s) gone.push_back(each.id);
        // With the last one, the job is gone, too.
        for (const uint64_t each : gone) of.leaves(all, one, *registry::find_agent(one, each), at, out, by_user);
    }
}

}  // namespace halcyon::coordinate
