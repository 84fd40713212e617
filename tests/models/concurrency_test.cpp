#include "models/concurrency.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "halcyon/error.hpp"

namespace halcyon::models {
namespace {

using doubles = std::vector<double>;

TEST(running_at_once, is_the_share_of_the_time) {
    // 0..10 and 4..6 run, then nothing to 18, then one to 20.
    const doubles shares = running_at_once(doubles{0, 4, 18}, doubles{10, 6, 20});
    EXPECT_EQ(shares, (doubles{0.4, 0.5, 0.1}));
}

TEST(running_at_once, does_not_count_two_where_one_follows_the_other) {
    EXPECT_EQ(running_at_once(doubles{0, 5}, doubles{5, 10}), (doubles{0, 1}));
}

TEST(running_at_once, leaves_out_applications_that_take_no_time) {
    EXPECT_EQ(running_at_once(doubles{0, 3, -50}, doubles{5, 3, -50}), (doubles{0, 1}));
}

TEST(running_at_once, refuses_what_is_no_workload) {
    EXPECT_THROW((void)running_at_once(doubles{1}, doubles{0}), error);
    EXPECT_THROW((void)running_at_once(doubles{1}, doubles{}), error);
    EXPECT_THROW((void)running_at_once(doubles{1}, doubles{1}), error);
}

// Dorier 2014, eq. 6.1, by hand: two applications, a tenth of the time each.
TEST(in_io_at_once, is_binomial) {
    const doubles in_io = in_io_at_once(doubles{0, 0, 1}, 0.1);
    ASSERT_EQ(in_io.size(), 3U);
    EXPECT_NEAR(in_io[0], 0.81, 1e-15);
    EXPECT_NEAR(in_io[1], 0.18, 1e-15);
    EXPECT_NEAR(in_io[2], 0.01, 1e-15);
}

TEST(in_io_at_once, sums_up_to_1_and_agrees_with_both_probabilities) {
    const doubles at_once{0.05, 0.1, 0.2, 0.3, 0.2, 0.1, 0.05};
    for (const double share : {0.0, 0.03, 0.1, 0.5, 1.0}) {
        const doubles in_io = in_io_at_once(at_once, share);
        EXPECT_NEAR(std::accumulate(in_io.begin(), in_io.end(), 0.0), 1, 1e-12);
        EXPECT_NEAR(probability_of_two(at_once, share), 1 - in_io[0] - in_io[1], 1e-12);
        EXPECT_NEAR(probability_of_another(at_once, share), 1 - in_io[0], 1e-12);
    }
}

// Dorier 2014, eq. 6.2, by hand: half of the time 1 application, half of it 3.
TEST(probability_of_two, is_as_by_hand) {
    // three: 3 * 0.01 * 0.9 + 0.001
    EXPECT_NEAR(probability_of_two(doubles{0, 0.5, 0, 0.5}, 0.1), 0.5 * 0.028, 1e-15);
    EXPECT_EQ(probability_of_two(doubles{0, 1}, 0.9), 0);
}

TEST(probability_of_another, is_as_by_hand) {
    EXPECT_NEAR(probability_of_another(doubles{0, 0.5, 0, 0.5}, 0.1), 0.5 * 0.1 + 0.5 * 0.271, 1e-15);
}

TEST(probabilities, refuse_what_is_no_distribution) {
    EXPECT_THROW((void)probability_of_two(doubles{0.5, 0.4}, 0.1), error);
    EXPECT_THROW((void)probability_of_two(doubles{1.5, -0.5}, 0.1), error);
    EXPECT_THROW((void)probability_of_another(doubles{0, 1}, 1.1), error);
    EXPECT_THROW((void)in_io_at_once(doubles{}, 0.1), error);
}

TEST(probability_of_start_within, is_the_share_of_the_window) {
    EXPECT_DOUBLE_EQ(probability_of_start_within(6, 60), 0.1);
    EXPECT_THROW((void)probability_of_start_within(61, 60), error);
    EXPECT_THROW((void)probability_of_start_within(0, 0), error);
}

TEST(files_created, are_1_or_one_or_two_per_rank) {
    EXPECT_EQ(files_created(file_use::shared, 4096), 1);
    EXPECT_EQ(files_created(file_use::one_per_rank, 4096), 4096);
    EXPECT_EQ(files_created(file_use::logs, 4096), 8192);
    EXPECT_THROW((void)files_created(file_use::logs, 0), error);
}

}  // namespace
}  // namespace halcyon::models
