#include "policy/decide.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <random>

#include "models/interference.hpp"
#include "policy/every_rule.hpp"
#include "policy/play.hpp"

namespace halcyon::policy {
namespace {

constexpr std::array every_metric{metric::sum_of_times, metric::sum_of_interference_factors, metric::cpu_hours,
                                  metric::energy};

using ids = std::vector<uint64_t>;

application waiting(uint64_t id, double arrived_s, double left_s) {
    application made = phase(id, arrived_s, left_s);
    made.state = movement::waiting;
    made.since_s = arrived_s;
    return made;
}

application moving(uint64_t id, double arrived_s, double alone_s, double left_s) {
    application made = phase(id, arrived_s, alone_s);
    made.left_s = left_s;
    made.state = movement::moving;
    made.since_s = arrived_s;
    return made;
}

decision decide_about(const std::vector<application>& all, rule by, double now_s,
                      metric minimise = metric::sum_of_times, const settings& how = {}) {
    return decide({all}, by, minimise, now_s, how);
}

settings patient() {
    settings how;
    how.starvation_s = 1e6;
    return how;
}

TEST(decide, gives_two_phases_the_times_of_the_closed_form) {
    std::mt19937_64 random(1);
    std::uniform_real_distribution<double> some(0.2, 5);
    std::uniform_real_distribution<double> share(0.1, 1);
    const std::array ways{std::pair(rule::interfere, models::arbitration::interfere),
                          std::pair(rule::fcfs, models::arbitration::fcfs),
                          std::pair(rule::interrupt, models::arbitration::interrupt)};
    for (int k = 0; k < 600; ++k) {
        const auto [by, way] = ways[k % 3];
        const models::io_phase a{some(random), k % 2 == 0 ? 1 : share(random), some(random), 1};
        const models::io_phase b{some(random), k % 2 == 0 ? 1 : share(random), some(random), 1};
        const double delta_s = k % 7 == 0 ? 0 : some(random) - 1;
        application first = phase(1, std::max(-delta_s, 0.0), a.alone_s, a.weight);
        application second = phase(2, std::max(delta_s, 0.0), b.alone_s, b.weight);
        first.demand = a.demand;
        second.demand = b.demand;
        const std::vector<double> times = play({first, second}, by, metric::sum_of_times, patient()).times();
        const models::phase_times expected = models::expected_times(a, b, delta_s, way);
        EXPECT_NEAR(times[0], expected.a_s, 1e-6) << name_of(by) << ", " << delta_s;
        EXPECT_NEAR(times[1], expected.b_s, 1e-6) << name_of(by) << ", " << delta_s;
    }
}

TEST(decide, lets_disjoint_targets_move_at_once) {
    for (const rule by : every_rule) {
        std::vector<application> all{waiting(1, 0, 5), waiting(2, 1, 2), waiting(3, 2, 9), waiting(4, 3, 1)};
        all[0].targets = {1};
        all[1].targets = {1, 2};
        all[2].targets = {3};
        all[3].targets = {3, 4};
        const decision made = decide_about(all, by, 3);
        EXPECT_EQ(made.groups.size(), 2U);
        const auto moves = [&](uint64_t id) { return std::ranges::count(made.move, id); };
        EXPECT_GE(moves(1) + moves(2), 1) << name_of(by);
        EXPECT_GE(moves(3) + moves(4), 1) << name_of(by);
        // 1 and 3 share with 2 and 4 only: each pair of one group is decided as if alone.
        const decision alone = decide_about({all[0], all[1]}, by, 3);
        EXPECT_EQ(moves(1), std::ranges::count(alone.move, 1U)) << name_of(by);
        EXPECT_EQ(moves(2), std::ranges::count(alone.move, 2U)) << name_of(by);
    }
}

TEST(decide, lets_those_move_in_order_that_share_nothing_with_one_that_moves_already) {
    std::mt19937_64 random(16);
    for (int k = 0; k < 300; ++k) {
        std::vector<application> all;
        for (uint64_t count = 2 + random() % 40; all.size() < count;) {
            all.push_back(waiting(all.size() + 1, static_cast<double>(all.size()), 5));
            for (uint64_t i = random() % 5; i > 0; --i)  // none: all of them
                all.back().targets.push_back(static_cast<uint32_t>(random() % 60));
            std::ranges::sort(all.back().targets);
        }
        for (const rule by : {rule::fcfs, rule::interrupt}) {
            std::vector<application> in_order = all;
            if (by == rule::interrupt) std::ranges::reverse(in_order);
            ids expected;
            for (const application& one : in_order) {
                const auto shares = [&](uint64_t id) { return share_targets(one, all[id - 1]); };
                if (std::ranges::none_of(expected, shares)) expected.push_back(one.id);
            }
            std::ranges::sort(expected);
            EXPECT_EQ(decide_about(all, by, 50, metric::sum_of_times, patient()).move, expected) << name_of(by);
        }
    }
}

TEST(decide, lets_any_number_move_that_share_nothing_beside_one_that_waits_for_all) {
    constexpr uint64_t count = 30;
    std::vector<application> all;
    ids expected;
    for (uint64_t id = 1; id <= count; ++id) {
        all.push_back(moving(id, 0, 20, 10 + static_cast<double>(id % 7)));
        all.back().targets = {static_cast<uint32_t>(id), static_cast<uint32_t>(id + 100)};
        expected.push_back(id);
    }
    all.push_back(waiting(count + 1, 1, 10'000));
    for (const rule by : {rule::fcfs, rule::delay, rule::fair_share, rule::set_10, rule::dynamic}) {
        decision made = decide_about(all, by, 2, metric::sum_of_times, patient());
        std::ranges::sort(made.move);
        EXPECT_EQ(made.move, expected) << name_of(by);
        EXPECT_TRUE(made.stop.empty()) << name_of(by);
        EXPECT_EQ(made.groups.size(), 1U);
    }
}

TEST(dynamic, lets_those_begin_by_smiths_rule_that_share_nothing_with_those_that_move) {
    std::vector<application> all;
    for (uint64_t id = 1; id <= 40; ++id) {  // two at each target, of which the second one is shorter
        all.push_back(waiting(id, static_cast<double>(id), id % 2 == 0 ? 5 : 6));
        all.back().targets = {static_cast<uint32_t>((id + 1) / 2)};
    }
    all.push_back(waiting(41, 41, 10'000));
    decision made = decide_about(all, rule::dynamic, 42, metric::sum_of_times, patient());
    ids expected;
    for (uint64_t id = 2; id <= 40; id += 2) expected.push_back(id);
    std::ranges::sort(made.move);
    EXPECT_EQ(made.move, expected);
}

TEST(decide, does_not_keep_those_apart_that_meet_a_third) {
    // 2 uses the targets of both; whoever of 1 and 3 moves leaves the other's alone.
    std::vector<application> all{waiting(1, 0, 5), waiting(2, 1, 5), waiting(3, 2, 5)};
    all[0].targets = {1};
    all[1].targets = {1, 2};
    all[2].targets = {2};
    for (const rule by : {rule::fcfs, rule::fair_share, rule::interrupt, rule::dynamic})
        EXPECT_EQ(decide_about(all, by, 2).move, (ids{1, 3})) << name_of(by);
}

TEST(decide, stops_those_that_move_and_may_no_longer) {
    const std::vector<application> all{moving(1, 0, 10, 8), waiting(2, 2, 1)};
    const decision made = decide_about(all, rule::interrupt, 2);
    EXPECT_EQ(made.move, ids{2});
    EXPECT_EQ(made.stop, ids{1});
    EXPECT_EQ(made.groups.at(0).why, reason::newest);
    const decision kept = decide_about(all, rule::fcfs, 2);
    EXPECT_EQ(kept.move, ids{1});
    EXPECT_EQ(kept.stop, ids{});
}

TEST(decide, lets_nobody_wait_longer_than_the_bound) {
    for (const rule by : every_rule) {
        settings how;
        how.starvation_s = 3;
        how.relief_s = 0.5;
        std::vector<application> all{phase(1, 0, 40), phase(2, 0.5, 30), phase(3, 1, 20), phase(4, 1.5, 1),
                                     phase(5, 9, 2)};
        for (application& one : all) one.between_starts_s = std::pow(10.0, static_cast<double>(one.id));
        play some(all, by, metric::sum_of_times, how);
        (void)some.times();
        EXPECT_LE(some.longest_wait_s, how.starvation_s + 1e-9) << name_of(by);
        EXPECT_LT(some.decisions, 5000U) << name_of(by);
    }
}

TEST(decide, gives_those_that_waited_too_long_a_turn_of_some_length) {
    std::vector<application> all{moving(1, 0, 100, 70), waiting(2, 0, 100)};
    const decision made = decide_about(all, rule::fcfs, 30);
    EXPECT_EQ(made.move, ids{2});
    EXPECT_EQ(made.groups.at(0).why, reason::starving);
    EXPECT_DOUBLE_EQ(made.ask_again_s, 31);
    // A second later it still moves, and then the other does.
    all[0].state = movement::interrupted;
    all[0].since_s = 30;
    all[1].state = movement::moving;
    all[1].since_s = 30;
    all[1].waited_s = 30;
    EXPECT_EQ(decide_about(all, rule::fcfs, 31).move, ids{2});
    EXPECT_EQ(decide_about(all, rule::fcfs, 32).move, ids{1});
}

TEST(decide, asks_again_before_anybody_has_waited_too_long) {
    const std::vector<application> all{moving(1, 0, 100, 90), waiting(2, 1, 100)};
    settings how;
    how.ask_again_s = 1000;
    EXPECT_DOUBLE_EQ(decide_about(all, rule::fcfs, 10, metric::sum_of_times, how).ask_again_s, 31);
    EXPECT_DOUBLE_EQ(decide_about(all, rule::fcfs, 10).ask_again_s, 11);
}

TEST(decide, relieves_who_has_waited_for_the_bound_at_the_very_time_at_which_it_asks_again) {
    std::mt19937_64 random(10);
    std::uniform_real_distribution<double> some(1, 100);
    for (int k = 0; k < 1000; ++k) {
        settings how;
        how.starvation_s = some(random);
        how.ask_again_s = 1e6;
        const double since_s = 1000 * some(random);
        const std::vector<application> all{moving(1, 0, 1e6, 9e5), waiting(2, since_s, 100)};
        const auto decided = [&](double now_s) {
            return decide_about(all, rule::fcfs, now_s, metric::sum_of_times, how);
        };
        const double at_s = decided(since_s).ask_again_s;
        ASSERT_NEAR(at_s, since_s + how.starvation_s, 1e-9);
        ASSERT_EQ(decided(at_s).move, ids{2}) << "else it would be asked again at once, and for ever";
    }
}

TEST(delay, lets_the_next_one_in_as_soon_as_the_first_tolerates_it) {
    // Slow-down of 1.5 beside each other, 10 s alone. The first: 1.5 (10 - d) + d = 12.5 where d = 5.
    interference learned({64, 1.0 / 16, 0});
    const application one = phase(1, 0, 10);
    const application two = phase(2, 0, 10);
    learned.observe(one, two, 1 / 1.5);
    learned.observe(two, one, 1 / 1.5);
    settings how = patient();
    how.tolerated_factor = 1.25;
    how.ask_again_s = 1000;
    play some({one, two}, rule::delay, metric::sum_of_times, how);
    some.learned = &learned;
    std::vector<double> joined_s;
    some.look = [&](const decision& made, double now_s) {
        if (made.move.size() == 2) joined_s.push_back(now_s);
    };
    const std::vector<double> times = some.times();
    ASSERT_FALSE(joined_s.empty());
    EXPECT_NEAR(joined_s.front(), 5, 1e-6);
    EXPECT_NEAR(times[0], 12.5, 1e-6);
    EXPECT_NEAR(times[1], 17.5, 1e-6);
}

/// The processes of an application begin one after the other: the first one alone seems to be tolerable.
TEST(delay, lets_nobody_in_before_all_of_its_processes_have_begun) {
    settings how;
    how.all_begin_within_s = 0.1;
    application first = phase(1, 0, 7);
    first.state = movement::moving;
    first.weight = 4;
    first.left_s = 3.5;
    application second = phase(2, 3.5, 7);
    second.state = movement::waiting;
    const auto moves = [&](double weight, double now_s) {
        second.weight = weight;
        const std::array all{first, second};
        return decide({all}, rule::delay, metric::sum_of_times, now_s, how);
    };
    EXPECT_EQ(moves(1, 3.5).move, std::vector<uint64_t>{1});
    EXPECT_DOUBLE_EQ(moves(1, 3.5).ask_again_s, 3.6);
    EXPECT_EQ(moves(1, 3.5 + 0.1).move, (std::vector<uint64_t>{1, 2}));
    EXPECT_EQ(moves(4, 3.5 + 0.1).move, std::vector<uint64_t>{1});

    second.targets = {1};
    first.targets = {0};
    EXPECT_EQ(moves(1, 3.5).move, (std::vector<uint64_t>{1, 2}));
}

TEST(dynamic, interrupts_nobody_for_one_that_has_just_come) {
    settings how;
    how.interrupts_after_s = 0.025;
    application first = phase(1, 0, 7), second = phase(2, 3.5, 1);
    first.state = movement::moving;
    first.left_s = 3.5;
    second.state = movement::waiting;
    second.processes = 8;
    second.weight = 2;
    const auto decided = [&](double now_s) {
        const std::array all{first, second};
        return decide({all}, rule::dynamic, metric::sum_of_interference_factors, now_s, how);
    };
    EXPECT_EQ(decided(3.5).move, std::vector<uint64_t>{1});
    EXPECT_DOUBLE_EQ(decided(3.5).ask_again_s, 3.525);
    EXPECT_EQ(decided(3.525).move, std::vector<uint64_t>{2}) << "it is as small as it seemed";
    second.left_s = second.alone_s = 7;
    EXPECT_EQ(decided(3.525).move, std::vector<uint64_t>{1}) << "it is not";
    second.left_s = second.alone_s = 1;
    second.weight = 8;
    EXPECT_EQ(decided(3.5).move, std::vector<uint64_t>{2}) << "all of its processes have begun";
    second.weight = 2;
    first.state = movement::waiting;
    second.left_s = second.alone_s = 1;
    EXPECT_EQ(decided(3.5).move, std::vector<uint64_t>{2}) << "nobody moves";
}

TEST(dynamic, interrupts_for_one_that_has_waited_though_others_have_just_come) {
    settings how;
    how.interrupts_after_s = 0.025;
    application moves = phase(1, 0, 300), waits = phase(2, 3, 1), comes = phase(3, 3.5, 0.1);
    moves.state = movement::moving;
    moves.left_s = 296;
    waits.state = comes.state = movement::waiting;
    comes.processes = 8;
    comes.weight = 1;
    const auto decided = [&](double now_s) {
        const std::array all{moves, waits, comes};
        return decide({all}, rule::dynamic, metric::sum_of_interference_factors, now_s, how);
    };
    EXPECT_EQ(decided(3.5).move, std::vector<uint64_t>{2});
    EXPECT_DOUBLE_EQ(decided(3.5).ask_again_s, 3.525);
    EXPECT_EQ(decided(3.525).move, std::vector<uint64_t>{3});
}

TEST(delay, is_fcfs_where_nothing_is_tolerated_and_interfere_where_all_is) {
    settings how = patient();
    how.tolerated_factor = 1;
    EXPECT_NEAR(play({phase(1, 0, 10), phase(2, 3, 5)}, rule::delay, metric::sum_of_times, how).times()[1], 12, 1e-6);
    how.tolerated_factor = 100;
    EXPECT_NEAR(play({phase(1, 0, 10), phase(2, 3, 5)}, rule::delay, metric::sum_of_times, how).times()[1], 10, 1e-6);
    application small = phase(1, 0, 10);
    application other = phase(2, 0, 10);
    small.demand = other.demand = 0.5;
    how.tolerated_factor = 1;
    EXPECT_NEAR(play({small, other}, rule::delay, metric::sum_of_times, how).times()[1], 10, 1e-6);
}

TEST(fair_share, divides_time_by_the_weights_of_accounts) {
    std::vector<application> all{phase(1, 0, 60), phase(2, 0, 60), phase(3, 0, 60)};
    all[0].account = all[1].account = 7;
    all[2].account = 8;
    all[2].account_weight = 3;
    settings how = patient();
    play some(all, rule::fair_share, metric::sum_of_times, how);
    double had_s = 0;
    double until_s = 0;
    bool had = false;
    some.look = [&](const decision& made, double now_s) {
        if (now_s > 60) return;
        had_s += had ? now_s - until_s : 0;
        until_s = now_s;
        had = made.move.front() == 3;
        EXPECT_EQ(made.move.size(), 1U);
    };
    (void)some.times();
    EXPECT_NEAR(had_s / until_s, 0.75, 0.03);
}

TEST(set_10, divides_time_by_the_priorities_of_sets) {
    // Every 10 s and every 100 s: sets 1 and 2, so 10 turns to 1.
    std::vector<application> all{phase(1, 0, 60), phase(2, 0, 60)};
    all[0].between_starts_s = 120;
    all[1].between_starts_s = 9;
    EXPECT_EQ(set_of(all[0]), 2);
    EXPECT_EQ(set_of(all[1]), 1);
    play some(all, rule::set_10, metric::sum_of_times, patient());
    const std::vector<double> times = some.times();
    EXPECT_NEAR(times[1], 66, 1.5);
    EXPECT_NEAR(times[0], 120, 1e-6);
}

TEST(set_10, knows_no_sets_that_phases_cannot_have) {
    application one = phase(1, 0, 1);
    one.between_starts_s = 1e-300;
    EXPECT_EQ(set_of(one), -3);
    one.between_starts_s = 1e300;
    EXPECT_EQ(set_of(one), 6);
}

TEST(set_10, serves_one_of_a_set_after_the_other) {
    std::vector<application> all{phase(1, 0, 5), phase(2, 1, 5), phase(3, 2, 5)};
    for (application& one : all) one.between_starts_s = 50;
    const std::vector<double> times = play(all, rule::set_10, metric::sum_of_times, patient()).times();
    EXPECT_NEAR(times[0], 5, 1e-6);
    EXPECT_NEAR(times[1], 9, 1e-6);
    EXPECT_NEAR(times[2], 13, 1e-6);
}

TEST(decide, does_not_depend_on_the_order_of_its_input) {
    std::mt19937_64 random(8);
    std::uniform_real_distribution<double> some(0, 1);
    decider again;
    for (int k = 0; k < 200; ++k) {
        std::vector<application> all;
        for (uint64_t id = 1; id <= 2 + random() % 20; ++id) {
            // Few different values, so that there are ties.
            application one = waiting(id, std::floor(3 * some(random)), 1 + std::floor(3 * some(random)));
            one.state = static_cast<movement>(random() % 5);
            one.demand = random() % 2 == 0 ? 1 : 0.5;
            if (random() % 3 == 0) one.targets = {static_cast<uint32_t>(random() % 4)};
            all.push_back(one);
        }
        for (const rule by : every_rule) {
            const decision made = decide_about(all, by, 3);
            std::vector<application> shuffled = all;
            std::ranges::shuffle(shuffled, random);
            const decision& other = again.decide({shuffled}, by, metric::sum_of_times, 3);
            EXPECT_EQ(made.move, other.move) << name_of(by) << " " << k;
            EXPECT_EQ(made.stop, other.stop);
            EXPECT_EQ(made.ask_again_s, other.ask_again_s);
        }
    }
}

TEST(decide, copes_with_numbers_that_make_no_sense) {
    std::mt19937_64 random(9);
    constexpr double infinite = std::numeric_limits<double>::infinity();
    const std::array numbers{0.0, -1.0, 1e-300, 1e300, infinite, -infinite, std::nan(""), 1.0, 5.0};
    const auto any = [&] { return numbers[random() % numbers.size()]; };
    decider some;
    for (int k = 0; k < 20000; ++k) {
        std::vector<application> all;
        interference learned;
        for (uint64_t id = 1; id <= 1 + random() % 11; ++id) {
            application one;
            one.id = id;
            one.state = static_cast<movement>(random() % 5);
            one.processes = static_cast<int64_t>(random() % 5) - 2;
            one.nodes = random() % 2 == 0 ? INT64_MAX : -1;
            for (double* number :
                 {&one.watts_per_node, &one.account_weight, &one.alone_s, &one.left_s, &one.arrived_s, &one.probability,
                  &one.demand, &one.weight, &one.since_s, &one.waited_s, &one.between_starts_s})
                *number = any();
            if (random() % 4 == 0) one.targets = {static_cast<uint32_t>(random() % 3)};
            all.push_back(one);
        }
        for (const application& one : all) learned.observe(one, all.front(), any());
        settings how;
        for (double* number : {&how.starvation_s, &how.relief_s, &how.slice_s, &how.tolerated_factor,
                               &how.interruption_s, &how.least_gain, &how.all_begin_within_s, &how.interrupts_after_s,
                               &how.least_probability, &how.ask_again_s})
            *number = any();
        how.search_positions = 1000;
        how.search_budget = k % 3 == 0 ? 100 : UINT64_MAX;
        how.alternatives = k % 2 == 0;
        for (const rule by : every_rule) {
            for (const metric minimise : every_metric) {
                const decision& made = some.decide({all, &learned, nullptr, nullptr, any()}, by, minimise, any(), how);
                EXPECT_TRUE(std::isfinite(made.ask_again_s));
                bool anybody = false;
                for (const application& one : all) anybody = anybody || present(one);
                EXPECT_EQ(made.move.empty(), !anybody);
                for (const alternative& one : made.alternatives) EXPECT_TRUE(std::isfinite(one.cost)) << one.cost;
            }
        }
    }
}

TEST(decide, never_holds_back_a_phase_with_nothing_left) {
    for (const rule by : every_rule) {
        const std::vector<application> all{moving(1, 0, 10, 5), waiting(2, 1, 0), waiting(3, 2, 5)};
        const decision made = decide_about(all, by, 3);
        EXPECT_EQ(std::ranges::count(made.move, 2U), 1) << name_of(by);
    }
}

TEST(decide, names_the_cost_of_the_alternatives) {
    // 10 s left and 1 s left at 2 s: T of 12 and 11 in order, 13 and 1 the other way.
    const std::vector<application> all{moving(1, 0, 12, 10), waiting(2, 2, 1)};
    const decision made = decide_about(all, rule::dynamic, 2);
    ASSERT_EQ(made.groups.size(), 1U);
    ASSERT_EQ(made.alternatives.size(), 4U);
    const auto cost = [&](rule way) { return std::ranges::find(made.alternatives, way, &alternative::way)->cost; };
    EXPECT_NEAR(cost(rule::fcfs), 12 + 11, 1e-9);
    const double interruption = 2 * settings().interruption_s;  // for both
    EXPECT_NEAR(cost(rule::interrupt), 13 + 1 + interruption, 1e-9);
    EXPECT_NEAR(cost(rule::interfere), 13 + 2, 1e-9);
    EXPECT_NEAR(cost(rule::dynamic), 13 + 1 + interruption, 1e-9);
}

}  // namespace
}  // namespace halcyon::policy
