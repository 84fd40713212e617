// The simulation by which policies are compared: what is drawn, what is simulated, and that it repeats itself.
#include <gtest/gtest.h>

#include "coordinate/policy_comparison.hpp"

namespace halcyon::coordinate {
namespace {

/// `count` applications that compute for 1 s and do I/O for 1 s, all at the same times.
periodic_workload equal_ones(size_t count) {
    periodic_workload made;
    made.horizon_s = 600;
    made.all.assign(count, {2, 0.5, std::vector<iteration>(300, {1, 1})});
    return made;
}

simulated_workload run(const periodic_workload& of, policy::rule rule, division by, const storage_model& on = {}) {
    settings how;
    how.rule = rule;
    simulated_workload all(of, how, by, on);
    all.run();
    return all;
}

TEST(workloads, have_the_io_load_that_is_wanted_and_fill_the_horizon) {
    const workload_kind kind;
    for (uint64_t seed = 1; seed <= 50; ++seed) {
        const periodic_workload made = make_workload(seed);
        EXPECT_NEAR(made.io_load(), kind.io_load, 0.02 * kind.io_load) << seed;
        EXPECT_GE(made.all.size(), kind.least_applications);
        EXPECT_LE(made.all.size(), kind.most_applications);
        for (const periodic_application& one : made.all) {
            EXPECT_GE(one.period_s, kind.shortest_s);
            EXPECT_LE(one.period_s, kind.longest_s);
            EXPECT_LE(kind.periods * one.period_s, made.horizon_s);
            double alone_s = 0;
            for (const iteration& each : one.iterations) {
                EXPECT_GT(each.computes_s, 0);
                EXPECT_GT(each.io_s, 0);
                alone_s += each.computes_s + each.io_s;
            }
            EXPECT_GE(alone_s, made.horizon_s);
        }
    }
}

TEST(workloads, are_the_same_for_the_same_seed_only) {
    EXPECT_EQ(make_workload(7).digest(), make_workload(7).digest());
    EXPECT_NE(make_workload(7).digest(), make_workload(8).digest());
}

TEST(simulated_workload, does_not_slow_down_who_is_alone) {
    const simulated_workload all = run(equal_ones(1), policy::rule::dynamic, division::turns, {0, 0});
    EXPECT_NEAR(all.slow_down(0), 1, 1e-9);
    EXPECT_EQ(all.faults(), 0U);
}

TEST(simulated_workload, divides_the_bandwidth_and_loses_some_of_it) {
    const simulated_workload equal = run(equal_ones(2), policy::rule::interfere, division::equal);
    EXPECT_NEAR(equal.slow_down(0), 1.5, 1e-9);  // 2 s of I/O in place of 1 s
    EXPECT_NEAR(equal.io_slow_down(0), 2, 1e-9);
    EXPECT_NEAR(equal.phase_slow_down(), 2, 1e-9);
    const simulated_workload loses = run(equal_ones(2), policy::rule::interfere, division::equal, {0.5, 0});
    EXPECT_NEAR(loses.slow_down(0), 2, 1e-9);
}

TEST(simulated_workload, lets_the_first_of_a_set_have_its_share) {
    periodic_workload of;
    of.horizon_s = 600;
    of.all.assign(2, {0.75, 1.0 / 3, std::vector<iteration>(800, {0.5, 0.25})});
    of.all.push_back({40, 0.5, std::vector<iteration>(30, {20, 20})});
    const simulated_workload all = run(of, policy::rule::interfere, division::sets);
    // Set 0: they fit beside each other. The third is of set 1 or 2, and has a tenth at most while one of them moves.
    EXPECT_LT(all.slow_down(0), 1.15);
    EXPECT_LT(all.slow_down(1), 1.15);
    EXPECT_GT(all.io_slow_down(2), 1.8);
    const simulated_workload equal = run(of, policy::rule::interfere, division::equal);
    EXPECT_GT(equal.slow_down(0), all.slow_down(0));
    EXPECT_LT(equal.io_slow_down(2), all.io_slow_down(2));
}

TEST(simulated_workload, lets_the_one_with_the_least_left_go_first) {
    periodic_workload of;
    of.horizon_s = 100;
    of.all.push_back({100, 0.5, {{1, 50}, {1000, 1}}});
    of.all.push_back({10, 0.2, std::vector<iteration>(12, {8, 2})});
    const simulated_workload all = run(of, policy::rule::interfere, division::shortest_first);
    EXPECT_NEAR(all.slow_down(1), 1, 1e-9);  // the long one has 3 s left when the sixth one begins
    EXPECT_NEAR(all.io_slow_down(0), (50.0 + 6 * 2) / 50, 1e-9);
}

TEST(simulated_workload, is_coordinated_by_the_rule) {
    for (const policy::rule rule : {policy::rule::fcfs, policy::rule::dynamic}) {
        const simulated_workload all = run(equal_ones(2), rule, division::turns, {0, 0});
        EXPECT_LT(all.slow_down(0), 1.01);  // they take turns that fit
        EXPECT_LT(all.slow_down(1), 1.01);
        EXPECT_EQ(all.faults(), 0U);
    }
    const simulated_workload late = run(equal_ones(2), policy::rule::fcfs, division::turns, {0, 0.1});
    EXPECT_NEAR(late.slow_down(0), 1.1, 0.01);  // every turn begins 0.1 s late
}

TEST(comparison, gives_the_same_bytes_with_any_number_of_threads) {
    workload_kind small;
    small.most_applications = 6;
    small.longest_s = 100;
    const auto once = compare_ways(ways_to_share(), 1, 6, 1, small);
    EXPECT_EQ(once, compare_ways(ways_to_share(), 1, 6, 4, small));
    for (const case_outcomes& one : once)
        for (const outcome& each : one.by_way) {
            EXPECT_EQ(each.workload, one.by_way.front().workload);
            EXPECT_EQ(each.faults, 0U);
            EXPECT_GT(each.excess, 0);
        }
}

}  // namespace
}  // namespace halcyon::coordinate
