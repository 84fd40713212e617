#include "policy/problem_of.hpp"

#include <algorithm>

#include "policy/sound_values.hpp"

namespace halcyon::policy {

namespace {

/// Of an expected phase whose forecast begin has passed.
constexpr double soon_s = 1e-3;

}  // namespace

problem_builder::problem_builder(problem& into, const interference* learned, double unseen_share, double now_s)
    : into_(into), learned_(learned), now_s_(now_s) {
    free_ = sound::free_share(unseen_share);
    into_.count = 0;
    into_.capacity = free_;
    into_.moving = 0;
    into_.cost_after_per_s = 0;
    into_.interruption_cost = 0;
}

void problem_builder::add(const contender& one) {
    const uint32_t at = into_.count;
    const members bit = members{1} << at;
    added_[at] = one.of;
    into_.left_s[at] = std::max(one.left_s, sound::shortest_s);
    into_.cost_per_s[at] = one.cost_per_s;
    into_.arrives_s[at] = present(*one.of) ? 0 : std::max(one.arrived_s - now_s_, soon_s);
    into_.demand[at] = sound::demand(*one.of);
    into_.excess[at][at] = into_.borne[at][at] = 0;
    into_.shares_with[at] = bit;
    for (uint32_t i = 0; i < at; ++i) {
        const application& other = *added_[i];
        into_.shares_with[i] &= ~bit;
        into_.excess[at][i] = into_.excess[i][at] = 0;
        into_.borne[at][i] = into_.borne[i][at] = 0;
        if (!share_targets(*one.of, other)) continue;
        into_.shares_with[at] |= members{1} << i;
        into_.shares_with[i] |= bit;
        const slow_downs pair = learned_ == nullptr ? proportional(*one.of, other) : learned_->between(*one.of, other);
        into_.excess[at][i] = pair.first - 1;
        into_.excess[i][at] = pair.second - 1;
        // Storage that was seen to bear more than it was taken for does so.
        const double borne = into_.demand[at] / pair.first + into_.demand[i] / pair.second;
        into_.borne[at][i] = into_.borne[i][at] = free_ * borne;
    }
    if (one.moving) into_.moving |= bit;
    ++into_.count;
}

void problem_builder::remove_last() {
    --into_.count;
    into_.moving &= ~(members{1} << into_.count);
    for (uint32_t i = 0; i < into_.count; ++i) into_.shares_with[i] &= ~(members{1} << into_.count);
}

}  // namespace halcyon::policy
