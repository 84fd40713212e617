#include "models/interference.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "halcyon/error.hpp"

namespace halcyon::models {
namespace {

void expect_times(const phase_times& times, double a_s, double b_s) {
    EXPECT_NEAR(times.a_s, a_s, 1e-12);
    EXPECT_NEAR(times.b_s, b_s, 1e-12);
}

TEST(interfering, equal_phases_take_twice_as_long_together_and_share_what_overlaps) {
    const io_phase one{10, 1, 1, 1};
    expect_times(expected_times(one, one, 0, arbitration::interfere), 20, 20);
    // From 4 s on both have 6 s and 10 s left: 12 s together, then 4 s of B alone.
    expect_times(expected_times(one, one, 4, arbitration::interfere), 16, 16);
    expect_times(expected_times(one, one, 10, arbitration::interfere), 10, 10);
    expect_times(expected_times(one, one, -10.5, arbitration::interfere), 10, 10);
}

TEST(interfering, small_phase_beside_a_large_one_waits_by_the_weights) {
    const io_phase large{15, 1, 15, 15};
    const io_phase small{1, 1, 1, 1};
    const phase_times times = expected_times(large, small, 0, arbitration::interfere);
    expect_times(times, 16, 16);
    // It starts late enough for A to end before: 1 s of A left takes 16/15 s, of which B gets 1/15 s.
    expect_times(expected_times(large, small, 14, arbitration::interfere), 14 + 16.0 / 15, 1 + 1.0);
}

TEST(interfering, demands_that_fit_beside_one_another_do_not) {
    const io_phase half{10, 0.5, 1, 1};
    expect_times(expected_times(half, half, 0, arbitration::interfere), 10, 10);
    // A demands a tenth although its weight allows half: B has the other nine tenths.
    const io_phase tenth{9, 0.1, 1, 1};
    const io_phase whole{9, 1, 1, 1};
    expect_times(expected_times(tenth, whole, 0, arbitration::interfere), 9, 9 + 0.9);
}

TEST(interfering, does_not_depend_on_the_names) {
    std::mt19937_64 random(7);
    std::uniform_real_distribution<double> some(0.1, 5);
    std::uniform_real_distribution<double> share(0.05, 1);
    for (int i = 0; i < 1000; ++i) {
        const io_phase a{some(random), share(random), some(random), 1};
        const io_phase b{some(random), share(random), some(random), 1};
        const double delta_s = some(random) - 2.5;
        const phase_times times = expected_times(a, b, delta_s, arbitration::interfere);
        const phase_times mirrored = expected_times(b, a, -delta_s, arbitration::interfere);
        expect_times(times, mirrored.b_s, mirrored.a_s);
        EXPECT_GE(times.a_s, a.alone_s - 1e-9);
        EXPECT_GE(times.b_s, b.alone_s - 1e-9);
    }
}

TEST(interfering, moves_all_bytes_at_the_full_rate) {
    std::mt19937_64 random(8);
    std::uniform_real_distribution<double> some(0.1, 5);
    for (int i = 0; i < 1000; ++i) {
        const io_phase a{some(random), 1, some(random), 1};
        const io_phase b{some(random), 1, some(random), 1};
        const double delta_s = a.alone_s * 0.99;
        const phase_times times = expected_times(a, b, delta_s, arbitration::interfere);
        EXPECT_NEAR(std::max(times.a_s, delta_s + times.b_s), a.alone_s + b.alone_s, 1e-9);
    }
}

TEST(fcfs, delays_the_second_until_the_first_ends) {
    const io_phase a{10, 1, 1, 1};
    const io_phase b{3, 1, 1, 1};
    expect_times(expected_times(a, b, 4, arbitration::fcfs), 10, 9);
    expect_times(expected_times(a, b, -1, arbitration::fcfs), 12, 3);
    expect_times(expected_times(a, b, -3, arbitration::fcfs), 10, 3);
    expect_times(expected_times(a, b, 0, arbitration::fcfs), 10, 13);
}

TEST(interrupt, delays_the_first_by_the_second) {
    const io_phase a{10, 1, 1, 1};
    const io_phase b{3, 1, 1, 1};
    expect_times(expected_times(a, b, 4, arbitration::interrupt), 13, 3);
    expect_times(expected_times(a, b, 10, arbitration::interrupt), 10, 3);
}

// Dorier 2014, eq. 6.4
TEST(core_seconds, are_those_of_both_policies) {
    const io_phase a{10, 1, 1, 744};
    const io_phase b{3, 1, 1, 24};
    EXPECT_NEAR(core_seconds(a, b, 4, arbitration::fcfs), 744 * 10 + 24 * (10 + 3 - 4), 1e-9);
    EXPECT_NEAR(core_seconds(a, b, 4, arbitration::interrupt), 744 * (10 + 3) + 24 * 3, 1e-9);
}

// Dorier 2014, section 6.3.4: dt < 3/4 T_A where both have as many cores, and A takes four times as long.
TEST(interruption, pays_in_the_first_three_quarters) {
    const io_phase a{8, 1, 1, 2048};
    const io_phase b{2, 1, 1, 2048};
    EXPECT_DOUBLE_EQ(interruption_pays_before(a, b), 6);
    EXPECT_DOUBLE_EQ(interruption_pays_before(b, a), 0);
    for (const double delta_s : {0.5, 5.9, 6.1, 7.5})
        EXPECT_EQ(core_seconds(a, b, delta_s, arbitration::interrupt) < core_seconds(a, b, delta_s, arbitration::fcfs),
                  delta_s < 6)
            << delta_s;
}

TEST(phases, out_of_bounds_are_refused) {
    const io_phase good{1, 1, 1, 1};
    for (const io_phase& bad : {io_phase{0, 1, 1, 1}, io_phase{1, 0, 1, 1}, io_phase{1, 1.1, 1, 1},
                                io_phase{1, 1, 0, 1}, io_phase{1, 1, 1, -1}, io_phase{std::nan(""), 1, 1, 1}}) {
        EXPECT_THROW((void)expected_times(good, bad, 0, arbitration::fcfs), error);
        EXPECT_THROW((void)expected_times(bad, good, 0, arbitration::fcfs), error);
    }
    EXPECT_THROW((void)expected_times(good, good, std::nan(""), arbitration::fcfs), error);
}

}  // namespace
}  // namespace halcyon::models
