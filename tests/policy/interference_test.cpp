#include "policy/interference.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <random>
#include <set>
#include <vector>

namespace halcyon::policy {
namespace {

application writer(uint64_t id, double demand = 1, double weight = 1) {
    application made;
    made.id = id;
    made.demand = demand;
    made.weight = weight;
    return made;
}

TEST(proportional_sharing, gives_a_smaller_demand_all_that_it_takes) {
    const slow_downs pair = proportional(writer(1, 0.1, 1), writer(2, 1, 1));
    EXPECT_DOUBLE_EQ(pair.first, 1);
    EXPECT_NEAR(pair.second, 1 / 0.9, 1e-12);
    EXPECT_DOUBLE_EQ(proportional(writer(1, 0.5), writer(2, 0.5)).first, 1);
    EXPECT_DOUBLE_EQ(proportional(writer(1, 1, 1), writer(2, 1, 3)).first, 4);
    EXPECT_NEAR(proportional(writer(1, 1, 1), writer(2, 1, 3)).second, 4.0 / 3, 1e-12);
}

TEST(proportional_sharing, does_not_slow_down_those_on_other_targets) {
    application a = writer(1);
    application b = writer(2);
    a.targets = {1, 3};
    b.targets = {2, 4};
    EXPECT_EQ(proportional(a, b).first, 1);
    b.targets = {2, 3, 4};
    EXPECT_EQ(proportional(a, b).first, 2);
    b.targets.clear();
    EXPECT_EQ(proportional(a, b).second, 2);
}

TEST(sharing, is_found_in_lists_of_any_length) {
    std::mt19937 random(1);
    int shared = 0;
    for (int repeat = 0; repeat < 10000; ++repeat) {
        std::set<uint32_t> first, second;
        for (std::set<uint32_t>* const one : {&first, &second})
            for (uint32_t i = 0; i < 1 + random() % 8; ++i) one->insert(static_cast<uint32_t>(random() % 40));
        const std::vector<uint32_t> a(first.begin(), first.end()), b(second.begin(), second.end());
        const bool found = std::ranges::any_of(a, [&](uint32_t target) { return second.contains(target); });
        ASSERT_EQ(share_targets(a, b), found);
        shared += found ? 1 : 0;
    }
    EXPECT_GT(shared, 2000);
    EXPECT_LT(shared, 8000);
}

TEST(interference, approaches_the_slow_down_that_is_observed) {
    interference learned;
    const application a = writer(1);
    const application b = writer(2);
    EXPECT_DOUBLE_EQ(learned.between(a, b).first, 2);
    learned.observe(a, b, 1 / 1.2);
    EXPECT_NEAR(learned.between(a, b).first, 1.6, 1e-12) << "one observation weighs as much as the assumption";
    for (int i = 0; i < 100; ++i) learned.observe(a, b, 1 / 1.2);
    EXPECT_NEAR(learned.between(a, b).first, 1.2, 0.01);
    EXPECT_NEAR(learned.between(b, a).second, 1.2, 0.01);
    EXPECT_DOUBLE_EQ(learned.between(a, b).second, 2) << "the other direction was not observed";
    EXPECT_EQ(learned.observations(1, 2), 101U);
}

TEST(interference, forgets_what_has_changed) {
    interference learned;
    const application a = writer(1);
    const application b = writer(2);
    for (int i = 0; i < 200; ++i) learned.observe(a, b, 0.2);
    for (int i = 0; i < 60; ++i) learned.observe(a, b, 0.8);
    EXPECT_NEAR(learned.between(a, b).first, 1.25, 0.15);
}

TEST(interference, of_noisy_speeds_is_found_within_a_tenth) {
    std::mt19937_64 random(4);
    std::normal_distribution<double> noise(0, 0.15);
    for (const double truth : {1.0, 1.3, 2.0, 3.5}) {
        interference learned;
        for (int i = 0; i < 200; ++i) learned.observe(writer(1), writer(2), std::exp(noise(random)) / truth);
        EXPECT_NEAR(learned.between(writer(1), writer(2)).first, truth, 0.1 * truth) << truth;
    }
}

TEST(interference, of_each_of_several_is_found_from_their_sets) {
    std::mt19937_64 random(5);
    const std::array all{writer(1), writer(2), writer(3), writer(4)};
    const std::array truth{0.0, 0.2, 1.5, 3.0};  // excess of 1 beside each
    interference learned;
    for (int k = 0; k < 4000; ++k) {
        std::vector<const application*> others;
        double slow_down = 1;
        for (size_t i = 1; i < all.size(); ++i) {
            if (random() % 2 == 0) continue;
            others.push_back(&all[i]);
            slow_down += truth[i];
        }
        learned.observe(all[0], others, 1 / slow_down);
    }
    for (size_t i = 1; i < all.size(); ++i)
        EXPECT_NEAR(learned.between(all[0], all[i]).first - 1, truth[i], 0.1 + 0.1 * truth[i]) << i;
}

TEST(interference, ignores_observations_that_make_no_sense) {
    interference learned;
    const application a = writer(1);
    const application b = writer(2);
    for (const double speed : {0.0, -1.0, std::nan(""), std::numeric_limits<double>::infinity()})
        learned.observe(a, b, speed);
    learned.observe(a, std::span<const application* const>{}, 0.5);
    learned.observe(a, a, 0.5);
    EXPECT_TRUE(learned.empty());
    learned.observe(a, b, 7);
    EXPECT_NEAR(learned.between(a, b).first, 1.5, 1e-12);
}

TEST(interference, keeps_a_bounded_number_of_pairs_and_forgets_those_of_an_application) {
    interference learned({64, 1.0 / 16, 1});
    for (uint64_t id = 1; id <= 1000; ++id) learned.observe(writer(id), writer(id + 1), 0.5);
    EXPECT_LE(learned.pairs().size(), 64U);
    EXPECT_EQ(learned.observations(1000, 1001), 1U);
    EXPECT_EQ(learned.observations(1, 2), 0U);
    learned.forget(1000);
    EXPECT_EQ(learned.observations(1000, 1001), 0U);
    EXPECT_EQ(learned.observations(999, 1000), 0U);
}

}  // namespace
}  // namespace halcyon::policy
