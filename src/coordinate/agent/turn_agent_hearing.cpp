// What a coordinator says to an agent, and what is not believed.
#include <algorithm>
#include <utility>

#include "coordinate/agent/turn_agent.hpp"

namespace halcyon::coordinate {

void turn_agent::heard(const registered& what) {
    if (what.epoch < std::max(least_epoch_, fence_ >> 32U)) return leave_coordinator();
    epoch_ = what.epoch;
    registered_ = true;
    no_turn_reason_.clear();
    if (what.heartbeat_s > 0) heartbeat_s_ = what.heartbeat_s;
    if (what.starvation_s > 0)
        todo_.longest_wait_s = std::min(what.starvation_s + what.stop_s + late_turn_s, most_believed_wait_s);
    if (!std::exchange(comes_back_, false)) return;  // it is told of more processes, or fewer
    informed_ = false;
    tells_again_ = in_phase_;
    stop_ = {};
    stopped_lease_ = 0;
    lease_.note_others(0);
    lease_.note_registered();  // meanwhile
    expected_.forget();
    // Whoever took the standing turn away meanwhile could not say so. That of a phase is shown.
    if (lease_.is_standing() || !in_phase_) lease_.end();
}

void turn_agent::heard(const refused& what) {
    // That another daemon leads is no fault.
    const bool stands_by = what.again_s == 0;
    no_turn_reason_ = what.reason;
    if (!stands_by) {
        ++counted_.refusals;
        last_reason_ = what.reason;
    }
    connected_ = registered_ = false;
    todo_.close = true;
}

void turn_agent::heard(const error_report& what) {
    ++counted_.errors;
    note_reason(what.reason);
}

/// The coordinator knows of no phase that it was not told of: one more `inform` may be within its range.
void turn_agent::not_sent(const to_coordinator& message, const std::string& why) {
    ++counted_.unsent;
    note_reason(why);
    if (!std::holds_alternative<inform>(message)) return;
    is_unsent_ = true;
    informed_ = false;
}

/// Behind the registration, turns are given all the same.
void turn_agent::note_reason(const std::string& reason) {
    last_reason_ = reason;
    if (!registered_) no_turn_reason_ = reason;
}

/// All its grants are refused, and the job does not wait for it.
void turn_agent::leave_coordinator() {
    ++counted_.refused_fences;
    registered_ = false;
    todo_.close = true;
}

/// Numbers of one coordinator only rise. Where they fall, there were two of this epoch, and neither is believed any
/// more: when the agent comes back, its registration would be taken for a word of one that coordinates.
bool turn_agent::is_new(uint64_t fence) {
    if (fence < fence_) {
        least_epoch_ = std::max(least_epoch_, epoch_ + 1);
        leave_coordinator();
        return false;
    }
    fence_ = fence;
    return true;
}

void turn_agent::begin_lease(uint64_t lease, int64_t bytes, bool is_standing) {
    if (stop_.any() && stop_.lease() != lease) stop_ = {};
    const bool is_another = lease_.id() != lease;
    lease_.begin(lease, bytes, is_standing);
    phase_lease_ = lease;
    if (!is_another) return;
    first_.begin(now_s_);
    told_s_ = now_s_;  // what is told next is not about the time of waiting
    // `company`, if there is any, comes with the lease.
    was_alone_ = is_alone();
}

void turn_agent::heard(const grant& what) {
    if (!is_new(what.fence)) return;
    if (!in_phase_ || what.phase != phase_) {
        ++counted_.stale_grants;
        return;
    }
    if (lease_.id() != what.lease) ++counted_.grants;
    begin_lease(what.lease, what.bytes, false);
}

void turn_agent::heard(const standing& what) {
    if (!is_new(what.fence)) return;
    begin_lease(what.lease, what.bytes, true);
    informed_ = false;  // a phase that has begun meanwhile shows it
}

void turn_agent::heard(const recall& what) {
    if (stop_.recall(what.lease))
        ++counted_.recalls;
    else if (stop_.has_told())
        say(stopping{what.lease, stop_.told()});
}

/// It may come once more, behind a phase that was told in the stop.
void turn_agent::heard(const stop& what) {
    if (what.lease == stopped_lease_) return;
    stop_.stop(what.lease, what.round);
    stop_heard_s_ = now_s_;
}

/// A phase may have stopped under it already, and waits for the next turn: the coordinator has forgotten that, too. Or
/// it was given back before it was called back, and so nothing is lost: only the stop ends.
void turn_agent::heard(const voided& what) {
    const bool is_of_phase = in_phase_ && what.lease == phase_lease_;
    const bool is_lost = is_of_phase || what.lease == lease_.id();
    if (!is_lost && what.lease != stop_.lease()) return;
    stop_ = {};
    if (!is_lost) return;
    ++counted_.voided;
    left_behind_ += std::exchange(state_.under_way, 0);
    if (what.lease == lease_.id()) lease_.end();
    phase_lease_ = 0;
    if (in_phase_) ++phase_;  // it asks anew
    informed_ = false;
    if (in_phase_ && state_.waiting == 0) end_phase();
}

void turn_agent::heard(const wait& what) {
    todo_.wait = agent_effects::told_wait{what.expected_s, what.holders, what.in_phase};
}

void turn_agent::heard(const company& what) {
    if (what.lease != lease_.id()) return;
    lease_.note_others(what.others);
    if (what.registered > 0) lease_.note_registered();
}

}  // namespace halcyon::coordinate
