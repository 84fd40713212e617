#include "policy/problem.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "policy/contender.hpp"
#include "policy/problem_of.hpp"
#include "policy/random_problem.hpp"

namespace halcyon::policy {
namespace {

problem problem_of(const std::vector<application>& all, double unseen_share = 0) {
    problem made;
    problem_builder build(made, nullptr, unseen_share, 0);
    for (const application& one : all) build.add({&one, 0, 1, 1, false});
    return made;
}

application waiting_writer(double demand, double weight) {
    application made;
    made.demand = demand;
    made.weight = weight;
    made.state = movement::waiting;
    return made;
}

TEST(speeds, of_saturating_applications_are_their_shares_of_all_weights) {
    std::mt19937_64 random(1);
    std::uniform_real_distribution<double> some(0.1, 10);
    for (int k = 0; k < 1000; ++k) {
        std::vector<application> all;
        double weights = 0;
        for (int i = 0; i < 2 + k % 10; ++i) {
            all.push_back(waiting_writer(1, some(random)));
            weights += all.back().weight;
        }
        const problem made = problem_of(all);
        problem::values speed{};
        speeds_of(made, made.all(), speed);
        for (size_t i = 0; i < all.size(); ++i) EXPECT_NEAR(speed[i], all[i].weight / weights, 1e-12);
        EXPECT_TRUE(overlap_never_gains(made));
    }
}

TEST(speeds, of_applications_that_fit_beside_one_another_are_full) {
    const problem made = problem_of({waiting_writer(0.3, 1), waiting_writer(0.3, 5), waiting_writer(0.4, 2)});
    problem::values speed{};
    speeds_of(made, made.all(), speed);
    for (uint32_t i = 0; i < 3; ++i) EXPECT_DOUBLE_EQ(speed[i], 1);
    EXPECT_FALSE(overlap_never_gains(made));
}

TEST(speeds, never_take_more_than_all_of_the_bandwidth) {
    // Each two fit, all three do not.
    const problem made = problem_of({waiting_writer(0.5, 1), waiting_writer(0.5, 1), waiting_writer(0.5, 1)});
    problem::values speed{};
    speeds_of(made, made.all(), speed);
    for (uint32_t i = 0; i < 3; ++i) EXPECT_NEAR(speed[i], 2.0 / 3, 1e-12);
}

TEST(speeds, beside_an_unseen_writer_share_the_rest) {
    const problem made = problem_of({waiting_writer(1, 1), waiting_writer(1, 3), waiting_writer(0.25, 1)}, 0.5);
    problem::values speed{};
    speeds_of(made, 1, speed);
    EXPECT_DOUBLE_EQ(speed[0], 0.5);
    speeds_of(made, 3, speed);
    EXPECT_NEAR(speed[0], 0.125, 1e-12);
    EXPECT_NEAR(speed[1], 0.375, 1e-12);
    speeds_of(made, 4, speed);
    EXPECT_DOUBLE_EQ(speed[2], 1);
}

TEST(speeds, beside_an_unseen_writer_are_not_raised_by_what_other_storage_bears) {
    interference learned({64, 1.0 / 16, 0});
    std::vector<application> all{waiting_writer(1, 1), waiting_writer(1, 1), waiting_writer(1, 1)};
    for (size_t i = 0; i < all.size(); ++i) all[i].id = i + 1;
    all[0].targets = {1};
    all[1].targets = all[2].targets = {2};
    learned.observe(all[1], all[2], 1 / 1.1);
    learned.observe(all[2], all[1], 1 / 1.1);
    problem made;
    problem_builder build(made, &learned, 0.5, 0);
    for (const application& one : all) build.add({&one, 0, 1, 1, false});
    speed_table table;
    table.fill(made);
    problem::values speed{};
    speeds_of(made, made.all(), speed);
    for (const double* const found : {static_cast<const double*>(speed.data()), table.of(made.all())}) {
        EXPECT_NEAR(found[0], 0.5, 1e-12) << "as alone";
        EXPECT_NEAR(found[1], 0.5 / 1.1, 1e-12);
        EXPECT_NEAR(found[2], 0.5 / 1.1, 1e-12);
    }
}

/// Of speeds relative to each alone, which others have made slow.
double gain(const problem& of) {
    problem::values speed{}, alone{};
    speeds_of(of, of.all(), speed);
    double sum = 0;
    for (uint32_t i = 0; i < of.count; ++i) {
        speeds_of(of, members{1} << i, alone);
        sum += speed[i] / alone[i];
    }
    return sum - 1;
}

TEST(overlaps, gain_beside_an_unseen_writer_that_slows_one_of_two_down_alone) {
    interference learned({64, 1.0 / 16, 0});
    application large = waiting_writer(1, 1), small = waiting_writer(0.1, 1);
    large.id = 1;
    small.id = 2;
    learned.observe(large, small, 0.5);
    learned.observe(small, large, 0.5);
    for (const double unseen_share : {0.0, 0.5}) {
        problem made;
        problem_builder build(made, &learned, unseen_share, 0);
        for (const application* one : {&large, &small}) build.add({one, 0, 1, 1, false});
        EXPECT_EQ(overlap_never_gains(made), unseen_share == 0);
        EXPECT_EQ(gain(made) > 1e-9, unseen_share > 0) << gain(made);
    }
}

TEST(speeds, on_disjoint_targets_do_not_change) {
    std::vector<application> all{waiting_writer(1, 1), waiting_writer(1, 1), waiting_writer(1, 1)};
    all[0].targets = {1, 2};
    all[1].targets = {3};
    all[2].targets = {2, 3};
    const problem made = problem_of(all);
    problem::values speed{};
    speeds_of(made, 3, speed);
    EXPECT_DOUBLE_EQ(speed[0], 1);
    EXPECT_DOUBLE_EQ(speed[1], 1);
    speeds_of(made, 7, speed);
    EXPECT_DOUBLE_EQ(speed[0], 0.5);
    EXPECT_DOUBLE_EQ(speed[1], 0.5);
    EXPECT_LT(speed[2], 0.5);
}

TEST(speeds, of_a_table_are_those_computed_alone) {
    std::mt19937_64 random(2);
    speed_table table;
    for (uint32_t k = 0; k < 200; ++k) {
        const instance_kind kind{false, k % 2 == 0, k % 3 == 0, k % 5 == 0, false, k % 7 == 0};
        const problem made = random_problem(random, 2 + k % 7, kind);
        table.fill(made);
        for (members set = 0; set <= made.all(); ++set) {
            problem::values speed{};
            speeds_of(made, set, speed);
            for (uint32_t i = 0; i < made.count; ++i) ASSERT_NEAR(table.of(set)[i], speed[i], 1e-12);
        }
    }
}

TEST(overlaps, that_never_gain_in_pairs_never_gain_in_sets) {
    std::mt19937_64 random(3);
    std::uniform_real_distribution<double> some(-2, 2);
    for (uint32_t k = 0; k < 500; ++k) {
        problem made = random_problem(random, 6, {});
        for (uint32_t i = 0; i < made.count; ++i) {
            for (uint32_t j = 0; j < i; ++j) {
                made.excess[i][j] = std::exp(some(random));
                made.excess[j][i] = (1 + (k % 2) * std::abs(some(random))) / made.excess[i][j];
            }
        }
        ASSERT_TRUE(overlap_never_gains(made));
        for (members set = 1; set <= made.all(); ++set) {
            problem::values speed{};
            speeds_of(made, set, speed);
            double sum = 0;
            for (const double one : speed) sum += one;
            EXPECT_LE(sum, 1 + 1e-9);
        }
    }
}

}  // namespace
}  // namespace halcyon::policy
