// What an agent knows of its last phases.
#include "coordinate/agent/phase_history.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace halcyon::coordinate {
namespace {

TEST(phase_history, keeps_the_speed_alone_in_a_long_time_beside_others) {
    phase_history of;
    of.moved(1000, 1, true);
    for (int i = 0; i < 1000; ++i) of.moved(100, 1, false);
    EXPECT_EQ(of.bytes_per_s_alone(), 1000);
    for (int i = 0; i < 1000; ++i) of.moved(100, 1, true);
    EXPECT_LT(of.bytes_per_s_alone(), 110) << "alone, the storage has become slower";
}

TEST(phase_history, knows_the_speed_alone_of_calls_that_take_longer_than_the_time_between_reports) {
    phase_history of;
    double reported_s = 0;
    for (int i = 0; i < 200; ++i) {  // two writers whose calls take 90 ms, one 1 ms behind the other
        reported_s += of.moved(1'000'000, 0.021, true, 2).seconds;
        reported_s += of.moved(1'000'000, 0.069, true, 2).seconds;
    }
    EXPECT_GT(reported_s, 10);
    EXPECT_NEAR(of.bytes_per_s_alone(), 2e6 / 0.09, 0.15 * 2e6 / 0.09);
}

TEST(phase_history, knows_the_speed_of_a_phase_of_few_calls_when_none_is_under_way) {
    phase_history of;
    EXPECT_EQ(of.moved(1'000'000, 0.05, true, 1).seconds, 0);
    EXPECT_NEAR(of.moved(0, 0.05, true, 0).bytes_per_s(), 1e7, 1);
}

TEST(phase_history, tells_times_beside_others_apart) {
    phase_history of;
    of.moved(1'000'000, 0.1, true, 1);
    of.moved(1'000'000, 0.1, true, 1);
    EXPECT_EQ(of.moved(1'000'000, 0.5, false, 0).seconds, 0) << "a part of it was of a call that began alone";
    const auto beside = of.moved(1'000'000, 0.5, false, 0);
    EXPECT_EQ(beside.seconds, 0.5);
    EXPECT_NEAR(beside.bytes_per_s(), 2e6, 1) << "of no time in which it was alone";
}

TEST(phase_history, knows_the_speed_of_calls_that_are_under_way_at_both_ends_or_at_none) {
    phase_history of;  // four writers, whose calls take 0.1 s
    double fastest = 0, slowest = 1e9;
    const auto report = [&](int64_t calls, int64_t under_way) {
        const auto known = of.moved(calls * 1'000'000, 0.1, true, under_way);
        if (known.seconds <= 0) return;
        fastest = std::max(fastest, known.bytes_per_s());
        slowest = std::min(slowest, known.bytes_per_s());
    };
    for (int turn = 0; turn < 20; ++turn) {
        for (int i = 0; i < 4 + turn; ++i) report(i == 0 ? 8 : 4, 4);
        report(0, 0);  // it is stopped
        of.moved(0, 0.01, true, 0);
    }
    EXPECT_NEAR(fastest, 4e7, 0.03 * 4e7);
    EXPECT_NEAR(slowest, 4e7, 0.03 * 4e7);
}

TEST(phase_history, is_not_misled_by_a_few_fast_windows) {
    phase_history of;
    for (int i = 0; i < 100; ++i) of.moved(i % 5 == 0 ? 330 : 100, 1, true);  // caches take the begin of each phase
    EXPECT_GT(of.bytes_per_s_alone(), 98);
    EXPECT_LT(of.bytes_per_s_alone(), 112);
}

TEST(phase_history, takes_the_mean_of_windows_for_the_speed_alone_but_not_while_something_is_in_the_way) {
    phase_history of;
    for (int i = 0; i < 100; ++i) of.moved(i % 2 == 0 ? 115 : 85, 1, true);
    EXPECT_NEAR(of.bytes_per_s_alone(), 100, 5);
    for (int i = 0; i < 64; ++i) of.moved(i % 2 == 0 ? 69 : 51, 1, true);
    EXPECT_NEAR(of.bytes_per_s_alone(), 100, 10);
    for (int i = 0; i < 12; ++i) of.moved(i % 2 == 0 ? 230 : 170, 1, true);
    EXPECT_GT(of.bytes_per_s_alone(), 150) << "something was in its way before";
}

TEST(phase_history, leaves_out_what_caches_take_at_the_begin_of_phases) {
    phase_history of;
    for (int phase = 0; phase < 8; ++phase) {
        of.began(phase);
        for (int i = 0; i < 8; ++i) {
            const bool fills_caches = i < 3;  // 0.12 s
            const auto known = of.moved(fills_caches ? 36'000'000 : 4'000'000, 0.04, true);
            const bool is_told = fills_caches ? phase == 0 : phase > 0 || i > 3;
            EXPECT_EQ(known.seconds > 0, is_told) << "phase " << phase << ", window " << i;
        }
        of.ended(128'000'000);
    }
    EXPECT_NEAR(of.bytes_per_s_alone(), 1e8, 1);
}

TEST(phase_history, knows_the_speed_of_phases_that_all_end_with_what_caches_take) {
    phase_history of;
    for (int phase = 0; phase < 8; ++phase) {
        of.began(phase);
        EXPECT_GT(of.moved(4'000'000, 0.04, true).seconds, 0);
        of.ended(4'000'000);
    }
    EXPECT_NEAR(of.bytes_per_s_alone(), 1e8, 1);
}

TEST(phase_history, tells_speeds_of_short_phases_by_one_another_where_no_long_one_has_come_for_some_time) {
    phase_history of;
    const auto write = [&of](bool fills_caches, bool alone) {
        return of.moved(fills_caches ? 8'000'000 : 4'000'000, 0.04, alone);
    };
    of.began(0);
    for (int i = 0; i < 8; ++i) static_cast<void>(write(i < 3, true));
    of.ended(44'000'000);
    for (int phase = 1; phase <= 20; ++phase) {
        of.began(phase);
        EXPECT_NEAR(write(true, true).speed, phase > 8 ? 1 : 0, 1e-9) << "phase " << phase;
        of.ended(8'000'000);
    }
    of.began(21);
    EXPECT_NEAR(write(false, false).speed, 0.5, 1e-9) << "slowed down by others";
    of.ended(4'000'000);
    EXPECT_NEAR(of.bytes_per_s_alone(), 1e8, 1) << "which the long one had";
}

TEST(phase_history, takes_few_windows_in_which_the_node_wrote_alone_for_no_usual_ones) {
    phase_history of;
    const auto move = [&of](int windows, int64_t bytes) {
        for (int i = 0; i < windows; ++i) of.moved(bytes, 1, true);
    };
    move(30, 100);
    move(6, 300);
    EXPECT_NEAR(of.bytes_per_s_alone(), 100, 5) << "the other nodes of the job do not write yet";
    move(16, 100);
    EXPECT_NEAR(of.bytes_per_s_alone(), 100, 5);
    move(16, 300);
    EXPECT_NEAR(of.bytes_per_s_alone(), 300, 1) << "the storage has become faster";
}

}  // namespace

TEST(speed_window, has_begun_at_a_time_that_is_past_whatever_is_reported) {
    std::mt19937_64 random(7);
    int told = 0;
    for (int round = 0; round < 2000; ++round) {
        speed_window window;
        for (int report = 0; report < 50; ++report) {
            const int64_t bytes = random() % 3 == 0 ? 0 : static_cast<int64_t>(random() % 4) << 20U;
            const double seconds = std::ldexp(1.0, -static_cast<int>(random() % 12));
            const auto known = window.add(bytes, seconds, static_cast<int64_t>(random() % 3));
            ASSERT_GE(known.begun_ago_s, 0) << round;
            ASSERT_GE(known.seconds, 0) << round;
            told += known.seconds > 0 ? 1 : 0;
        }
    }
    EXPECT_GT(told, 1000);
}

}  // namespace halcyon::coordinate
