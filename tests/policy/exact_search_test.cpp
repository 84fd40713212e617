#include "policy/exact_search.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "instances.hpp"
#include "policy/bounded_enumeration.hpp"
#include "policy/brute_force.hpp"
#include "policy/random_problem.hpp"

namespace halcyon::policy {
namespace {

const plan nothing_known{0, std::numeric_limits<double>::infinity(), 0, true};

/// Each of 32, beside others that are not seen or not.
instance_kind kind_of(uint32_t number, bool unseen = false) {
    return {(number & 1) != 0, (number & 2) != 0, (number & 4) != 0, (number & 8) != 0, (number & 16) != 0, unseen};
}

/// Equal to brute force for so many instances of each of so many kinds (or each of them without arrivals).
void expect_equal(uint32_t count, uint32_t each, uint64_t seed, bool arrivals = true, uint32_t kinds = 32) {
    std::mt19937_64 random(seed);
    exact_search search;
    speed_table speeds;
    for (uint32_t i = 0; i < kinds; ++i) {
        const uint32_t number = 5 * i % 32;
        if (!arrivals && kind_of(number).arrivals) continue;
        for (uint32_t k = 0; k < each; ++k) {
            problem some = random_problem(random, count, kind_of(number, k % 4 >= 2));
            // Every other one has a queue behind it.
            if (k % 2 == 1) some.cost_after_per_s = 0.5;
            speeds.fill(some);
            const plan found = search.solve(some, speeds, nothing_known);
            brute_force all(some);
            const double least = all.best().first;
            ASSERT_TRUE(found.complete);
            ASSERT_NEAR(found.cost, least, 1e-9 * least) << count << " applications, kind " << number << ", " << k;
            // What it does first is part of a schedule of that cost.
            ASSERT_NE(found.first, 0U);
            ASSERT_NEAR(all.best_after(found.first), least, 1e-9 * least);
        }
    }
}

TEST(exact_search, finds_what_brute_force_finds_up_to_three) {
    expect_equal(1, 10, 1);
    expect_equal(2, 250, 2);
    expect_equal(3, 250, 3);
}

TEST(exact_search, finds_what_brute_force_finds_for_four) {
    expect_equal(4, 50, 4);
}

TEST(exact_search, finds_what_brute_force_finds_for_five) {
    expect_equal(5, instances(4, 15), 5);
}

// Brute force takes seconds for each with arrivals: policy_campaign has time for that.
TEST(exact_search, finds_what_brute_force_finds_for_six_that_are_present) {
    expect_equal(6, 1, 6, false, instances(8, 32));
}

/// Of each kind, with one arrival at most.
void expect_equal_to_enumeration(uint32_t count, uint64_t seed, uint32_t kinds = 32) {
    std::mt19937_64 random(seed);
    exact_search search;
    speed_table speeds;
    for (uint32_t number = 0; number < kinds; ++number) {
        problem some = random_problem(random, count, kind_of(number, count < 8 && number % 4 == 2));
        for (uint32_t i = 0; i + 1 < count; ++i) some.arrives_s[i] = 0;
        if (number % 3 == 1) some.cost_after_per_s = 0.5;
        speeds.fill(some);
        const plan found = search.solve(some, speeds, nothing_known);
        ASSERT_TRUE(found.complete);
        const double least = bounded_enumeration(some).least_cost(found.cost * (1 + 1e-9));
        ASSERT_NEAR(found.cost, least, 1e-9 * least) << count << " applications, kind " << number;
    }
}

TEST(exact_search, finds_what_an_enumeration_finds_for_five_to_seven) {
    for (uint32_t count = 5; count <= 6; ++count) expect_equal_to_enumeration(count, count);
    expect_equal_to_enumeration(7, 7, instances(8, 32));
}

// The enumeration takes up to minutes for some of the other kinds: policy_campaign has time for those.
TEST(exact_search, finds_what_an_enumeration_finds_for_eight) {
    expect_equal_to_enumeration(8, 8, instances(2, 5));
}

TEST(exact_search, improves_on_a_known_plan_only) {
    std::mt19937_64 random(9);
    exact_search search;
    speed_table speeds;
    for (int k = 0; k < 50; ++k) {
        const problem some = random_problem(random, 5, kind_of(6));
        speeds.fill(some);
        const plan best = search.solve(some, speeds, nothing_known);
        EXPECT_EQ(search.solve(some, speeds, {best.first, best.cost * 1.5, 0, true}).first, best.first);
        const plan kept = search.solve(some, speeds, {31, best.cost * 0.9, 0, true});
        EXPECT_EQ(kept.first, 31U);
        EXPECT_EQ(kept.cost, best.cost * 0.9);
    }
}

/// Some that cannot be told apart, of which nobody else looks like them.
TEST(exact_search, finds_what_brute_force_finds_where_some_are_alike) {
    std::mt19937_64 random(11);
    exact_search search;
    speed_table speeds;
    for (uint32_t k = 0; k < 40; ++k) {
        problem some = random_problem(random, 5, {false, k % 2 == 0, false, false, k % 3 == 0});
        for (uint32_t i = 1; i < 4; ++i) {
            some.cost_per_s[i] = some.cost_per_s[0];
            some.left_s[i] = some.left_s[0];
            some.demand[i] = some.demand[0];
        }
        for (uint32_t i = 0; i < 5; ++i)
            for (uint32_t j = 0; j < 5; ++j)
                if (i != j) {
                    const double alike = k % 4 == 0 ? 0.7 : 1.2;
                    some.excess[i][j] = i == 4 ? 2 : j == 4 ? 0.3 : alike;
                    some.borne[i][j] = some.borne[j][i] = 1;
                }
        speeds.fill(some);
        const double least = brute_force(some).best().first;
        ASSERT_NEAR(search.solve(some, speeds, nothing_known).cost, least, 1e-9 * least) << k;
    }
}

/// The coordinator bounds the time of a decision by positions.
TEST(exact_search, counts_a_position_with_many_present_as_often_as_its_sets_take_time) {
    std::mt19937_64 random(12);
    exact_search search;
    speed_table speeds;
    for (const uint32_t count : {8U, 9U, 12U}) {
        const problem some = random_problem(random, count, kind_of(6));
        speeds.fill(some);
        const plan found = search.solve(some, speeds, nothing_known, 2);
        EXPECT_FALSE(found.complete);
        EXPECT_EQ(found.nodes, count == 8 ? 3U : (1U << count) / 32) << count;
    }
}

TEST(exact_search, stops_at_the_limit_and_says_so) {
    std::mt19937_64 random(10);
    const problem some = random_problem(random, 8, kind_of(6));
    exact_search search;
    speed_table speeds;
    speeds.fill(some);
    const plan cut = search.solve(some, speeds, nothing_known, 20);
    EXPECT_FALSE(cut.complete);
    EXPECT_LE(cut.nodes, 21U);
    const plan whole = search.solve(some, speeds, nothing_known);
    EXPECT_GE(cut.cost, whole.cost);
    // Wherever it stops, also among the bounds of a thorough search.
    for (uint64_t limit = 50; limit < whole.nodes; limit += 1 + limit / 9)
        EXPECT_LE(search.solve(some, speeds, nothing_known, limit).nodes, limit + 1);
}

}  // namespace
}  // namespace halcyon::policy
