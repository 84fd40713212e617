#include "models/stripes.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <vector>

#include "halcyon/error.hpp"

namespace halcyon::models {
namespace {

struct printed_row {
    int64_t jobs;
    double in_use;
    double requested;
    double load;
};

/// As a table prints it.
double rounded(double value) {
    return std::round(value * 1000) / 1000;
}

void expect_table(int64_t targets, double stripes, const std::vector<printed_row>& table) {
    for (const printed_row& row : table) {
        const expected_load closed = load_of_equal_jobs(targets, stripes, row.jobs);
        const std::vector<double> jobs(static_cast<size_t>(row.jobs), stripes);
        const expected_load step_by_step = load_of_jobs(targets, jobs);
        for (const expected_load& load : {closed, step_by_step}) {
            EXPECT_DOUBLE_EQ(rounded(load.in_use), row.in_use) << row.jobs << " jobs";
            EXPECT_DOUBLE_EQ(load.requested, row.requested) << row.jobs << " jobs";
            EXPECT_DOUBLE_EQ(rounded(load.load), row.load) << row.jobs << " jobs";
        }
    }
}

// Wright 2014, table 6.2
TEST(load, of_jobs_on_480_targets_is_as_printed) {
    expect_table(480, 160,
                 {{1, 160.000, 160, 1.000},
                  {2, 266.667, 320, 1.200},
                  {3, 337.778, 480, 1.421},
                  {4, 385.185, 640, 1.662},
                  {5, 416.790, 800, 1.919},
                  {6, 437.860, 960, 2.192},
                  {7, 451.907, 1120, 2.478},
                  {8, 461.271, 1280, 2.775},
                  {9, 467.514, 1440, 3.080},
                  {10, 471.676, 1600, 3.392}});
    expect_table(480, 64,
                 {{1, 64.000, 64, 1.000},
                  {2, 119.467, 128, 1.071},
                  {3, 167.538, 192, 1.146},
                  {4, 209.199, 256, 1.224},
                  {5, 245.306, 320, 1.304},
                  {6, 276.599, 384, 1.388},
                  {7, 303.719, 448, 1.475},
                  {8, 327.223, 512, 1.565},
                  {9, 347.593, 576, 1.657},
                  {10, 365.247, 640, 1.752}});
}

// Wright 2014, table 6.3, columns "Predicted"
TEST(load, of_four_jobs_is_as_printed_for_each_request) {
    for (const auto& [stripes, in_use, load] : std::vector<std::array<double, 3>>{{32, 115.759, 1.106},
                                                                                  {64, 209.199, 1.224},
                                                                                  {96, 283.392, 1.355},
                                                                                  {128, 341.182, 1.501},
                                                                                  {160, 385.185, 1.662}})
        expect_table(480, stripes, {{4, in_use, 4 * stripes, load}});
}

// Wright 2014, table 6.4
TEST(load, of_jobs_on_160_targets_is_as_printed) {
    expect_table(160, 128,
                 {{1, 128.000, 128, 1.000},
                  {2, 153.600, 256, 1.667},
                  {3, 158.720, 384, 2.419},
                  {4, 159.744, 512, 3.205},
                  {5, 159.949, 640, 4.001},
                  {6, 159.990, 768, 4.800},
                  {7, 159.998, 896, 5.600},
                  {8, 160.000, 1024, 6.400},
                  {9, 160.000, 1152, 7.200},
                  {10, 160.000, 1280, 8.000}});
}

// Wright 2014, section 6.3: 2.4 at 512 ranks, 8.53 at 2,048, 17.07 at 4,096 (there 17.06)
TEST(load, of_logs_is_as_in_the_text) {
    EXPECT_NEAR(load_of_equal_jobs(480, 2, 512).load, 2.4, 0.05);
    EXPECT_NEAR(load_of_equal_jobs(480, 2, 2048).load, 8.53, 0.005);
    EXPECT_NEAR(load_of_equal_jobs(480, 2, 4096).load, 17.067, 0.0005);
}

TEST(load, of_different_jobs_does_not_depend_on_their_order) {
    const std::vector<double> up{1, 20, 300};
    const std::vector<double> down{300, 20, 1};
    // By hand: 480 (1 - 479/480 * 460/480 * 180/480)
    const double by_hand = 480 * (1 - 479.0 / 480 * 460.0 / 480 * 180.0 / 480);
    EXPECT_NEAR(load_of_jobs(480, up).in_use, by_hand, 1e-9);
    EXPECT_NEAR(load_of_jobs(480, down).in_use, by_hand, 1e-9);
}

TEST(load, without_requests_is_0) {
    EXPECT_EQ(load_of_jobs(480, {}).load, 0);
    EXPECT_EQ(load_of_equal_jobs(480, 160, 0).load, 0);
    EXPECT_EQ(load_of_equal_jobs(480, 0, 7).load, 0);
}

TEST(load, of_a_job_on_all_targets_is_the_number_of_jobs) {
    EXPECT_DOUBLE_EQ(load_of_equal_jobs(16, 16, 5).load, 5);
    EXPECT_DOUBLE_EQ(load_of_equal_jobs(1, 1, 1000).load, 1000);
}

TEST(load, refuses_requests_out_of_bounds) {
    EXPECT_THROW(load_of_equal_jobs(480, 481, 1), error);
    EXPECT_THROW(load_of_equal_jobs(480, -1, 1), error);
    EXPECT_THROW(load_of_equal_jobs(0, 0, 1), error);
    EXPECT_THROW(load_of_equal_jobs(480, 2, -1), error);
    EXPECT_THROW(load_of_jobs(480, std::vector<double>{1, std::nan("")}), error);
}

// Wright 2014, section 6.3: 688 = 43 nodes of 16 cores
TEST(ranks_at_load, of_3_are_688_on_nodes_of_16_cores) {
    EXPECT_EQ(ranks_at_load(480, 2, 3, 16), 688);
    EXPECT_EQ(ranks_at_load(1020, 408, 1.25, 1), 2) << "exactly the load, but for rounding";
    const int64_t ranks = ranks_at_load(480, 2, 3, 1);
    EXPECT_GE(load_of_equal_jobs(480, 2, ranks).load, 3);
    EXPECT_LT(load_of_equal_jobs(480, 2, ranks - 1).load, 3);
}

TEST(ranks_at_load, are_found_where_one_target_is_all_there_is) {
    EXPECT_EQ(ranks_at_load(1, 1, 7, 1), 7);
    EXPECT_EQ(ranks_at_load(480, 2, 1, 1), 1);
}

TEST(ranks_at_load, refuse_a_load_below_1) {
    EXPECT_THROW((void)ranks_at_load(480, 2, 0.5, 1), error);
    EXPECT_THROW((void)ranks_at_load(480, 0, 3, 1), error);
    EXPECT_THROW((void)ranks_at_load(480, 2, 3, 0), error);
}

TEST(request, is_the_largest_that_keeps_the_load) {
    for (const int64_t jobs : {2, 4, 10, 100}) {
        for (const double load : {1.1, 1.5, 2.0}) {
            const int64_t request = request_for_load(480, jobs, load);
            if (request > 1) {
                EXPECT_LE(load_of_equal_jobs(480, static_cast<double>(request), jobs).load, load * (1 + 1e-12));
            }
            if (request < 480) {
                EXPECT_GT(load_of_equal_jobs(480, static_cast<double>(request + 1), jobs).load, load);
            }
        }
    }
    for (const int64_t targets : {3, 138, 480, 600})
        EXPECT_EQ(request_for_load(targets, 2, 1.5), targets * 2 / 3) << "exactly the load, but for rounding";
    EXPECT_EQ(request_for_load(480, 1, 1.5), 480) << "one job never collides";
    EXPECT_EQ(request_for_load(480, 4, 4), 480);
}

TEST(targets, are_the_fewest_that_keep_the_load) {
    const std::vector<double> four(4, 160);
    for (const double load : {1.1, 1.662, 3.0}) {
        const int64_t targets = targets_for_load(four, load);
        EXPECT_LE(load_of_jobs(targets, four).load, load);
        EXPECT_GT(load_of_jobs(targets - 1, four).load, load);
    }
    EXPECT_EQ(targets_for_load(std::vector<double>(2, 18), 1.25), 45) << "exactly the load, but for rounding";
    EXPECT_EQ(targets_for_load(four, 4), 160) << "no fewer than one job requests";
    EXPECT_EQ(targets_for_load(std::vector<double>{12}, 1), 12);
}

TEST(targets, without_any_collision_cannot_be_bought) {
    EXPECT_THROW((void)targets_for_load(std::vector<double>(4, 160), 1), error);
}

}  // namespace
}  // namespace halcyon::models
