#include "coordinate/coordinator/turn_keeper.hpp"

#include <algorithm>
#include <utility>

namespace halcyon::coordinate {

namespace {

/// A turn begins: what is counted from its begin.
void begin(job& of, double now_s, double heard_s) {
    of.moved_heard_s = of.turn_heard_s = heard_s;
    of.charged_s = now_s;
    of.others_told = 0;
    of.takes_itself_for_the_only_one = false;
    of.worked_at_s = now_s;
    of.speed = 0;
    for (agent& one : of.agents) one.reported_s = one.over_until_s = now_s;
}

}  // namespace

turn_keeper::turn_keeper(const settings& how, uint64_t epoch) : how_(how), fences_(epoch) {}

int64_t turn_keeper::lease_bytes(const agent& one) const {
    return one.speed.lease(how_.lease_s, how_.first_lease_bytes, how_.least_lease_bytes, how_.most_lease_bytes);
}

void turn_keeper::grant(job& to, double now_s, double heard_s, outbox& out) {
    const uint64_t lease = fences_.take();
    to.has.begin(turn_stage::held, lease);
    begin(to, now_s, heard_s);
    ++out.counted.grants;
    for (agent& one : to.agents)
        if (one.phase) renew(to, one, out);
}

void turn_keeper::renew(job& of, agent& one, outbox& out) {
    one.wait_told_s = -1;
    if (one.connection == 0) return;
    one.lease = of.has.lease();
    one.granted_bytes = one.unused_bytes = lease_bytes(one);
    out.send(one.connection, coordinate::grant{one.phase->phase, one.lease, one.granted_bytes, fences_.take()});
}

void turn_keeper::offer_standing(job& to, outbox& out) {
    if (!to.has.any()) {
        to.has.begin(turn_stage::standing, fences_.take());
        ++out.counted.standing;
    }
    for (agent& one : to.agents)
        if (one.lease == 0) tell_standing(to, one, out);
}

void turn_keeper::tell_standing(job& of, agent& to, outbox& out) {
    if (to.connection == 0) return;
    to.lease = of.has.lease();
    to.unheard_fence = fences_.take();
    to.granted_bytes = to.unused_bytes = lease_bytes(to);
    out.send(to.connection, standing{to.lease, to.granted_bytes, to.unheard_fence});
}

void turn_keeper::hold_standing(job& of, double now_s, double heard_s) {
    of.has.hold();
    begin(of, now_s, heard_s);
    of.takes_itself_for_the_only_one = true;
}

void turn_keeper::take_over(job& of, uint64_t lease, double now_s, double heard_s) {
    of.has.begin(turn_stage::held, lease);
    begin(of, now_s, heard_s);
}

/// Bytes that are told while it stops excuse it no longer than anybody may wait, from the recall on. Nor longer than
/// its time to stop where somebody has waited for that long already.
void turn_keeper::recall(job& from, double waited_s, double heard_s, outbox& out) {
    std::vector<uint64_t> agents;
    for (const agent& one : from.agents) agents.push_back(one.id);
    const double longest_s = how_.bounds.starvation_s + how_.stop_s;
    const double excused_s = std::min(how_.bounds.starvation_s, longest_s - waited_s);
    from.has.recall(agents, heard_s + how_.stop_s, heard_s + std::max(how_.stop_s, excused_s));
    ++out.counted.recalls;
    out.send_all(from, coordinate::recall{from.has.lease()});
}

bool turn_keeper::proceed(job& from, outbox& out) {
    if (from.has.stage() == turn_stage::recalled && from.has.all_answered()) {
        const bool stopped = from.has.all_stopped();
        const uint64_t round = from.has.stop();
        if (!stopped) out.send_all(from, stop{from.has.lease(), round});
    }
    if (from.has.stage() != turn_stage::stopping || !from.has.all_stopped()) return false;
    end(from);
    return true;
}

void turn_keeper::end(job& of) {
    of.has.end();
    for (agent& one : of.agents) one.lease = 0;
}

void turn_keeper::rest(job& of) {
    if (of.has_lease_out())
        of.has.stand();
    else
        end(of);
}

/// An agent without a phase hears of no bytes, or it would move under a lease that the others have given back. One that
/// comes back tells its phase again. One that is new is not asked to stop: it has nothing to stop.
void turn_keeper::repeat(job& of, agent& to, outbox& out) {
    of.others_told = 0;
    const uint64_t lease = of.has.lease();
    switch (of.has.stage()) {
        case turn_stage::none:
        case turn_stage::held:
            break;
        case turn_stage::standing:
            tell_standing(of, to, out);
            break;
        case turn_stage::recalled:
            if (of.has.waits_for(to.id)) out.send(to.connection, coordinate::recall{lease});
            break;
        case turn_stage::stopping:
            if (of.has.waits_for(to.id)) out.send(to.connection, stop{lease, of.has.round()});
            break;
    }
}

void turn_keeper::tell_others(job& of, outbox& out) {
    if (std::exchange(of.others_told, of.others) == of.others) return;
    out.send_all(of, company{of.has.lease(), of.others});
}

void turn_keeper::tell_registered(job& of, size_t others, outbox& out) {
    if (of.has.stage() != turn_stage::held || !std::exchange(of.takes_itself_for_the_only_one, false)) return;
    out.send_all(of, company{of.has.lease(), of.others, static_cast<int64_t>(others)});
}

void turn_keeper::void_lease(job& of, const char* reason, outbox& out) {
    out.send_all(of, voided{of.has.lease(), reason});
    // Others were never told of it, and wait on.
    for (agent& one : of.agents)
        if (one.lease != 0) of.end_phase(one);
    end(of);
}

}  // namespace halcyon::coordinate
