// The bound by which the gap of the heuristic is known, against brute force and the exact search.
#include "policy/pair_prices.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "instances.hpp"
#include "policy/brute_force.hpp"
#include "policy/random_group.hpp"
#include "policy/random_problem.hpp"

namespace halcyon::policy {
namespace {

/// Of 64 kinds in turn; every other one has a queue behind it.
problem some_problem(std::mt19937_64& random, uint32_t count, uint32_t k) {
    problem made = random_problem(
        random, count, {(k & 1) != 0, (k & 2) != 0, (k & 4) != 0, (k & 8) != 0, (k & 16) != 0, (k & 32) != 0});
    if (k % 3 == 1) made.cost_after_per_s = 0.5;
    return made;
}

TEST(pair_prices, are_never_above_the_least_cost) {
    std::mt19937_64 random(1);
    double sum = 0;
    for (uint32_t k = 0; k < 256; ++k) {
        const problem of = some_problem(random, 2 + k / 64, k % 64);
        speed_table speeds;
        speeds.fill(of);
        const double least = brute_force(of).best().first;
        for (const double share : {0.9, 1.0, 1.1}) {
            const proof found = prove(of, speeds, share * least, 1);
            ASSERT_LE(found.bound, least * (1 + 1e-9)) << k << ' ' << share;
            sum += share == 1 ? found.bound / least : 0;
        }
    }
    EXPECT_GT(sum / 256, 0.95);
}

TEST(pair_prices, of_both_orders_of_pairs_prove_no_more_than_is_true) {
    std::mt19937_64 random(2);
    uint32_t proven = 0, found_orders = 0;
    for (uint32_t k = 0; k < 192; ++k) {
        const problem of = some_problem(random, 3 + k / 64, k % 64);
        speed_table speeds;
        speeds.fill(of);
        const double least = brute_force(of).best().first;
        for (const double share : {0.98, 0.999, 1.001, 1.05}) {
            const proof found = prove(of, speeds, share * least, 500);
            ASSERT_LE(found.bound, least * (1 + 1e-9)) << k << ' ' << share;
            ASSERT_LT(found.programs, 500U);
            // Unless it proves what is asked, it says of which order it does not.
            ASSERT_EQ(found.order_found, found.bound < share * least) << k << ' ' << share;
            proven += share < 0.99 && !found.order_found ? 1 : 0;
            found_orders += share > 1 ? 1 : 0;
        }
    }
    EXPECT_GT(proven, 130U);
    EXPECT_EQ(found_orders, 2 * 192U);
}

TEST(pair_prices, are_never_above_the_least_cost_of_seven_to_nine) {
    std::mt19937_64 random(3);
    const uint32_t looked_at = instances(16, 48);
    double sum = 0;
    for (uint32_t k = 0; k < 48; ++k) {
        const uint32_t kind = k % 8;
        const random_group group = make_group(random, kind >= 4 ? 7 : 7 + k / 16, kind);
        if (k % (48 / looked_at) != 0) continue;
        const whole_problem whole(group, static_cast<metric>(k / 8 % 4));
        const plan best = whole.least_cost(std::numeric_limits<double>::infinity());
        for (const double share : {0.98, 0.995, 1.01}) {
            const proof found = prove(whole.of, whole.speeds, share * best.cost, 30);
            ASSERT_LE(found.bound, best.cost * (1 + 1e-9)) << k << ' ' << share;
            sum += share < 0.99 ? std::min(found.bound / best.cost, 0.98) : 0;
        }
    }
    EXPECT_GT(sum / looked_at, 0.979);
}

}  // namespace
}  // namespace halcyon::policy
