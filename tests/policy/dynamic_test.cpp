#include "policy/dynamic.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "instances.hpp"
#include "policy/brute_force.hpp"
#include "policy/decide.hpp"
#include "policy/pair_prices.hpp"
#include "policy/random_group.hpp"

namespace halcyon::policy {
namespace {

using ids = std::vector<uint64_t>;

/// A of `alone_s`, moving since 0, and B, which comes at `now_s`.
decision a_and_b(double alone_s, double other_alone_s, double now_s, metric minimise) {
    application a = phase(1, 0, alone_s);
    a.left_s = alone_s - now_s;
    a.state = movement::moving;
    application b = phase(2, now_s, other_alone_s);
    b.state = movement::waiting;
    b.since_s = now_s;
    const std::vector<application> all{a, b};
    return decide({all}, rule::dynamic, minimise, now_s);
}

// Dorier 2014, section 6.3.4: N_A = N_B and T_A = 4 T_B.
TEST(dynamic, interrupts_for_cpu_hours_in_the_first_three_quarters) {
    for (int i = 0; i <= 100; ++i) {
        if (i == 75) continue;
        const decision made = a_and_b(8, 2, 8 * i / 100.0, metric::cpu_hours);
        EXPECT_EQ(made.move, (i < 75 ? ids{2} : i < 100 ? ids{1} : ids{1, 2})) << i;
    }
}

// B costs I_B = 1 + (T_A - dt) / T_B to wait, A 1 + T_B / T_A: equal where T_A - dt = T_B^2 / T_A, which is 1/16 of
// T_A.
TEST(dynamic, interrupts_for_interference_factors_in_the_first_fifteen_sixteenths) {
    for (int i = 0; i <= 160; ++i) {
        if (i == 150) continue;
        const decision made = a_and_b(16, 4, 16 * i / 160.0, metric::sum_of_interference_factors);
        EXPECT_EQ(made.move, (i < 150 ? ids{2} : i < 160 ? ids{1} : ids{1, 2})) << i;
    }
}

TEST(dynamic, keeps_who_moves_where_both_ways_cost_the_same) {
    EXPECT_EQ(a_and_b(8, 2, 6, metric::cpu_hours).move, ids{1});
    EXPECT_EQ(a_and_b(16, 4, 15, metric::sum_of_interference_factors).move, ids{1});
}

/// What decisions forecast of those that are present, over all schedules.
TEST(dynamic, charges_an_interruption_as_brute_force_does) {
    std::mt19937_64 random(6);
    int kept = 0, interrupted = 0;
    for (uint32_t k = 0; k < 200; ++k) {
        random_group some = make_group(random, 2 + k % 4, k % 4);
        settings how;
        how.interruption_s = k % 3 == 0 ? 0 : 0.3 * (1 + k % 7);
        for (application& one : some.all) one.state = movement::waiting;
        some.all[k % some.all.size()].state = movement::moving;
        problem whole;
        problem_builder build(whole, &some.learned, 0, 0);
        double all_cost_per_s = 0;
        for (application& one : some.all) {
            const double cost = cost_per_s(one, metric::cpu_hours);
            build.add({&one, 0, one.left_s, cost, one.state == movement::moving});
            all_cost_per_s += cost;
        }
        whole.interruption_cost = how.interruption_s * all_cost_per_s;
        const double least = brute_force(whole).best().first;
        const decision made = decide({some.all, &some.learned}, rule::dynamic, metric::cpu_hours, 0, how);
        EXPECT_NEAR(made.alternatives.back().cost, least, 1e-9 * least) << k;
        ++(made.stop.empty() ? kept : interrupted);
    }
    EXPECT_GT(kept, 20);
    EXPECT_GT(interrupted, 20);
}

/// Two that need about the same, and forecasts that say now this, now that one needs less.
int turns_of_two_alike(double interruption_s) {
    application a = phase(1, 0, 10);
    application b = phase(2, 0, 10);
    a.state = movement::moving;
    b.state = movement::waiting;
    settings how;
    how.interruption_s = interruption_s;
    std::vector<application> all{a, b};
    int interruptions = 0;
    for (int i = 0; i < 100; ++i) {
        all[0].left_s = i % 2 == 0 ? 5.02 : 5;
        all[1].left_s = i % 2 == 0 ? 5 : 5.02;
        const decision made = decide({all}, rule::dynamic, metric::sum_of_times, 1, how);
        interruptions += made.stop.empty() ? 0 : 1;
        for (application& one : all)
            one.state =
                std::ranges::find(made.move, one.id) != made.move.end() ? movement::moving : movement::interrupted;
    }
    return interruptions;
}

TEST(dynamic, does_not_let_two_alternate_that_need_about_the_same) {
    EXPECT_EQ(turns_of_two_alike(0), 100);
    EXPECT_EQ(turns_of_two_alike(0.02), 0);
}

TEST(dynamic, interrupts_nobody_for_a_gain_that_forecasts_cannot_tell) {
    application a = phase(1, 0, 10);
    application b = phase(2, 0, 10);
    a.state = movement::moving;
    b.state = movement::waiting;
    a.left_s = 5.5;
    b.left_s = 5;
    settings how;
    const auto stopped = [&] {
        return decide({{std::vector{a, b}}}, rule::dynamic, metric::sum_of_times, 0, how).stop;
    };
    EXPECT_EQ(stopped(), ids{1});  // 5 + 10.5 instead of 5.5 + 10.5, and 2 interruptions
    how.least_gain = 0.03;
    EXPECT_EQ(stopped(), ids{1}) << "0.48 of 15.52";
    how.least_gain = 0.04;
    EXPECT_EQ(stopped(), ids{});
}

// Else it would be free to stop A at the next moment at which anything is to happen, and that is put off again then.
TEST(dynamic, does_not_put_off_an_interruption_to_an_arrival_that_is_expected) {
    application a = phase(1, 0, 10);
    application b = phase(2, 0, 1);
    application c = phase(3, 0.001, 50);
    a.state = movement::moving;
    b.state = movement::waiting;
    c.state = movement::expected;
    settings how;
    how.starvation_s = 1e6;
    EXPECT_EQ(decide({{std::vector{a, b, c}}}, rule::dynamic, metric::sum_of_times, 0, how).stop, ids{1});
    b.left_s = 9.99;
    EXPECT_EQ(decide({{std::vector{a, b, c}}}, rule::dynamic, metric::sum_of_times, 0, how).stop, ids{})
        << "0.01 s of gain for 2 times 0.01 s";
}

TEST(dynamic, lets_one_of_many_go_on_for_a_gain_below_an_interruption) {
    std::mt19937_64 random(7);
    for (uint32_t k = 0; k < 20; ++k) {
        random_group some = make_group(random, 20 + k, 0);
        for (application& one : some.all) one.state = movement::waiting;
        // The last in the queue moves.
        const auto last = std::ranges::min_element(
            some.all, {}, [](const application& one) { return static_cast<double>(one.processes) / one.left_s; });
        last->state = movement::moving;
        settings how;
        how.interruption_s = 1e-6;
        EXPECT_EQ(decide({some.all}, rule::dynamic, metric::cpu_hours, 0, how).stop, ids{last->id});
        how.interruption_s = 1e6;
        EXPECT_EQ(decide({some.all}, rule::dynamic, metric::cpu_hours, 0, how).stop, ids{});
    }
}

TEST(dynamic, divides_the_positions_of_a_decision_among_its_groups) {
    std::mt19937_64 random(5);
    // The same hard group several times, on other targets each, and one more application that needs no search.
    random_group hard = make_group(random, 8, 1);
    interference learned;
    const auto whys = [&](uint32_t copies, uint64_t positions) {
        std::vector<application> all;
        for (uint32_t k = 0; k < copies; ++k)
            for (application one : hard.all) {
                one.id += 100 * k;
                one.state = movement::waiting;
                one.targets = {k};
                all.push_back(one);
            }
        all.push_back(phase(9999, 0, 1));
        all.back().state = movement::waiting;
        all.back().targets = {copies};
        settings how;
        how.search_positions = positions;
        std::vector<reason> found;
        for (const group_decision& one : decide({all, &learned}, rule::dynamic, metric::cpu_hours, 0, how).groups)
            found.push_back(one.why);
        return found;
    };
    uint64_t needed = 1;
    while (whys(1, needed)[0] != reason::least_cost) needed += 1 + needed / 8;
    ASSERT_GT(needed, 100U);
    EXPECT_EQ(whys(4, 5 * needed), (std::vector{reason::least_cost, reason::least_cost, reason::least_cost,
                                                reason::least_cost, reason::alone}));
    EXPECT_EQ(std::ranges::count(whys(4, needed), reason::heuristic_cost), 4);
}

TEST(dynamic, says_when_the_decisions_before_have_left_it_too_few_positions) {
    std::mt19937_64 random(5);
    random_group hard = make_group(random, 8, 1);
    for (application& one : hard.all) one.state = movement::waiting;
    decider some;
    settings how;
    const auto decided = [&] { return some.decide({hard.all}, rule::dynamic, metric::cpu_hours, 0, how); };
    const decision whole = decided();
    EXPECT_EQ(whole.groups.at(0).why, reason::least_cost);
    ASSERT_GT(whole.positions, 200U);
    how.search_budget = whole.positions;
    EXPECT_EQ(decided().groups.at(0).why, reason::least_cost);
    how.search_budget = 50;
    EXPECT_EQ(decided().groups.at(0).why, reason::search_budget);
    EXPECT_LE(decided().positions, 51U);
    how.search_positions = 50;
    EXPECT_EQ(decided().groups.at(0).why, reason::heuristic_cost);
}

TEST(dynamic, counts_the_positions_of_a_second_search_whose_plan_is_not_taken) {
    std::mt19937_64 random(5);
    int interrupted = 0;
    for (uint32_t k = 0; k < 20; ++k) {
        random_group hard = make_group(random, 8, 1);
        for (application& one : hard.all) one.state = movement::waiting;
        hard.all[k % 8].state = movement::moving;
        settings how;
        how.interruption_s = 1e-6;
        const auto decided = [&] { return decide({hard.all}, rule::dynamic, metric::cpu_hours, 0, how); };
        const decision first = decided();
        how.least_gain = 1e-9;
        const decision both = decided();
        if (first.stop.empty() || both.stop.empty() || first.groups.at(0).why != reason::least_cost) continue;
        EXPECT_GT(both.positions, first.positions) << k;
        ++interrupted;
    }
    EXPECT_GT(interrupted, 5);
}

TEST(dynamic, weighs_accounts_processes_and_energy) {
    application a = phase(1, 0, 4);
    application b = phase(2, 0, 3);
    a.state = b.state = movement::waiting;
    const auto first = [&](metric minimise) {
        const std::vector<application> all{a, b};
        return decide({all}, rule::dynamic, minimise, 0).move;
    };
    EXPECT_EQ(first(metric::sum_of_times), ids{2});
    a.processes = 2;
    EXPECT_EQ(first(metric::cpu_hours), ids{1});
    EXPECT_EQ(first(metric::energy), ids{2});
    a.watts_per_node = 2;
    EXPECT_EQ(first(metric::energy), ids{1});
    EXPECT_EQ(first(metric::sum_of_times), ids{2});
    a.account_weight = 2;
    EXPECT_EQ(first(metric::sum_of_times), ids{1});
}

TEST(dynamic, follows_smiths_rule_where_overlaps_never_gain) {
    std::mt19937_64 random(2);
    for (uint32_t k = 0; k < 100; ++k) {
        random_group some = make_group(random, 2 + k % 12, 0);
        for (application& one : some.all) one.state = movement::waiting;
        const decision made = decide({some.all}, rule::dynamic, metric::cpu_hours, 0);
        const auto best = std::ranges::max_element(
            some.all, {}, [](const application& one) { return static_cast<double>(one.processes) / one.left_s; });
        EXPECT_EQ(made.move, ids{best->id});
        EXPECT_EQ(made.groups.at(0).why, reason::smiths_rule);
    }
}

// Dorier 2014, figure 6.15: two that are too small to fill the storage.
TEST(dynamic, lets_those_overlap_that_do_not_slow_each_other_down) {
    application a = phase(1, 0, 10);
    application b = phase(2, 0, 10);
    a.demand = b.demand = 0.55;
    a.state = b.state = movement::waiting;
    const std::vector<application> all{a, b};
    const decision made = decide({all}, rule::dynamic, metric::sum_of_times, 0);
    EXPECT_EQ(made.move, (ids{1, 2}));
    EXPECT_EQ(made.groups.at(0).why, reason::least_cost);
    const decision first = decide({all}, rule::fcfs, metric::sum_of_times, 0);
    EXPECT_EQ(first.move, ids{1});
}

TEST(dynamic, uses_what_was_learnt_of_a_pair) {
    application a = phase(1, 0, 10);
    application b = phase(2, 0, 10);
    a.state = b.state = movement::waiting;
    const std::vector<application> all{a, b};
    interference learned;
    for (int i = 0; i < 50; ++i) {
        learned.observe(a, b, 1 / 1.1);
        learned.observe(b, a, 1 / 1.1);
    }
    EXPECT_EQ(decide({all}, rule::dynamic, metric::sum_of_times, 0).move.size(), 1U);
    EXPECT_EQ(decide({all, &learned}, rule::dynamic, metric::sum_of_times, 0).move, (ids{1, 2}));
}

TEST(dynamic, looks_at_phases_that_are_expected) {
    // 2 shares with 3, which costs much and comes in 4 s; 1 does not. Who of 1 and 2, not both, moves before that?
    application a = phase(1, 0, 4);
    application b = phase(2, 0, 4.4);
    application c = phase(3, 4.1, 50);
    a.state = b.state = movement::waiting;
    a.targets = {1};
    b.targets = {1, 2};
    c.targets = {2};
    c.state = movement::expected;
    c.account_weight = 3;
    std::vector<application> all{a, b, c};
    settings how;
    how.starvation_s = 1e6;
    const decision with = decide({all}, rule::dynamic, metric::sum_of_times, 0, how);
    EXPECT_EQ(with.move, ids{2});
    EXPECT_EQ(with.groups.at(0).expected, 1U);
    all[2].probability = 0.3;
    EXPECT_EQ(decide({all}, rule::dynamic, metric::sum_of_times, 0, how).move, ids{1});
    all[2].state = movement::computing;
    EXPECT_EQ(decide({all}, rule::dynamic, metric::sum_of_times, 0, how).move, ids{1});
}

TEST(dynamic, reaches_the_least_cost_of_up_to_eight) {
    std::mt19937_64 random(3);
    for (uint32_t k = 0; k < 60; ++k) {
        const random_group some = make_group(random, 2 + k % 7, k % 8);
        const double cost = cost_of_dynamic(some, metric::cpu_hours);
        const plan best = whole_problem(some, metric::cpu_hours).least_cost(cost * (1 + 1e-9));
        EXPECT_NEAR(cost, best.cost, 1e-6 * best.cost) << k;
    }
}

TEST(dynamic, is_within_two_percent_of_the_least_cost_of_nine_to_eleven) {
    std::mt19937_64 random(4);
    const uint32_t looked_at = instances(8, 24);
    double sum = 0;
    for (uint32_t k = 0; k < 24; ++k) {
        const random_group some = make_group(random, 9 + k / 8, k % 8);
        if (k % (24 / looked_at) != 0) continue;
        const double cost = cost_of_dynamic(some, metric::sum_of_times);
        const whole_problem whole(some, metric::sum_of_times);
        const double least = prove(whole.of, whole.speeds, cost / 1.02, 300).bound;
        EXPECT_LE(cost, 1.02 * least) << k;
        sum += cost / least - 1;
    }
    EXPECT_LE(sum / looked_at, 0.018);
}

TEST(dynamic, looks_at_all_of_twelve) {
    std::mt19937_64 random(6);
    random_group some = make_group(random, 12, 2);
    for (application& one : some.all) one.state = movement::waiting;
    settings how;
    how.search_positions = 500;
    const decision made = decide({some.all, &some.learned}, rule::dynamic, metric::cpu_hours, 0, how);
    // They count as positions of the decision, as those of fewer do.
    EXPECT_GT(made.positions, 0U);
    EXPECT_LE(made.positions, 501U);
}

TEST(dynamic, decides_the_same_about_hundreds_in_any_order) {
    std::mt19937_64 random(5);
    random_group some = make_group(random, 200, 1);
    for (application& one : some.all) one.state = movement::waiting;
    const decision made = decide({some.all}, rule::dynamic, metric::cpu_hours, 0);
    EXPECT_EQ(made.groups.at(0).why, reason::heuristic_cost);
    EXPECT_GE(made.move.size(), 1U);
    std::ranges::shuffle(some.all, random);
    EXPECT_EQ(decide({some.all}, rule::dynamic, metric::cpu_hours, 0).move, made.move);
}

}  // namespace
}  // namespace halcyon::policy
