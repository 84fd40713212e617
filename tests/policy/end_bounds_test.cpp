// The bounds of exact_search by the orders of ends, against brute force.
#include <gtest/gtest.h>

#include "policy/brute_force.hpp"
#include "policy/end_orders.hpp"
#include "policy/end_prices.hpp"
#include "policy/random_problem.hpp"

namespace halcyon::policy {
namespace {

/// A problem as its first position, and the least that it costs.
struct begun {
    begun(std::mt19937_64& random, uint32_t count, uint32_t kind)
        : of(random_problem(random, count,
                            {(kind & 1) != 0, (kind & 2) != 0, (kind & 4) != 0, (kind & 8) != 0, false,
                             (kind & 16) != 0})) {
        speeds.fill(of);
        quick.prepare(of, speeds);
        at.unfinished = of.all();
        for (uint32_t i = 0; i < count; ++i) {
            at.left_s[i] = of.left_s[i];
            at.order[i] = static_cast<uint8_t>(i);
            to_arrivals += of.cost_per_s[i] * of.arrives_s[i];
        }
        at.ordered = count;
        least = brute_force(of).best().first + to_arrivals;
    }

    problem of;
    speed_table speeds;
    quick_bounds quick;
    position at;
    double to_arrivals = 0;
    double least = 0;  ///< counts all from now on, as positions do
};

TEST(end_bounds, of_prices_are_never_above_the_least_cost) {
    std::mt19937_64 random(1);
    end_prices some;
    double sum = 0;
    for (uint32_t k = 0; k < 160; ++k) {
        const begun one(random, 2 + k % 4, k / 4);
        for (const members late : {members{0}, one.of.all() & ~one.of.arrived()}) {
            for (const double less : {0.0, 0.02}) {
                const double bound = some.prepare(one.of, one.speeds, one.at.unfinished, one.at.left_s, 0, late, less);
                ASSERT_LE(bound, one.least * (1 + 1e-9)) << k;
                ASSERT_LE(some.of(one.at.unfinished, one.at.left_s, 0), one.least * (1 + 1e-9)) << k;
                sum += less == 0 && late == 0 ? bound / one.least : 0;
            }
        }
    }
    EXPECT_GT(sum / 160, 0.8);
}

TEST(end_bounds, of_orders_are_never_above_the_least_cost) {
    std::mt19937_64 random(2);
    uint32_t found = 0;
    end_orders orders;
    for (uint32_t k = 0; k < 160; ++k) {
        const begun one(random, 2 + k % 4, k / 4);
        orders.start(one.of, one.speeds, one.quick);
        // In this order, so that prices that were found for a lower cost are there, too.
        for (const double share : {0.7, 0.99, 1 - 1e-7, 1.0001, 1.01, 1.5}) {
            const bool none = orders.none_costs_less(one.at, share * one.least, 100);
            ASSERT_FALSE(none && share > 1) << k << ' ' << share;
            found += none && share > 0.9 && share < 0.995 ? 1 : 0;
        }
    }
    // The linear program is a good one.
    EXPECT_GT(found, 120U);
}

}  // namespace
}  // namespace halcyon::policy
