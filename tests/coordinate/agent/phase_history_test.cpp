// What an agent knows of its last phases.
#include "coordinate/agent/phase_history.hpp"

#include <gtest/gtest.h>

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
    const auto beside = of.moved(1'000'000, 0.5, false, 0);
    EXPECT_EQ(beside.seconds, 0.5);
    EXPECT_NEAR(beside.bytes_per_s(), 2e6, 1) << "of no time in which it was alone";
}

}  // namespace
}  // namespace halcyon::coordinate
