#include "coordinate/agent/turn_agent.hpp"

#include <algorithm>
#include <utility>

#include "coordinate/protocol/fields.hpp"

namespace halcyon::coordinate {

turn_agent::turn_agent(settings how, double now_s) : how_(std::move(how)), now_s_(now_s), heard_s_(now_s) {}

void turn_agent::connected(double now_s) {
    now_s_ = std::max(now_s_, now_s);
    connect_failure_.clear();
    connected_ = true;
    registered_ = false;
    comes_back_ = true;
    known_phase_ = 0;
    processes_told_ = 0;
}

void turn_agent::disconnected(double now_s) {
    now_s_ = std::max(now_s_, now_s);
    if (connected_) ++counted_.lost_connections;
    connected_ = registered_ = false;
}

void turn_agent::not_connected(const std::string& why) {
    connect_failure_ = why;
}

bool turn_agent::received(const from_coordinator& message, double now_s) {
    now_s_ = std::max(now_s_, now_s);
    if (todo_.close) return false;  // it is left
    note_stale();
    std::visit([this](const auto& what) { heard(what); }, message);
    // One that has not registered this agent, refuses it, or is left coordinates nothing for it.
    if (registered_) heard_s_ = now_s_;
    return registered_;
}

void turn_agent::observed(const node_state& now) {
    // A program may go on in a turn that it has lost: then the job needs another one.
    const bool go_on = !lease_.any() && now.waiting == 0 && now.moved > state_.moved;
    left_behind_ = go_on ? 0 : std::min(left_behind_, now.under_way);
    state_ = now;
    // However many they are: sums and differences stay within a number.
    for (int64_t* const bytes : {&state_.moved, &state_.unasked})
        *bytes = std::clamp<int64_t>(*bytes, 0, 2 * most_bytes);
    state_.under_way -= left_behind_;
}

void turn_agent::caches_clean() {
    cleaned_bytes_ = cleaning_bytes_;
    cleans_up_ = false;
    stop_.cleaned();
}

/// The turn may have been given to others meanwhile: the lease is shown, and not used until a grant comes.
void turn_agent::came_late() {
    if (!lease_.any()) return;
    lease_.make_stale();
    // In a stop the phase is not told anew; how far the stop has come is.
    if (stop_.lease() != lease_.id()) informed_ = false;
}

void turn_agent::note_stale() {
    if (now_s_ - heard_s_ > lease_silence_s) came_late();
}

bool turn_agent::give_back_if_quiet() {
    const bool active = state_.under_way > 0 || state_.waiting > 0;
    hands_back_ = uses_turn() && !active;
    return hands_back_;
}

void turn_agent::say(to_coordinator message) {
    if (!connected_) return;
    todo_.messages.push_back(std::move(message));
    sent_s_ = now_s_;
}

void turn_agent::note_silence() {
    const bool now = now_s_ - heard_s_ > how_.patience_s;
    if (now && !silent_) ++counted_.silences;
    // A coordinator that was silent waits for the stop that it asked for, if it is the same one.
    if (silent_ && !now) stop_.start_over();
    silent_ = now;
}

void turn_agent::note_phases() {
    told_moved_.look(state_.moved, now_s_);
    // Without a turn, calls count bytes that are about to wait. What is under way of a turn that was taken away counts
    // with the next one.
    if (lease_.any() || stop_.any()) leased_bytes_ = state_.moved;
    const int64_t bytes = leased_bytes_ + state_.unasked;
    const bool changes = bytes != seen_bytes_ || state_.begun != seen_begun_;
    const bool active = state_.under_way > 0 || state_.waiting > 0;
    if (active || changes) active_s_ = now_s_;
    if (state_.under_way > 0 || changes) moved_s_ = now_s_;
    if (!in_phase_ && (active || changes)) {
        in_phase_ = true;
        informed_ = tells_again_ = false;
        ++phase_;
        ++counted_.phases;
        phase_lease_ = lease_.id();
        phase_moved_ = seen_bytes_;
        told_s_ = now_s_;
        first_.begin(now_s_);
        history_.began(now_s_);
        targets_.begin();
    }
    if (in_phase_) targets_.look(state_.targets);
    seen_bytes_ = bytes;
    seen_begun_ = state_.begun;
    end_phase_if_over(active);
}

void turn_agent::end_phase_if_over(bool active) {
    const bool pauses = now_s_ - active_s_ >= how_.pause_s;
    // A phase that is being stopped says so first.
    const bool goes_elsewhere = asks_for_other_targets();
    const bool rests = !active && (pauses || hands_back_);
    const bool is_over = in_phase_ && (silent_ || !stop_.any()) && (rests || goes_elsewhere);
    if (is_over && leaves_in_caches()) {
        closes_ = false;
        if (!std::exchange(cleans_up_, true)) clean_caches();
        return;
    }
    closes_ = is_over && lets_begin();
    if (closes_) todo_.look_again = true;
    if (closes_) return;
    hands_back_ = false;
    if (!is_over) return;
    counted_.handed_back += rests && !pauses ? 1 : 0;
    end_phase();
    if (goes_elsewhere) todo_.look_again = true;  // the next one begins
}

/// None of those that ask was there when the coordinator was told of the phase, and nothing moves under its lease.
bool turn_agent::asks_for_other_targets() const {
    if (!in_phase_ || !informed_ || silent_ || stop_.any() || !lease_.any()) return false;
    return targets_.are_listed() && targets_.grow() && !state_.targets.told && state_.under_way == 0 &&
           state_.waiting > 0;
}

/// Enough for others to notice. Who is the only one keeps a standing turn instead, and cleans when that is called back.
bool turn_agent::leaves_in_caches() const {
    if (silent_ || !lease_.any() || lease_.is_of_only_one() || state_.operation == operation::read) return false;
    return seen_bytes_ - cleaned_bytes_ > lease_.bytes() / 4;
}

void turn_agent::clean_caches() {
    todo_.clean_caches = true;
    cleaning_bytes_ = seen_bytes_;
}

/// Whether a call may begin under the lease by the page that was shown before the processes were looked at.
bool turn_agent::lets_begin() const {
    if (!shown_) return false;  // or by that of a process which heard nothing
    return shown_->to != permission::closed && shown_->to != permission::unasked && shown_->to != permission::waiting;
}

void turn_agent::end_phase() {
    say_progress();
    history_.ended(phase_bytes());
    if (registered_ && known_phase_ == phase_) say(release{phase_});
    in_phase_ = informed_ = cleans_up_ = false;
    expected_.forget();
    lease_.end();
}

/// Counts of processes may be behind for a moment.
int64_t turn_agent::phase_bytes() const {
    return std::clamp<int64_t>(seen_bytes_ - phase_moved_, 0, most_bytes);
}

/// By forecast, else as the last phases were.
void turn_agent::estimate(int64_t& bytes_left, double& left_s) {
    const int64_t moved = phase_bytes();
    bytes_left = state_.bytes_left > 0 ? state_.bytes_left : std::max<int64_t>(history_.bytes() - moved, 0);
    const double alone = history_.bytes_per_s_alone();
    left_s = state_.left_s > 0 ? state_.left_s : (alone > 0 ? static_cast<double>(bytes_left) / alone : 0);
    bytes_left = std::clamp<int64_t>(bytes_left, 0, most_bytes);
    left_s = std::clamp(left_s, 0.0, longest_s);
    told_rest_.tell(bytes_left, left_s, now_s_);
}

/// One that is being stopped tells of no change: what it needs then is told with the next turn. But of calls that go on
/// in a phase which the coordinator has not heard of, no progress is told: the job would only seem not to stop.
bool turn_agent::may_tell_phase() const {
    if (!stop_.any() || tells_again_) return true;
    // Before `stopping`, it would be called back once more.
    return !informed_ && state_.under_way > 0 && stop_.has_told() && lease_.any() && lease_.id() == stop_.lease();
}

void turn_agent::say_registration() {
    registration what = how_.job;
    what.processes = std::max(what.processes, state_.processes);
    processes_told_ = state_.processes;
    say(what);
}

void turn_agent::say_phase() {
    if (!in_phase_ || !registered_ || !may_tell_phase()) return;
    if (asks_for_other_targets()) return;  // the caches are cleaned first
    const bool is_off = told_rest_.is_off(state_) && now_s_ - asked_s_ >= how_.pause_s;
    if (informed_ && !is_off && !targets_.grow()) return;
    if (is_unsent_ && now_s_ - asked_s_ < heartbeat_s_) return;
    is_unsent_ = false;
    // As long as a shell and what it started for a moment are counted, not all processes seem to have begun.
    const bool are_fewer = state_.processes > 0 && state_.processes < processes_told_;
    if (are_fewer && how_.job.processes < processes_told_) say_registration();
    inform what;
    what.phase = phase_;
    what.operation = state_.operation;
    estimate(what.bytes_left, what.left_s);
    what.bytes_moved = phase_bytes();
    const double alone = history_.bytes_per_s_alone();
    what.alone_s = std::min(what.left_s + (alone > 0 ? static_cast<double>(what.bytes_moved) / alone : 0), longest_s);
    what.weight = static_cast<double>(std::max<int64_t>(state_.active, 1));
    what.between_starts_s = std::min(history_.between_starts_s(), longest_s);
    what.targets = targets_.tell();
    what.round = state_.round;
    what.lease = lease_.id();
    what.fence = fence_;
    say(what);
    asked_s_ = now_s_;
    informed_ = true;
    tells_again_ = false;
    known_phase_ = phase_;
    lease_.hold();
}

void turn_agent::say_progress() {
    if (!registered_ || !in_phase_) return;
    const int64_t unasked = std::min(state_.unasked - told_unasked_, most_bytes);
    if (unasked > 0) say(progress{.phase = phase_, .lease = 0, .bytes_moved = unasked});
    told_unasked_ = std::max(told_unasked_, state_.unasked);
    if (!informed_) return;
    progress what{.phase = phase_, .lease = lease_.any() ? lease_.id() : stop_.lease()};
    if (what.lease == 0) return;
    what.bytes_moved = std::min(told_moved_.untold(), most_bytes);
    estimate(what.bytes_left, what.left_s);
    // The pause that ends a phase is none of the time in which it moved.
    const double until_s = state_.under_way > 0 ? now_s_ : std::max(moved_s_, told_s_);
    what.over_s = std::clamp(until_s - told_s_, 0.0, longest_s);
    what.under_way = state_.under_way + (stop_.is_cleaning() || cleans_up_ ? 1 : 0);
    const phase_history::compared known = history_.moved(what.bytes_moved, what.over_s, was_alone_, what.under_way);
    if (known.speed > 0) {
        what.speed = std::min(known.speed, 1e3);
        what.speed_s = std::min(known.begun_ago_s, longest_s);
    }
    was_alone_ = is_alone();
    say(what);
    told_moved_.tell();
    told_s_ = now_s_;
    first_.told(what.bytes_moved);
}

/// Tells what was moved in time for the lease to be renewed, and the first bytes at once, or of calls that have none.
void turn_agent::keep_lease() {
    if (!in_phase_ || !registered_) return;
    const bool moves = told_moved_.untold() > 0, first = first_.are_untold() && uses_turn();
    // Nothing moves until a writer has woken up, which is seen late where the node is busy.
    if (first && !moves && state_.under_way == 0) told_s_ = now_s_;
    if (first && moves && first_.are_awaited(now_s_)) told_s_ = std::max(told_s_, now_s_ - first_bytes::look_s);
    const bool is_due = lease_.becomes_half_used(state_.pool) || now_s_ - told_s_ >= heartbeat_s_;
    const bool syncs = first && !moves && state_.under_way > 0 && first_.are_missed(now_s_);
    if (is_due || (first && moves) || syncs) say_progress();
    // Drawn by processes, but not moved: then only a new `inform` renews it. In a stop nothing does.
    if (!lease_.is_half_used(state_.pool) || state_.pool > 0 || state_.waiting == 0 || stop_.any() ||
        now_s_ - asked_s_ < how_.pause_s)
        return;
    informed_ = false;
    say_phase();
}

void turn_agent::say_expected() {
    if (in_phase_ || !registered_) return;
    if (const auto what = expected_.news(state_, now_s_)) say(*what);
}

void turn_agent::stop_calls() {
    if (silent_) return;
    if (stop_.may_read()) {
        stop_.tell(state_.round);
        say(stopping{stop_.lease(), stop_.told()});
    }
    if (stop_.must_look()) {
        stop_.hold();
        todo_.look_again = true;
        return;
    }
    if (!stop_.is_stopping()) return;
    if (!stop_.is_cleaning() && !stop_.is_clean()) {
        const bool gave_up = state_.behind > 0 && now_s_ - std::max(moved_s_, stop_heard_s_) >= how_.behind_s;
        if (state_.under_way > 0 || (state_.behind > 0 && !gave_up)) return;
        counted_.stops_behind += gave_up ? 1 : 0;
        stop_.clean();
        // What was clean and has not changed since is clean.
        if (cleaned_bytes_ == seen_bytes_)
            stop_.cleaned();
        else
            clean_caches();
    }
    // Behind a phase, nothing else tells that the stop goes on.
    if (stop_.is_cleaning() && !in_phase_ && phase_ > 0 && registered_ && now_s_ - told_s_ >= heartbeat_s_) {
        say(progress{.phase = phase_, .lease = stop_.lease(), .under_way = 1});
        told_s_ = now_s_;
    }
    if (!stop_.is_clean()) return;
    // A program has joined others of its job while the caches were cleaned: it has to come to its end, too.
    if (state_.under_way > 0) return stop_.start_over();
    say_progress();
    say(stopped{stop_.lease()});
    stopped_lease_ = stop_.lease();
    if (lease_.id() == stop_.lease()) lease_.end();
    stop_ = {};
}

permission turn_agent::wanted() const {
    if (withdraws_) return permission::closed;
    if (silent_) return permission::unasked;
    if (stop_.any()) return stop_.wanted();
    if (closes_ || !lease_.any() || lease_.is_stale() || now_s_ - heard_s_ > lease_silence_s)
        return permission::waiting;
    return lease_.is_standing() && !in_phase_ ? permission::standing : permission::allowed;
}

void turn_agent::show() {
    const agent_effects::page_change now{wanted(), stop_.any() ? stop_.round() : 0, lease_.renewed()};
    todo_.others_move = !is_alone();
    todo_.lists_targets = in_phase_ && targets_.are_listed();
    todo_.targets_told = in_phase_ && informed_ && !targets_.grow();
    was_alone_ = was_alone_ && is_alone();
    const bool same = shown_ && shown_->to == now.to && shown_->stop_round == now.stop_round;
    if (same && !lease_.renewed()) return;
    todo_.page = now;
    shown_ = now;
    lease_.renewal_shown();
}

double turn_agent::next_look_s() const {
    double next_s = std::min(now_s_ + heartbeat_s_, silent_ ? now_s_ + heartbeat_s_ : heard_s_ + how_.patience_s);
    if (lease_.any() && heard_s_ + lease_silence_s > now_s_) next_s = std::min(next_s, heard_s_ + lease_silence_s);
    if (connected_) next_s = std::min(next_s, sent_s_ + heartbeat_s_);
    if (in_phase_) next_s = std::min(next_s, now_s_ + how_.pause_s);
    if (first_.are_awaited(now_s_) && uses_turn()) next_s = std::min(next_s, now_s_ + first_bytes::look_s);
    if (stop_.any() && !silent_) next_s = std::min(next_s, now_s_ + how_.stop_look_s);
    return std::max(next_s, now_s_ + how_.stop_look_s);
}

void turn_agent::say_all() {
    say_phase();
    stop_calls();
    keep_lease();
    say_expected();
    if (registered_ && now_s_ - sent_s_ >= heartbeat_s_) say(heartbeat{});
}

const agent_effects& turn_agent::advance(double now_s) {
    now_s_ = std::max(now_s_, now_s);
    if (withdraws_) {
        if (registered_) say(coordinate::withdraw{});
        registered_ = false;
    }
    if (connected_ && !withdraws_ && state_.processes > processes_told_) say_registration();
    note_silence();
    note_phases();
    if (!closes_) say_all();
    show();
    todo_.wake_at_s = todo_.look_again ? now_s_ : next_look_s();
    given_ = std::exchange(todo_, {});
    return given_;
}

}  // namespace halcyon::coordinate
