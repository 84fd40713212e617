#include "coordinate/coordinator/users.hpp"

#include <algorithm>
#include <cmath>

namespace halcyon::coordinate {

namespace {

constexpr double longest_bar_s = 300;
constexpr double penalty_forgotten_s = 600;
constexpr uint32_t most_penalties = 32;
/// The limits of messages are for so many connections, and grow with their number up to so many times as much. An agent
/// says some 14 a second where its leases last for a fifth of a second, and 300 where its node moves 10 GB/s.
constexpr double usual_connections = 50, most_times = 5;

}  // namespace

uint32_t penalties_left(uint32_t penalties, double penalized_s, double now_s) {
    const double forgotten = std::floor(std::max(0.0, now_s - penalized_s) / penalty_forgotten_s);
    return penalties - static_cast<uint32_t>(std::min<double>(forgotten, penalties));
}

double bar_s(uint32_t& penalties, double& penalized_s, double base_s, double now_s) {
    penalties = std::min(penalties_left(penalties, penalized_s, now_s) + 1, most_penalties);
    penalized_s = now_s;
    return std::min(longest_bar_s, base_s * std::exp2(penalties - 1));
}

bool users::is_on_probation(const job& one, double now_s) const {
    if (penalties_left(one.penalties, one.penalized_s, now_s) > 0) return true;
    const auto at = users_.find(one.user);
    return !one.proven && at != users_.end() && penalties_left(at->second.penalties, at->second.penalized_s, now_s) > 0;
}

bool users::connect(uint32_t user, double now_s) {
    auto [at, made] = users_.try_emplace(user);
    if (made) at->second.messages = limits_.messages_at_once, at->second.at_s = now_s;
    if (at->second.connections >= limits_.connections) return false;
    ++at->second.connections;
    return true;
}

void users::disconnect(uint32_t user) {
    --users_.at(user).connections;
}

bool users::register_application(uint32_t user) {
    if (users_[user].applications >= limits_.applications) return false;
    ++users_[user].applications;
    return true;
}

void users::remove_application(uint32_t user) {
    --users_.at(user).applications;
}

bool users::message(uint32_t user, double weight, double now_s) {
    auto& one = users_[user];
    const double size = std::clamp(one.connections / usual_connections, 1.0, most_times);
    one.messages =
        std::min(size * limits_.messages_at_once, one.messages + (now_s - one.at_s) * size * limits_.messages_per_s);
    one.at_s = now_s;
    if (one.messages < weight) return false;
    one.messages -= weight;
    return true;
}

void users::penalize(uint32_t user, double base_s, double now_s) {
    auto& one = users_[user];
    one.barred_until_s = now_s + bar_s(one.penalties, one.penalized_s, base_s, now_s);
}

double users::barred_until_s(uint32_t user) const {
    const auto at = users_.find(user);
    return at == users_.end() ? 0 : at->second.barred_until_s;
}

void users::forget_idle(double now_s) {
    std::erase_if(users_, [&](const auto& entry) {
        const user& one = entry.second;
        const double forgiven_s = one.penalized_s + penalty_forgotten_s * one.penalties;
        const bool rested = one.messages + (now_s - one.at_s) * limits_.messages_per_s >= limits_.messages_at_once;
        return one.connections == 0 && one.applications == 0 && rested && (one.penalties == 0 || forgiven_s < now_s);
    });
}

}  // namespace halcyon::coordinate
