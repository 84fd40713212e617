#include "models/collisions.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

#include "halcyon/error.hpp"
#include "models/stripes.hpp"

namespace halcyon::models {
namespace {

double sum(const std::vector<double>& values) {
    return std::accumulate(values.begin(), values.end(), 0.0);
}

double mean(const std::vector<double>& probabilities) {
    double total = 0;
    for (size_t k = 0; k < probabilities.size(); ++k) total += static_cast<double>(k) * probabilities[k];
    return total;
}

TEST(jobs_on_a_target, are_binomial_where_requests_are_equal) {
    const std::vector<double> four(4, 160);  // a third of 480
    const std::vector<double> on_it = jobs_on_a_target(480, four);
    ASSERT_EQ(on_it.size(), 5U);
    for (const auto& [k, expected] : {std::pair{0, 16.0}, {1, 32.0}, {2, 24.0}, {3, 8.0}, {4, 1.0}})
        EXPECT_NEAR(on_it[static_cast<size_t>(k)], expected / 81, 1e-12) << k;
}

TEST(jobs_on_a_target, agree_with_the_expected_load) {
    const std::vector<double> jobs{1, 20, 300, 0, 480};
    const std::vector<double> on_it = jobs_on_a_target(480, jobs);
    EXPECT_NEAR(sum(on_it), 1, 1e-12);
    EXPECT_NEAR(480 * mean(on_it), load_of_jobs(480, jobs).requested, 1e-9);
    EXPECT_NEAR(480 * (1 - on_it[0]), load_of_jobs(480, jobs).in_use, 1e-9);
}

TEST(jobs_on_a_target, of_100000_ranks_are_quickly_known) {
    const std::vector<double> ranks(100'000, 2);
    const std::vector<double> on_it = jobs_on_a_target(480, ranks);
    EXPECT_NEAR(sum(on_it), 1, 1e-9);
    EXPECT_NEAR(480 * mean(on_it), 200'000, 1e-3);
}

/// All ways to choose, for targets few enough to list them.
std::vector<double> in_use_by_listing(unsigned targets, const std::vector<unsigned>& requests) {
    std::vector<double> of_set(size_t{1} << targets, 0.0);
    of_set[0] = 1;
    for (const unsigned request : requests) {
        std::vector<double> next(of_set.size(), 0.0);
        double ways = 0;
        for (size_t chosen = 0; chosen < of_set.size(); ++chosen)
            ways += static_cast<unsigned>(__builtin_popcountll(chosen)) == request;
        for (size_t used = 0; used < of_set.size(); ++used)
            for (size_t chosen = 0; chosen < of_set.size(); ++chosen)
                if (static_cast<unsigned>(__builtin_popcountll(chosen)) == request)
                    next[used | chosen] += of_set[used] / ways;
        of_set = next;
    }
    std::vector<double> result(targets + 1, 0.0);
    for (size_t used = 0; used < of_set.size(); ++used)
        result[static_cast<size_t>(__builtin_popcountll(used))] += of_set[used];
    return result;
}

TEST(targets_in_use, are_as_by_listing_all_choices) {
    const std::vector<unsigned> requests{3, 1, 4, 4, 0, 2};
    const std::vector<double> listed = in_use_by_listing(7, requests);
    const std::vector<double> computed = targets_in_use(7, std::vector<double>(requests.begin(), requests.end()));
    ASSERT_EQ(computed.size(), listed.size());
    for (size_t u = 0; u < listed.size(); ++u) EXPECT_NEAR(computed[u], listed[u], 1e-12) << u;
}

TEST(targets_in_use, have_the_mean_of_the_equation) {
    for (const int64_t ranks : {16, 64, 512}) {
        const std::vector<double> logs(static_cast<size_t>(ranks), 2);
        const std::vector<double> in_use = targets_in_use(480, logs);
        EXPECT_NEAR(sum(in_use), 1, 1e-9);
        EXPECT_NEAR(mean(in_use), load_of_equal_jobs(480, 2, ranks).in_use, 1e-7) << ranks;
    }
    const std::vector<double> four(4, 160);
    EXPECT_NEAR(mean(targets_in_use(480, four)), 385.185, 0.0005);
}

TEST(targets_in_use, are_as_often_as_in_draws) {
    std::mt19937_64 random(1);
    std::vector<size_t> order(30);
    std::iota(order.begin(), order.end(), size_t{0});
    std::vector<double> seen(31, 0.0);
    constexpr int DRAWS = 40'000;
    for (int draw = 0; draw < DRAWS; ++draw) {
        std::vector<bool> used(30, false);
        for (const size_t request : {5, 11, 3}) {
            std::shuffle(order.begin(), order.end(), random);
            for (size_t i = 0; i < request; ++i) used[order[i]] = true;
        }
        seen[static_cast<size_t>(std::count(used.begin(), used.end(), true))] += 1.0 / DRAWS;
    }
    const std::vector<double> in_use = targets_in_use(30, std::vector<double>{5, 11, 3});
    for (size_t u = 0; u <= 30; ++u) EXPECT_NEAR(seen[u], in_use[u], 5 * std::sqrt(in_use[u] / DRAWS) + 1e-4) << u;
}

TEST(collisions, of_parts_of_stripes_or_too_many_targets_are_refused) {
    EXPECT_THROW((void)jobs_on_a_target(480, std::vector<double>{1.5}), error);
    EXPECT_THROW((void)jobs_on_a_target(480, std::vector<double>{481}), error);
    EXPECT_THROW((void)targets_in_use(0, std::vector<double>{}), error);
    EXPECT_THROW((void)targets_in_use(1 << 17, std::vector<double>{1}), error);
}

}  // namespace
}  // namespace halcyon::models
