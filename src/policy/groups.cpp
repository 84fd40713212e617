#include "policy/groups.hpp"

#include <algorithm>
#include <random>
#include <utility>

namespace halcyon::policy {

namespace {

/// Applications name their targets as they like. Only where nobody can know which of them meet in the table, nobody can
/// name thousands that do. No result depends on it.
uint64_t mixed(uint32_t target) {
    static const uint64_t unknown = (uint64_t{std::random_device{}()} << 32U) ^ std::random_device{}();
    uint64_t bits = (target ^ unknown) * 0x9e3779b97f4a7c15U;
    bits ^= bits >> 32U;
    bits *= 0xbf58476d1ce4e5b9U;
    return bits ^ bits >> 29U;
}

}  // namespace

void target_groups::clear() {
    above_.clear();
    used_ = 0;
    of_all_ = nobody;
    if (++round_ != 0) return;
    std::ranges::fill(users_, slot{});
    round_ = 1;
}

uint32_t target_groups::group_of(uint32_t application) {
    while (above_[application] != application) {
        above_[application] = above_[above_[application]];
        application = above_[application];
    }
    return application;
}

void target_groups::join(uint32_t a, uint32_t b) {
    a = group_of(a);
    b = group_of(b);
    above_[std::max(a, b)] = std::min(a, b);
}

target_groups::slot& target_groups::slot_of(uint32_t target) {
    const size_t mask = users_.size() - 1;
    size_t at = mixed(target) & mask;
    while (is_used(users_[at]) && users_[at].target != target) at = (at + 1) & mask;
    return users_[at];
}

/// At most half of the slots are used.
void target_groups::make_room(size_t targets) {
    if (users_.size() >= 2 * (used_ + targets)) return;
    std::vector<slot> before(std::max<size_t>(64, 4 * users_.size()));
    while (before.size() < 2 * (used_ + targets)) before.resize(2 * before.size());
    std::swap(before, users_);
    for (const slot& one : before) {
        if (is_used(one)) slot_of(one.target) = one;
    }
}

void target_groups::add(std::span<const uint32_t> targets) {
    const auto number = static_cast<uint32_t>(above_.size());
    above_.push_back(number);
    if (of_all_ != nobody) {
        join(of_all_, number);
        return;
    }
    if (targets.empty()) {
        of_all_ = number;
        for (uint32_t other = 0; other < number; ++other) join(other, number);
        return;
    }
    make_room(targets.size());
    for (const uint32_t target : targets) {
        slot& at = slot_of(target);
        if (is_used(at)) {
            join(at.user, number);
            continue;
        }
        at = {target, number, round_};
        ++used_;
    }
}

uint32_t target_groups::group_at(std::span<const uint32_t> targets) {
    if (above_.empty()) return nobody;
    if (of_all_ != nobody || targets.empty()) return group_of(of_all_ != nobody ? of_all_ : 0);
    if (users_.empty()) return nobody;
    for (const uint32_t target : targets) {
        const slot& at = slot_of(target);
        if (is_used(at)) return group_of(at.user);
    }
    return nobody;
}

}  // namespace halcyon::policy
