// How the values of steerable parameters become the same on all ranks; run by two ranks.

#include <gtest/gtest.h>
#include <mpi.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include "halcyon/halcyon.h"
#include "offload/session/failing_mpi.hpp"

using halcyon::testing::collectives_left;

namespace {

/// In a directory of its own, the same on both ranks; with a server, and without one.
class steering_calls : public testing::TestWithParam<bool> {
  protected:
    void SetUp() override {
        char name[] = "/tmp/halcyon-steering-XXXXXX";
        MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
        if (rank_ == 0 && ::mkdtemp(name) == nullptr) MPI_Abort(MPI_COMM_WORLD, 1);
        MPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);
        directory_ = name;
        before_ = std::filesystem::current_path();
        std::filesystem::current_path(directory_);
        if (rank_ == 0)
            std::ofstream("halcyon.yaml") << "halcyon: 1\nsimulation: steered\n"
                                          << (GetParam() ? "inline: true\n" : "")
                                          << "parameters:\n  kappa: {value: 1, min: 0, max: 100, steerable: true}\n"
                                             "  tau: {value: 2, min: 0, max: 100, steerable: true}\n"
                                             "resources: {buffer: {size: 4 MiB}}\n";
        MPI_Barrier(MPI_COMM_WORLD);
    }
    void TearDown() override {
        if (h_ != nullptr) {
            EXPECT_EQ(halcyon_close(&h_), HALCYON_OK) << halcyon_error_message();
        }
        std::filesystem::current_path(before_);
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank_ == 0) std::filesystem::remove_all(directory_);
    }
    void open() { ASSERT_EQ(halcyon_open("halcyon.yaml", MPI_COMM_WORLD, &h_), HALCYON_OK) << halcyon_error_message(); }
    void set(const char* name, double value) {
        EXPECT_EQ(halcyon_set_parameter(h_, name, value), HALCYON_OK) << halcyon_error_message();
    }
    double get(const char* name) {
        double value = -1;
        EXPECT_EQ(halcyon_get_parameter(h_, name, &value), HALCYON_OK) << halcyon_error_message();
        return value;
    }
    void end() { EXPECT_EQ(halcyon_end_iteration(h_), HALCYON_OK) << halcyon_error_message(); }
    /// As long as nobody has heard from MPI, one collective call of `rank` fails.
    int end_while_mpi_fails_on(int rank) {
        if (rank_ == rank) collectives_left = 1;
        const int code = halcyon_end_iteration(h_);
        collectives_left = 0;
        return code;
    }

    halcyon_handle h_ = nullptr;
    int rank_ = 0;
    std::filesystem::path directory_, before_;
};

TEST_P(steering_calls, the_values_of_rank_0_become_everybodys_at_the_end_of_the_iteration) {
    open();
    EXPECT_EQ(get("kappa"), 1);
    set("kappa", rank_ == 0 ? 5 : 7);
    EXPECT_EQ(get("kappa"), rank_ == 0 ? 5 : 7);
    end();
    EXPECT_EQ(get("kappa"), 5);
    EXPECT_EQ(get("tau"), 2);
    if (rank_ == 1) set("tau", 50);
    end();
    EXPECT_EQ(get("tau"), 2);
}

TEST_P(steering_calls, values_set_before_the_open_are_those_of_rank_0) {
    ASSERT_EQ(halcyon_set_parameter(nullptr, "kappa", rank_ == 0 ? 5 : 7), HALCYON_OK);
    open();
    EXPECT_EQ(get("kappa"), 5);
}

TEST_P(steering_calls, ranks_may_end_different_numbers_of_iterations) {
    for (const int longer : {0, 1}) {
        open();
        if (rank_ == 0) set("kappa", 5);
        end();
        if (rank_ == 0) set("kappa", 6);
        for (int more = 0; rank_ == longer && more < 3; ++more) end();
        EXPECT_EQ(get("kappa"), rank_ == 0 ? 6 : 5) << "rank 0 closes after " << (longer == 0 ? 4 : 1) << " iterations";
        EXPECT_EQ(halcyon_close(&h_), HALCYON_OK) << halcyon_error_message();
    }
}

TEST_P(steering_calls, a_rank_whose_mpi_failed_has_the_values_again_after_the_next_iteration) {
    open();
    if (rank_ == 0) set("kappa", 5);
    EXPECT_EQ(end_while_mpi_fails_on(1), rank_ == 1 ? HALCYON_ERROR_SYSTEM : HALCYON_OK);
    if (rank_ == 1) {
        EXPECT_NE(std::string(halcyon_error_message()).find("MPI_Bcast"), std::string::npos);
    }
    EXPECT_EQ(get("kappa"), rank_ == 0 ? 5 : 1);
    if (rank_ == 0) set("kappa", 6);
    end();
    EXPECT_EQ(get("kappa"), 6);
}

TEST_P(steering_calls, where_mpi_failed_on_rank_0_no_rank_has_values_before_their_time) {
    open();
    if (rank_ == 0) set("kappa", 5);
    EXPECT_EQ(end_while_mpi_fails_on(0), rank_ == 0 ? HALCYON_ERROR_SYSTEM : HALCYON_OK);
    EXPECT_EQ(get("kappa"), rank_ == 0 ? 5 : 1);
    end();
    EXPECT_EQ(get("kappa"), 5);
    if (rank_ == 0) set("kappa", 6);
    end();
    EXPECT_EQ(get("kappa"), 6);
}

TEST_P(steering_calls, a_value_outside_its_bounds_is_refused) {
    open();
    EXPECT_EQ(halcyon_set_parameter(h_, "kappa", 101), HALCYON_ERROR_USAGE);
    end();
    EXPECT_EQ(get("kappa"), 1);
}

INSTANTIATE_TEST_SUITE_P(with_and_without_a_server, steering_calls, testing::Bool(),
                         [](const auto& one) { return one.param ? "inline" : "server"; });

}  // namespace
