#include "coordinate/coordinator/arbiter.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "coordinate/coordinator/longest_waits.hpp"
#include "coordinate/coordinator/turn_holders.hpp"
#include "policy/sound_values.hpp"

namespace halcyon::coordinate {

namespace {

/// That a look ahead may decide about, for all decisions together: a millisecond or two.
constexpr size_t most_looked_at = 2048;

}  // namespace

/// Who is barred waits if anybody else wants the storage: not longer than anybody waits if it has moved bytes in a turn
/// that ended well. True: somebody is present.
bool arbiter::see(const registry& all, const users& by_user, bool barred_ones, double now_s) {
    size_t used = 0;
    bool present = false;
    for (const uint64_t id : all.active()) {
        const job& one = all.jobs().at(id);
        const bool in_phase = one.in_phase();
        if ((!in_phase && !one.expects_phase()) || (!one.connected() && !one.has.any())) continue;
        const bool starves = one.proven && now_s - one.since_s >= how_.bounds.starvation_s;
        if (!barred_ones && !starves && !one.has.any() && by_user.barred(one, now_s)) continue;
        present = present || in_phase;
        if (seen_.size() == used) seen_.emplace_back();
        policy::application& as = seen_[used++];
        one.describe(as, now_s);
        how_.complete(as);
    }
    seen_.resize(used);
    return present;
}

const policy::application* arbiter::seen(uint64_t id) const {
    const auto at = std::ranges::lower_bound(seen_, id, {}, &policy::application::id);
    return at != seen_.end() && at->id == id ? &*at : nullptr;
}

void arbiter::decide(registry& all, phases& of, const turn_watch& watch, users& by_user, moment at, outbox& out) {
    if (!of.take_changed() && at.now_s < decide_at_s_) return;
    care_for_standing(all, of, at, out);
    watch.take_unused_turns(all, of, by_user, at, out);
    for (const uint64_t id : all.active()) {
        job& one = *all.find_job(id);
        of.describe_storage(one, at.now_s);
        of.had().charge(one, at.now_s);
    }
    if (!see(all, by_user, false, at.now_s)) see(all, by_user, true, at.now_s);
    policy::outlook now = outlook(of, 0, at.now_s);
    now.storage.applications = seen_;
    now.how.search_budget = searches_.left(at.now_s);
    const policy::decision& what = decider_.asked.decide(now.storage, now.by, now.minimise, now.now_s, now.how);
    searches_.spend(what.positions);
    out.counted.positions += what.positions;
    ++out.counted.decisions;
    carry_out(all, of, what, at, out);
    of.take_changed();  // by what was just done
    decide_at_s_ = std::min(at.now_s + how_.bounds.ask_again_s, std::max(at.now_s, what.ask_again_s));
    // What relearning held back is due when that is over.
    if (of.relearning(at)) decide_at_s_ = std::min(decide_at_s_, at.now_s + how_.heartbeat_s);
    if (!(decide_at_s_ > at.now_s)) decide_at_s_ = at.now_s + how_.heartbeat_s;
}

/// Those that may move, but have no turn yet, wait until those that may not have stopped. Applications that were not
/// seen have a standing turn, or are not there any more and may move yet: their targets are not known.
void arbiter::find_those_in_the_way(const registry& all) {
    in_the_way_.clear();
    for (const uint64_t id : all.active()) {
        const job& one = all.jobs().at(id);
        if (!one.has.any()) continue;
        if (one.has.stage() == turn_stage::held && std::ranges::binary_search(may_move_, id)) continue;
        const policy::application* const as = seen(id);
        const bool is_known = as != nullptr && one.in_phase();
        in_the_way_.add(is_known ? std::span<const uint32_t>(as->targets) : std::span<const uint32_t>());
    }
}

/// Of one without a turn.
bool arbiter::is_anybody_in_the_way_of(uint64_t id) {
    const policy::application* const as = seen(id);
    const auto targets = as != nullptr ? std::span<const uint32_t>(as->targets) : std::span<const uint32_t>();
    return in_the_way_.group_at(targets) != policy::target_groups::nobody;
}

void arbiter::carry_out(registry& all, phases& of, const policy::decision& what, moment at, outbox& out) {
    granted_.clear();
    recalled_.clear();
    std::optional<longest_waits> waits;
    for (const uint64_t id : what.stop) {
        job* const one = all.find_job(id);
        if (one == nullptr || one->has.stage() != turn_stage::held) continue;
        if (of.relearning(at)) continue;  // nobody could be given its turn yet
        if (!waits) waits.emplace(all, at.now_s);
        of.recall(all, *one, waits->at(one->targets), at, out);
        recalled_.push_back(id);
    }
    if (!recalled_.empty()) interruption_.recalled(at.now_s);
    may_move_ = what.move;
    std::ranges::sort(may_move_);
    bool has_looked = false;
    for (const uint64_t id : what.move) {
        job* const one = all.find_job(id);
        if (one == nullptr || one->has.any() || !one->in_phase() || !one->connected()) continue;
        if (of.relearning(at)) continue;
        // Those that are granted their turns meanwhile are in nobody's way.
        if (!std::exchange(has_looked, true)) find_those_in_the_way(all);
        if (is_anybody_in_the_way_of(id)) continue;
        of.grant(all, *one, at, out);
        granted_.push_back(id);
    }
    // Those that are granted at once did not wait for a recall.
    if (!granted_.empty() && recalled_.empty()) interruption_.granted(at.now_s);
    const auto stops = [&](uint64_t id) { return all.jobs().at(id).has.ending(); };
    if (granted_.empty() && std::ranges::none_of(all.active(), stops)) interruption_.came_to_nothing();
    if (!granted_.empty() || !recalled_.empty()) log(all, of, what, at.now_s);
}

/// A standing turn is only for an application that is the only one: so nobody ever waits for it to be given back.
void arbiter::care_for_standing(registry& all, phases& of, moment at, outbox& out) {
    if (all.jobs().size() == 1) {
        job& one = all.jobs().begin()->second;
        const bool all_told = std::ranges::all_of(one.agents, [](const agent& each) { return each.lease != 0; });
        const bool rests = !one.has.any() || (one.has.stage() == turn_stage::standing && !all_told);
        if (rests && !one.in_phase() && one.connected() && !of.relearning(at)) of.offer_standing(all, one, at, out);
        return;
    }
    std::vector<job*> standing;
    for (const uint64_t id : all.active()) {
        job* const one = all.find_job(id);
        turn_keeper::tell_registered(*one, all.jobs().size() - 1, out);
        if (one->has.stage() == turn_stage::standing) standing.push_back(one);
    }
    if (standing.empty()) return;
    const longest_waits waits(all, at.now_s);
    for (job* const one : standing) of.recall(all, *one, waits.at(one->targets), at, out);
}

/// One entry for each group in which a turn was given or recalled.
void arbiter::log(const registry& all, phases& of, const policy::decision& what, double now_s) {
    std::vector<const policy::group_decision*> decided;
    for (const policy::group_decision& one : what.groups) decided.push_back(&one);
    std::ranges::sort(decided, {}, &policy::group_decision::first_id);
    for (const changed_groups::group& group : changed_.find(seen_, granted_, recalled_)) {
        decision_log::entry made;
        made.at_s = now_s;
        made.unseen_share = of.learned().unseen_share();
        for (const changed_groups::member& one : group.members) {
            const job& who = all.jobs().at(one.of->id);
            made.pending.push_back({who.id, who.arrived_s});
            if (made.believed.size() < decision_log::most_names)
                made.believed.push_back({who.name, policy::sound::left_s(*one.of), policy::sound::demand(*one.of)});
            if (one.rank != changed_groups::unchanged) (one.moves ? made.move : made.stop).push_back(who.name);
        }
        const auto at = std::ranges::lower_bound(decided, group.first_id, {}, &policy::group_decision::first_id);
        if (at != decided.end() && (*at)->first_id == group.first_id) {
            const policy::group_decision& its = **at;
            made.why = its.why;
            made.present = its.applications;
            made.expected = its.expected;
            made.alternatives.assign(what.alternatives.begin() + its.alternatives_begin,
                                     what.alternatives.begin() + its.alternatives_end);
        }
        of.log().add(std::move(made));
    }
}

/// From the latest decision on, with as many decisions about so many applications.
policy::outlook arbiter::outlook(const phases& of, size_t applications, double now_s) const {
    policy::outlook from;
    from.storage = {{}, &of.learned().learned(), &of.had().accounts(), &of.had().sets(), of.learned().unseen_share()};
    from.by = how_.rule;
    from.minimise = how_.metric;
    from.how = how_.bounds;
    from.how.interruption_s = interruption_s();
    from.now_s = std::max(now_s, of.last_arrival_s());
    from.move = may_move_;
    from.until_s = decide_at_s_;
    from.applications = applications;
    return from;
}

expected_waits arbiter::waits(const registry& all, const phases& of, const users& by_user, double now_s) const {
    expected_waits found;
    policy::decider once;
    found.look(all, by_user, how_, outlook(of, most_looked_at, now_s), once);
    return found;
}

void arbiter::tell_waits(registry& all, const phases& of, const users& by_user, bool all_of_them, moment at,
                         outbox& out) {
    std::vector<job*> untold;
    int64_t in_phase = 0;
    for (const uint64_t id : all.active()) {
        job& one = *all.find_job(id);
        in_phase += one.in_phase() ? 1 : 0;
        if (one.has.any() || !one.in_phase()) continue;
        const bool is_untold =
            std::ranges::any_of(one.agents, [](const agent& each) { return each.phase && each.wait_told_s < 0; });
        if (is_untold || all_of_them) untold.push_back(&one);
    }
    if (untold.empty()) return;
    const turn_holders holders(all);
    waits_.look(all, by_user, how_, outlook(of, all_of_them ? most_looked_at : 0, at.now_s), decider_.asked);
    for (job* const waiting : untold) {
        const double expected_s = waits_.of(waiting->id);
        std::optional<std::vector<std::string>> beside;
        for (agent& one : waiting->agents) {
            if (!one.phase || one.connection == 0) continue;
            const double told_s = std::max(0.0, one.wait_told_s - (at.now_s - one.wait_told_at_s));
            if (one.wait_told_s >= 0 && std::abs(expected_s - told_s) <= std::max(0.25 * std::abs(told_s), 0.1))
                continue;
            one.wait_told_s = expected_s;
            one.wait_told_at_s = at.now_s;
            if (!beside) beside = holders.at(waiting->targets);
            out.send(one.connection, wait{one.phase->phase, expected_s, *beside, in_phase});
        }
    }
}

}  // namespace halcyon::coordinate
