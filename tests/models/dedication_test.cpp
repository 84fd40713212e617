#include "models/dedication.hpp"

#include <gtest/gtest.h>

#include "halcyon/error.hpp"

namespace halcyon::models {
namespace {

// Dorier 2014, section 3.5.1: 4.35 % on 24 cores
TEST(dedicating_a_core, pays_from_the_share_of_the_thesis_on) {
    EXPECT_NEAR(least_io_to_dedicate(24).over_computation, 0.0435, 0.00005);
    const double limit = 100 * least_io_to_dedicate(24).over_computation;
    EXPECT_TRUE(dedicate_one_core(100, limit * 1.001, 1, 24).pays());
    EXPECT_FALSE(dedicate_one_core(100, limit * 0.999, 1, 24).pays());
}

TEST(dedicating_a_core, pays_from_1_over_n_of_the_whole_time_on) {
    const double share = least_io_to_dedicate(24).share_of_time;
    EXPECT_TRUE(dedicate_one_core(100 * (1 - share * 1.001), 100 * share * 1.001, 1, 24).pays());
    EXPECT_FALSE(dedicate_one_core(100 * (1 - share * 0.999), 100 * share * 0.999, 1, 24).pays());
}

TEST(dedicating_a_core, does_not_pay_where_its_output_takes_longer) {
    EXPECT_TRUE(dedicate_one_core(10, 5, 14.9, 4).pays());
    EXPECT_FALSE(dedicate_one_core(10, 5, 15, 4).pays());
    EXPECT_DOUBLE_EQ(dedicate_one_core(12, 5, 2, 4).dedicated_s, 16);
}

// eq. 5.2: 18.1 s on one core, 2,520 iterations, 16 nodes of 23 cores at 0.5 and 0.8
TEST(run_time, is_as_by_hand) {
    EXPECT_NEAR(run_time_s({18.1, 2520, 23, 0.5, 16, 0.8}), 18.1 * 2520 / (23 * 0.5 * 16 * 0.8), 1e-9);
    EXPECT_DOUBLE_EQ(run_time_s({18, 10, 1, 1, 1, 1}), 180);
}

// eq. 5.3: 15 nodes at 200 W and one at (100 + 200) / 2 W
TEST(power, of_dedicated_nodes_is_the_mean_of_both_powers) {
    EXPECT_DOUBLE_EQ(mean_power_w({200, 100}, 15, 1), (15 * 200.0 + 150) / 16);
    EXPECT_DOUBLE_EQ(mean_power_w({200, 100}, 16, 0), 200) << "eq. 5.4";
}

TEST(energy, is_power_of_all_nodes_times_run_time) {
    const scaled_run run{18, 10, 1, 1, 3, 1};  // 60 s
    EXPECT_DOUBLE_EQ(energy_j(run, {200, 100}, 1), 60 * (3 * 200.0 + 150));
    EXPECT_DOUBLE_EQ(energy_j(run, {200, 100}, 0), 60 * 600.0);
}

TEST(models_of_dedication, refuse_values_out_of_bounds) {
    EXPECT_THROW((void)least_io_to_dedicate(1), error);
    EXPECT_THROW((void)dedicate_one_core(-1, 0, 0, 4), error);
    EXPECT_THROW((void)run_time_s({18, 10, 0, 1, 1, 1}), error);
    EXPECT_THROW((void)run_time_s({18, 10, 1, 1.1, 1, 1}), error);
    EXPECT_THROW((void)mean_power_w({100, 200}, 1, 0), error);
    EXPECT_THROW((void)mean_power_w({100, 50}, 0, 1), error);
}

}  // namespace
}  // namespace halcyon::models
