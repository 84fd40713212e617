#pragma once

#include <cmath>
#include <cstdint>
#include <random>

#include "policy/interference.hpp"
#include "policy/problem.hpp"

namespace halcyon::policy {

/// Which instances a seed makes.
struct instance_kind {
    bool arrivals = false;  ///< the latter third is expected
    bool demands = false;   ///< of a tenth to all of the bandwidth; else all
    bool learned = false;   ///< slow-downs that differ from proportional ones by a factor of up to 2
    bool targets = false;   ///< some share nothing
    bool moving = false;    ///< some of those present move, and an interruption costs something
    bool unseen = false;    ///< others take a part of the bandwidth
};

/// Times, costs and weights over factors of 20 each.
inline problem random_problem(std::mt19937_64& random, uint32_t count, const instance_kind& kind) {
    std::uniform_real_distribution<double> some(0, 1);
    const auto spread = [&](double factor) { return std::pow(factor, some(random) - 0.5); };
    problem made;
    made.count = count;
    std::array<application, problem::most> all;
    for (uint32_t i = 0; i < count; ++i) {
        made.left_s[i] = spread(20);
        made.cost_per_s[i] = spread(20);
        made.arrives_s[i] = kind.arrivals && 3 * i >= 2 * count ? 0.01 + 3 * some(random) : 0;
        made.demand[i] = all[i].demand = kind.demands ? 0.1 + 0.9 * some(random) : 1;
        all[i].weight = spread(20);
        made.shares_with[i] = members{1} << i;
    }
    for (uint32_t i = 0; i < count; ++i) {
        for (uint32_t j = 0; j < i; ++j) {
            if (kind.targets && some(random) < 0.2) continue;
            made.shares_with[i] |= members{1} << j;
            made.shares_with[j] |= members{1} << i;
            const slow_downs pair = proportional(all[i], all[j]);
            made.excess[i][j] = (pair.first - 1) * (kind.learned ? spread(4) : 1);
            made.excess[j][i] = (pair.second - 1) * (kind.learned ? spread(4) : 1);
            made.borne[i][j] = made.borne[j][i] =
                made.demand[i] / (1 + made.excess[i][j]) + made.demand[j] / (1 + made.excess[j][i]);
        }
    }
    if (kind.moving) {
        for (uint32_t i = 0; i < count; ++i)
            if (made.arrives_s[i] == 0 && some(random) < 0.5) made.moving |= members{1} << i;
        made.interruption_cost = spread(400);
    }
    if (kind.unseen) {
        made.capacity = 0.2 + 0.7 * some(random);
        for (problem::values& row : made.borne)
            for (double& one : row) one *= made.capacity;
    }
    return made;
}

}  // namespace halcyon::policy
