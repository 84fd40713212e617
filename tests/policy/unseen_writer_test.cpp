#include "policy/unseen_writer.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace halcyon::policy {
namespace {

/// Observations of a known writer that would take `demand`, beside one that takes `share` of the storage.
double estimated(double demand, double share, double noise, int observations, uint64_t seed) {
    std::mt19937_64 random(seed);
    std::normal_distribution<double> some(0, noise);
    unseen_writer unseen;
    for (int i = 0; i < observations; ++i) {
        const double measured = std::min(demand, 1 - share) * std::exp(some(random));
        unseen.observe(demand, measured);
    }
    return unseen.share();
}

TEST(unseen_writer, is_found_within_a_fifth_of_its_share) {
    double worst = 0;
    for (const double share : {0.2, 0.35, 0.5, 0.75, 0.9}) {
        for (uint64_t seed = 0; seed < 200; ++seed) {
            const double error = std::abs(estimated(1, share, 0.1, 64, seed) / share - 1);
            worst = std::max(worst, error);
            EXPECT_LE(error, 0.2) << share << ", seed " << seed;
        }
    }
    RecordProperty("worst_error", std::to_string(worst));
}

TEST(unseen_writer, is_found_by_one_that_does_not_fill_the_storage) {
    for (uint64_t seed = 0; seed < 50; ++seed) EXPECT_NEAR(estimated(0.6, 0.7, 0.1, 64, seed), 0.7, 0.14) << seed;
}

TEST(unseen_writer, that_is_not_there_is_seldom_seen) {
    int seen = 0;
    for (uint64_t seed = 0; seed < 200; ++seed) seen += estimated(1, 0, 0.1, 64, seed) > 0.05 ? 1 : 0;
    EXPECT_LE(seen, 4);
}

TEST(unseen_writer, that_leaves_is_forgotten) {
    unseen_writer unseen(16);
    for (int i = 0; i < 50; ++i) unseen.observe(1, 0.4);
    EXPECT_NEAR(unseen.share(), 0.6, 1e-9);
    for (int i = 0; i < 100; ++i) unseen.observe(1, 1);
    EXPECT_LT(unseen.share(), 0.01);
}

TEST(unseen_writer, ignores_shares_that_make_no_sense) {
    unseen_writer unseen;
    const double nothing = std::nan("");
    for (const double share : {0.0, -1.0, nothing, std::numeric_limits<double>::infinity()}) {
        unseen.observe(share, 0.5);
        unseen.observe(0.5, share);
    }
    EXPECT_EQ(unseen.share(), 0);
    unseen.observe(1, 0.5);
    EXPECT_EQ(unseen.share(), 0) << "one observation proves nothing";
}

}  // namespace
}  // namespace halcyon::policy
