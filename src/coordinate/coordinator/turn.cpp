#include "coordinate/coordinator/turn.hpp"

#include <algorithm>

namespace halcyon::coordinate {

void turn::begin(turn_stage as, uint64_t lease) {
    end();
    stage_ = as;
    lease_ = lease;
}

void turn::hold() {
    stage_ = turn_stage::held;
}

void turn::stand() {
    stage_ = turn_stage::standing;
}

void turn::recall(const std::vector<uint64_t>& agents, double overdue_at_s, double excused_until_s) {
    stage_ = turn_stage::recalled;
    overdue_at_s_ = overdue_at_s;
    excused_until_s_ = excused_until_s;
    for (const uint64_t agent : agents) answers_.push_back({agent});
}

std::vector<turn::answer>::const_iterator turn::find(uint64_t agent) const {
    const auto at = std::ranges::lower_bound(answers_, agent, {}, &answer::agent);
    return at == answers_.end() || at->agent != agent ? answers_.end() : at;
}

turn::answer* turn::of(uint64_t agent) {
    const auto at = find(agent);
    return at == answers_.end() ? nullptr : &answers_[static_cast<size_t>(at - answers_.begin())];
}

bool turn::answered(uint64_t agent, uint64_t round) {
    answer* const one = of(agent);
    if (one == nullptr || one->told) return false;
    one->told = true;
    ++told_;
    highest_round_ = std::max(highest_round_, round);
    return true;
}

bool turn::stopped(uint64_t agent) {
    answer* const one = of(agent);
    if (one == nullptr || one->stopped) return false;
    told_ += one->told ? 0 : 1;
    ++stopped_;
    one->told = one->stopped = true;
    return true;
}

void turn::gone(uint64_t agent) {
    const auto at = find(agent);
    if (at == answers_.end()) return;
    told_ -= at->told ? 1 : 0;
    stopped_ -= at->stopped ? 1 : 0;
    answers_.erase(at);
}

bool turn::waits_for(uint64_t agent) const {
    const auto at = find(agent);
    return at != answers_.end() && !at->stopped;
}

uint64_t turn::stop() {
    stage_ = turn_stage::stopping;
    return highest_round_ + 1;
}

}  // namespace halcyon::coordinate
