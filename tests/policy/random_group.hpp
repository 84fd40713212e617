#pragma once

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "policy/contender.hpp"
#include "policy/exact_search.hpp"
#include "policy/play.hpp"
#include "policy/problem_of.hpp"

namespace halcyon::policy {

/// Applications that want the same storage, and what was learnt of them.
struct random_group {
    std::vector<application> all;
    interference learned{{1U << 10U, 1.0 / 16, 0}};
};

/// By `kind` (0 to 7): bit 0: demands of a tenth to all of the bandwidth, else all; bit 1: slow-downs within a factor
/// of 2 of proportional ones; bit 2: two are still expected. Times, processes and weights over factors of 20.
inline random_group make_group(std::mt19937_64& random, uint32_t count, uint32_t kind) {
    std::uniform_real_distribution<double> some(0, 1);
    const auto spread = [&](double factor) { return std::pow(factor, some(random) - 0.5); };
    random_group made;
    for (uint32_t i = 0; i < count; ++i) {
        application one = phase(i + 1, 0, 10 * spread(20), spread(20));
        one.processes = std::lround(100 * spread(20));
        one.demand = (kind & 1) != 0 ? 0.1 + 0.9 * some(random) : 1;
        if ((kind & 4) != 0 && i + 2 >= count) one.arrived_s = 30 * some(random) + 0.01;
        made.all.push_back(one);
    }
    for (uint32_t i = 0; (kind & 2) != 0 && i < count; ++i) {
        for (uint32_t j = 0; j < count; ++j) {
            if (i == j) continue;
            const double proportionally = proportional(made.all[i], made.all[j]).first - 1;
            made.learned.observe(made.all[i], made.all[j], 1 / (1 + proportionally * spread(4)));
        }
    }
    return made;
}

/// All of a group, as searches see it.
struct whole_problem {
    whole_problem(const random_group& group, metric minimise) {
        problem_builder build(of, &group.learned, 0, 0);
        std::vector<application> all = group.all;
        for (application& one : all) {
            one.state = one.arrived_s > 0 ? movement::expected : movement::waiting;
            build.add({&one, one.arrived_s, one.left_s, cost_per_s(one, minimise), false});
        }
        speeds.fill(of);
    }

    /// The least cost of all schedules; `known`: the cost of one.
    [[nodiscard]] plan least_cost(double known, uint64_t nodes = UINT64_MAX) const {
        return exact_search().solve(of, speeds, {0, known, 0, true}, nodes);
    }

    problem of;
    speed_table speeds;
};

/// The cost that the rule dynamic comes to, decided again at each arrival and end and at no other time.
inline double cost_of_dynamic(const random_group& of, metric minimise) {
    settings how;
    how.starvation_s = how.ask_again_s = 1e9;
    how.interruption_s = 0;
    how.alternatives = false;
    play all(of.all, rule::dynamic, minimise, how, true);
    all.learned = &of.learned;
    return all.cost();
}

}  // namespace halcyon::policy
