// What plugins are told of a session: meshes, what was written once, parameters and time. Run by two ranks.

#include <gtest/gtest.h>
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "halcyon/halcyon.h"

namespace {

const std::string configuration = R"(
halcyon: 1
simulation: told
time: t
parameters:
  nx: 4
  t: {value: 0, mutable: true}
  level: {value: 7, mutable: true}
data:
  layouts:
    row: {type: float32, dimensions: [nx]}
  meshes:
    line: {type: rectilinear, coordinates: [x]}
  variables:
    x: {layout: row, time-varying: false}
    heat: {layout: row, mesh: line, unit: K, centering: node}
events:
  each: {actions: [tell], scope: client}
  all: {actions: [tell], scope: node}
actions:
  tell: {type: module, module: TOLD_PLUGIN, function: told OPTIONS}
stores: {main: {type: hdf5, path: out}}
resources: {buffer: {size: 4 MiB}}
)";

std::string replaced(std::string text, const std::string& what, const std::string& by) {
    return text.replace(text.find(what), what.size(), by);
}

/// A directory that both ranks share.
class told_plugins : public testing::Test {
  protected:
    void SetUp() override {
        char name[] = "/tmp/halcyon-told-XXXXXX";
        MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
        if (rank_ == 0 && ::mkdtemp(name) == nullptr) MPI_Abort(MPI_COMM_WORLD, 1);
        MPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);
        directory_ = name;
    }
    void TearDown() override {
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank_ == 0) std::filesystem::remove_all(directory_);
    }
    int open(const std::string& options, const std::string& top) {
        const std::string path = directory_ + "/halcyon.yaml";
        const std::string text = replaced(replaced(configuration, "TOLD_PLUGIN", TOLD_PLUGIN), "OPTIONS", options);
        if (rank_ == 0) std::ofstream(path) << top << replaced(text, "path: out", "path: " + directory_ + "/out");
        MPI_Barrier(MPI_COMM_WORLD);
        return halcyon_open(path.c_str(), MPI_COMM_WORLD, &h);
    }
    /// Three iterations, each with its time; before the end of the second one, the parameter `level` is changed.
    void simulate(const std::string& options, const std::string& top, const char* event) {
        ASSERT_EQ(open(options, top), HALCYON_OK) << halcyon_error_message();
        const float first = static_cast<float>(100 * rank_);
        const std::array<float, 4> x{first, first + 1, first + 2, first + 3};
        for (int i = 0; i < 3; ++i) {
            const std::vector<float> heat(4, static_cast<float>(10 * i + rank_));
            EXPECT_EQ(halcyon_set_parameter(h, "t", 0.5 * i), HALCYON_OK) << halcyon_error_message();
            if (i == 0) {
                EXPECT_EQ(halcyon_write(h, "x", x.data()), HALCYON_OK) << halcyon_error_message();
            }
            if (i == 1) {
                EXPECT_EQ(halcyon_set_parameter(h, "level", 8 + rank_), HALCYON_OK) << halcyon_error_message();
            }
            EXPECT_EQ(halcyon_write(h, "heat", heat.data()), HALCYON_OK) << halcyon_error_message();
            EXPECT_EQ(halcyon_signal(h, event), HALCYON_OK) << halcyon_error_message();
            EXPECT_EQ(halcyon_end_iteration(h), HALCYON_OK) << halcyon_error_message();
        }
        EXPECT_EQ(halcyon_close(&h), HALCYON_OK) << halcyon_error_message();
        MPI_Barrier(MPI_COMM_WORLD);
    }
    /// What the plugin was told, in any order.
    [[nodiscard]] std::vector<std::string> lines() const {
        std::ifstream file(directory_ + "/out/told.txt");
        std::vector<std::string> found;
        for (std::string line; std::getline(file, line);) found.push_back(line);
        std::sort(found.begin(), found.end());
        return found;
    }
    static std::string heat_of(int rank, int iteration) {
        return " | heat of " + std::to_string(rank) + ".0 unit K on line node sum " +
               std::to_string(4 * (10 * iteration + rank)) + " rectilinear from " + std::to_string(100 * rank) +
               " of iteration 0";
    }

    int rank_ = 0;
    std::string directory_;
    halcyon_handle h = nullptr;
};

TEST_F(told_plugins, know_meshes_parameters_and_time_of_the_iteration) {
    simulate("", "", "all");
    const auto found = lines();
    ASSERT_EQ(found.size(), 3U);
    const std::array<std::string, 3> time{"0", "0.5", "1"}, level{"7", "8", "8"};
    for (int i = 0; i < 3; ++i) {
        const std::string& line = found[static_cast<size_t>(i)];
        const auto n = static_cast<size_t>(i);
        EXPECT_TRUE(line.starts_with("all " + std::to_string(i) + " -1 time " + time[n] + " run " +
                                     std::to_string(i + 1) + " isolated of 2 nx=4 t=" + time[n] + " level=" + level[n] +
                                     " |"))
            << line;
        for (int rank = 0; rank < 2; ++rank) EXPECT_NE(line.find(heat_of(rank, i)), std::string::npos) << line;
    }
}

TEST_F(told_plugins, know_the_parameters_of_the_rank_that_raised_the_event) {
    simulate("", "", "each");
    const auto found = lines();
    ASSERT_EQ(found.size(), 6U);
    for (int i = 1; i < 3; ++i)
        for (int rank = 0; rank < 2; ++rank) {
            const std::string& line = found[static_cast<size_t>(2 * i + rank)];
            EXPECT_TRUE(line.starts_with("each " + std::to_string(i) + " " + std::to_string(rank))) << line;
            EXPECT_NE(line.find(" level=" + std::to_string(8 + rank) + heat_of(rank, i)), std::string::npos) << line;
        }
}

class told_plugins_inline : public told_plugins, public testing::WithParamInterface<const char*> {};

TEST_P(told_plugins_inline, know_the_same) {
    const std::string of_action = *GetParam() == '\0' ? ", inline: true" : "";
    simulate(of_action, GetParam(), "each");
    const auto found = lines();
    ASSERT_EQ(found.size(), 6U);
    for (int i = 1; i < 3; ++i)
        for (int rank = 0; rank < 2; ++rank) {
            const std::string& line = found[static_cast<size_t>(2 * i + rank)];
            EXPECT_NE(line.find(" inline of 2"), std::string::npos) << line;
            EXPECT_NE(line.find(" level=" + std::to_string(8 + rank) + heat_of(rank, i)), std::string::npos) << line;
        }
}

INSTANTIATE_TEST_SUITE_P(all, told_plugins_inline, testing::Values("", "inline: true\n"));

TEST_F(told_plugins, that_cannot_start_inline_fail_the_open) {
    EXPECT_EQ(open(", options: {fail: init}, inline: true", ""), HALCYON_ERROR_USAGE);
    EXPECT_NE(std::string(halcyon_error_message()).find("could not start: init failed: it was told to"),
              std::string::npos)
        << halcyon_error_message();
}

}  // namespace
