#include "policy/interference.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "policy/sound_values.hpp"

namespace halcyon::policy {

namespace {

/// Pairs of which one has to be forgotten where a new one needs a place.
constexpr uint32_t window = 16;
/// Nothing is learnt to be slower than this, so that a stalled moment does not keep two apart for ever.
constexpr double most_excess = 1e4;

/// Shares of the bandwidth below are the rounding of a difference.
constexpr double least_rate = 1e-9;

uint64_t mixed(uint64_t id, uint64_t other) {
    uint64_t bits = id * 0x9e3779b97f4a7c15U ^ std::rotl(other * 0xc2b2ae3d27d4eb4fU, 31);
    bits ^= bits >> 29U;
    bits *= 0xbf58476d1ce4e5b9U;
    return bits ^ bits >> 32U;
}

}  // namespace

bool share_targets(std::span<const uint32_t> first, std::span<const uint32_t> second) {
    if (first.empty() || second.empty()) return true;
    if (first.back() < second.front() || second.back() < first.front()) return false;
    for (size_t i = 0, k = 0; i < first.size() && k < second.size();) {
        if (first[i] == second[k]) return true;
        ++(first[i] < second[k] ? i : k);
    }
    return false;
}

slow_downs proportional(const application& first, const application& second) {
    if (!share_targets(first, second)) return {};
    const double demand = sound::demand(first);
    const double other_demand = sound::demand(second);
    if (demand + other_demand <= 1) return {};
    const double weight = sound::weight(first);
    const double part = weight / (weight + sound::weight(second));
    const double other = std::min(other_demand, 1 - std::min(demand, part));
    const double rate = std::min(demand, 1 - other);
    // Where both are at their part: the same as rate over demand, without what is lost by 1 - part.
    if (rate <= part && demand == 1 && other_demand == 1)
        return {1 + sound::weight(second) / weight, 1 + weight / sound::weight(second)};
    return {demand / std::max(rate, least_rate), other_demand / std::max(other, least_rate)};
}

interference::interference(const settings& how) : how_(how) {
    how_.forgetting = how.forgetting > 0 && how.forgetting <= 1 ? how.forgetting : settings{}.forgetting;
    how_.assumed = std::isfinite(how.assumed) && how.assumed >= 0 ? how.assumed : settings{}.assumed;
    table_.resize(std::bit_ceil(std::clamp(how.pairs, window, 1U << 24U)));
}

const interference::pair* interference::find(uint64_t id, uint64_t other) const {
    const size_t mask = table_.size() - 1;
    const size_t home = mixed(id, other) & mask;
    for (size_t i = 0; i < window; ++i) {
        const pair& at = table_[(home + i) & mask];
        if (at.count != 0 && at.id == id && at.other == other) return &at;
        if (at.age == 0) return nullptr;  // never used, so nothing was put behind it
    }
    return nullptr;
}

interference::pair& interference::place_for(uint64_t id, uint64_t other) {
    const size_t mask = table_.size() - 1;
    const size_t home = mixed(id, other) & mask;
    pair* free = nullptr;
    pair* oldest = &table_[home];
    for (size_t i = 0; i < window; ++i) {
        pair& at = table_[(home + i) & mask];
        if (at.count != 0 && at.id == id && at.other == other) return at;
        if (at.count == 0 && free == nullptr) free = &at;
        if (clock_ - at.age > clock_ - oldest->age) oldest = &at;
    }
    if (free != nullptr) ++used_;
    pair& taken = free != nullptr ? *free : *oldest;
    taken = {id, other, 0, 0, clock_};
    return taken;
}

double interference::excess(const application& one, const application& other, double assumed) const {
    const pair* const known = find(one.id, other.id);
    if (known == nullptr) return assumed;
    const double share = how_.assumed / (how_.assumed + known->count);
    return share * assumed + (1 - share) * known->excess;
}

void interference::observe(const application& one, std::span<const application* const> others, double speed) {
    if (!sound::positive(speed)) return;
    const double seen = std::clamp(1 / speed - 1, 0.0, most_excess);
    double expected = 0;
    uint32_t sharing = 0;
    for (const application* other : others) {
        if (other->id == one.id || !share_targets(one, *other)) continue;
        ++sharing;
        expected += between(one, *other).first - 1;
    }
    if (sharing == 0) return;
    ++clock_;
    for (const application* other : others) {
        if (other->id == one.id || !share_targets(one, *other)) continue;
        const double before = between(one, *other).first - 1;
        // Where none is expected, all are as likely to be the cause.
        const double its = expected > 0 ? seen * std::min(before / expected, 1.0) : seen / sharing;
        pair& place = place_for(one.id, other->id);
        if (place.count != UINT32_MAX) ++place.count;
        place.age = clock_;
        place.excess += (its - place.excess) * std::max(1.0 / place.count, how_.forgetting);
    }
}

void interference::observe(const application& one, const application& other, double speed) {
    const application* const only = &other;
    observe(one, std::span(&only, 1), speed);
}

void interference::forget(uint64_t id) {
    for (pair& at : table_) {
        if (at.count == 0 || (at.id != id && at.other != id)) continue;
        at = {};
        at.age = clock_;
        --used_;
    }
}

slow_downs interference::between(const application& first, const application& second) const {
    if (!share_targets(first, second)) return {};
    slow_downs assumed = proportional(first, second);
    if (used_ == 0) return assumed;
    assumed.first = 1 + excess(first, second, assumed.first - 1);
    assumed.second = 1 + excess(second, first, assumed.second - 1);
    return assumed;
}

uint32_t interference::observations(uint64_t id, uint64_t other) const {
    const pair* const known = find(id, other);
    return known == nullptr ? 0 : known->count;
}

std::vector<interference::pair> interference::pairs() const {
    std::vector<pair> all;
    std::ranges::copy_if(table_, std::back_inserter(all), [](const pair& at) { return at.count != 0; });
    return all;
}

}  // namespace halcyon::policy
