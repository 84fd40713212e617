// What the C interface answers to calls that make no sense; run by two ranks.

#include <gtest/gtest.h>
#include <mpi.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "halcyon/halcyon.h"

namespace {

constexpr const char* configuration = R"(
halcyon: 1
simulation: calls
parameters: {nx: 8, n: {value: 4, mutable: true, max: 100}}
data:
  layouts:
    row: {type: float64, dimensions: [nx]}
    particles: {type: float32, dimensions: [n]}
    scalar: {type: int32, dimensions: []}
  variables:
    theta: {layout: row}
    two: {layout: row, blocks-per-client: 2}
    swarm: {layout: particles}
    one: {layout: scalar}
    x: {layout: row, time-varying: false}
    unstored: {layout: row, store: false}
events: {tick: {actions: [note], scope: client}}
actions: {note: {type: log}}
stores: {main: {type: hdf5, path: out}}
resources: {buffer: {size: 4 MiB}, server: {retry: 100 ms}}
)";

/// A session in a directory of its own, the same on all ranks.
class session_calls : public testing::Test {
  protected:
    void SetUp() override {
        char name[] = "/tmp/halcyon-calls-XXXXXX";
        int rank = 0;
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        if (rank == 0 && ::mkdtemp(name) == nullptr) MPI_Abort(MPI_COMM_WORLD, 1);
        MPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);
        directory_ = name;
        before_ = std::filesystem::current_path();
        std::filesystem::current_path(directory_);
        if (rank == 0) std::ofstream("halcyon.yaml") << configuration;
        MPI_Barrier(MPI_COMM_WORLD);
        ASSERT_EQ(halcyon_open("halcyon.yaml", MPI_COMM_WORLD, &h), HALCYON_OK) << halcyon_error_message();
    }
    void TearDown() override {
        if (h != nullptr) {
            EXPECT_EQ(halcyon_close(&h), HALCYON_OK) << halcyon_error_message();
        }
        std::filesystem::current_path(before_);
        int rank = 0;
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0) std::filesystem::remove_all(directory_);
    }
    static void expect_usage(int status, const char* part) {
        EXPECT_EQ(status, HALCYON_ERROR_USAGE);
        EXPECT_NE(std::strstr(halcyon_error_message(), part), nullptr) << halcyon_error_message();
    }

    halcyon_handle h = nullptr;
    const std::vector<double> row_ = std::vector<double>(8, 1.5);

  private:
    std::string directory_;
    std::filesystem::path before_;
};

TEST_F(session_calls, an_unknown_variable_is_named_with_the_known_ones) {
    expect_usage(halcyon_write(h, "thata", row_.data()), "theta");
}

TEST_F(session_calls, data_of_another_size_than_the_layout_is_refused) {
    expect_usage(halcyon_write_bytes(h, "theta", 0, row_.data(), 60), "64 bytes");
    halcyon_stats_t stats{};
    stats.size_bytes = sizeof stats;
    ASSERT_EQ(halcyon_stats(h, &stats), HALCYON_OK);
    EXPECT_EQ(stats.blocks, 0U) << "something was written all the same";
}

TEST_F(session_calls, a_variable_is_written_once_an_iteration) {
    ASSERT_EQ(halcyon_write(h, "theta", row_.data()), HALCYON_OK);
    expect_usage(halcyon_write(h, "theta", row_.data()), "end_iteration");
    ASSERT_EQ(halcyon_end_iteration(h), HALCYON_OK);
    EXPECT_EQ(halcyon_write(h, "theta", row_.data()), HALCYON_OK);
}

TEST_F(session_calls, a_variable_that_does_not_vary_is_written_once) {
    ASSERT_EQ(halcyon_write(h, "x", row_.data()), HALCYON_OK);
    ASSERT_EQ(halcyon_end_iteration(h), HALCYON_OK);
    expect_usage(halcyon_write(h, "x", row_.data()), "time-varying");
}

TEST_F(session_calls, blocks_are_numbered_from_zero_to_the_configured_count) {
    EXPECT_EQ(halcyon_write_block(h, "two", 0, row_.data()), HALCYON_OK);
    EXPECT_EQ(halcyon_write_block(h, "two", 1, row_.data()), HALCYON_OK);
    expect_usage(halcyon_write_block(h, "two", 2, row_.data()), "blocks 0 to 1");
    expect_usage(halcyon_write_block(h, "two", -1, row_.data()), "blocks 0 to 1");
}

TEST_F(session_calls, zero_copy_calls_come_in_order) {
    void* data = nullptr;
    expect_usage(halcyon_commit(h, "theta", 0), "alloc first");
    expect_usage(halcyon_clear(h, "theta", 0), "alloc first");
    ASSERT_EQ(halcyon_alloc(h, "theta", 0, &data), HALCYON_OK);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(data) % 64, 0U);
    expect_usage(halcyon_alloc(h, "theta", 0, &data), "already allocated");
    expect_usage(halcyon_clear(h, "theta", 0), "not committed");
    expect_usage(halcyon_write(h, "theta", row_.data()), "allocated");
    ASSERT_EQ(halcyon_alloc(h, "theta", 0, &data), HALCYON_ERROR_USAGE);
    ASSERT_EQ(halcyon_commit(h, "theta", 0), HALCYON_OK);
    expect_usage(halcyon_commit(h, "theta", 0), "already committed");
    EXPECT_EQ(halcyon_clear(h, "theta", 0), HALCYON_OK);
}

TEST_F(session_calls, a_block_committed_and_not_cleared_is_handed_over_by_close) {
    void* data = nullptr;
    ASSERT_EQ(halcyon_alloc(h, "theta", 0, &data), HALCYON_OK);
    std::memcpy(data, row_.data(), 64);
    ASSERT_EQ(halcyon_commit(h, "theta", 0), HALCYON_OK);
    EXPECT_EQ(halcyon_close(&h), HALCYON_OK) << halcyon_error_message();
    EXPECT_EQ(h, nullptr);
}

TEST_F(session_calls, mutable_parameters_change_the_next_blocks) {
    std::vector<float> swarm(100, 2.0F);
    halcyon_block_info info{};
    ASSERT_EQ(halcyon_describe(h, "swarm", 0, &info), HALCYON_OK);
    EXPECT_EQ(info.dimensions[0], 4);
    ASSERT_EQ(halcyon_set_parameter(h, "n", 100), HALCYON_OK) << halcyon_error_message();
    ASSERT_EQ(halcyon_describe(h, "swarm", 0, &info), HALCYON_OK);
    EXPECT_EQ(info.bytes, 400);
    EXPECT_EQ(halcyon_write_bytes(h, "swarm", 0, swarm.data(), 400), HALCYON_OK);
    ASSERT_EQ(halcyon_end_iteration(h), HALCYON_OK);
    ASSERT_EQ(halcyon_set_parameter(h, "n", 0), HALCYON_OK) << "no particles are a legal number of particles";
    EXPECT_EQ(halcyon_write_bytes(h, "swarm", 0, swarm.data(), 0), HALCYON_OK) << halcyon_error_message();
    expect_usage(halcyon_set_parameter(h, "n", 101), "too large");
    expect_usage(halcyon_set_parameter(h, "nx", 4), "mutable");
    expect_usage(halcyon_set_parameter(h, "n", 0.0 / 0.0), "finite");
    expect_usage(halcyon_set_parameter(h, "m", 1), "known");
    double value = -1;
    EXPECT_EQ(halcyon_get_parameter(h, "n", &value), HALCYON_OK) << halcyon_error_message();
    EXPECT_EQ(value, 0);
    EXPECT_EQ(halcyon_get_parameter(h, "nx", &value), HALCYON_OK) << halcyon_error_message();
    EXPECT_EQ(value, 8) << "those that never change have values, too";
    expect_usage(halcyon_get_parameter(h, "m", &value), "known");
    EXPECT_EQ(value, 8);
}

TEST_F(session_calls, scalars_and_unstored_variables_are_accepted) {
    const int32_t one = 1;
    EXPECT_EQ(halcyon_write_bytes(h, "one", 0, &one, 4), HALCYON_OK) << halcyon_error_message();
    EXPECT_EQ(halcyon_write(h, "unstored", row_.data()), HALCYON_OK);
    ASSERT_EQ(halcyon_end_iteration(h), HALCYON_OK);
    EXPECT_EQ(halcyon_wait(h, 0, HALCYON_STORED), HALCYON_OK) << halcyon_error_message();
}

TEST_F(session_calls, only_ended_iterations_can_be_waited_for) {
    expect_usage(halcyon_wait(h, 0, HALCYON_STORED), "iteration 0 has not ended on this client, and none has so far");
    ASSERT_EQ(halcyon_end_iteration(h), HALCYON_OK);
    EXPECT_EQ(halcyon_wait(h, 0, HALCYON_ACCEPTED), HALCYON_OK);
    expect_usage(halcyon_wait(h, 1, HALCYON_STORED), "has not ended on this client; the last that did is 0");
    expect_usage(halcyon_wait(h, 0, static_cast<halcyon_stage>(3)), "stage 3");
}

TEST_F(session_calls, an_unknown_event_is_named_with_the_known_ones) {
    expect_usage(halcyon_signal(h, "tack"), "tick");
    EXPECT_EQ(halcyon_signal(h, "tick"), HALCYON_OK);
}

TEST_F(session_calls, the_same_configuration_is_not_opened_twice) {
    halcyon_handle second = nullptr;
    expect_usage(halcyon_open("halcyon.yaml", MPI_COMM_WORLD, &second), "already open");
    EXPECT_EQ(second, nullptr);
}

TEST_F(session_calls, a_directory_into_which_another_session_stores_is_refused) {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        std::string other = configuration;
        other.replace(other.find("path: out"), 9, "path: ./out, existing: replace");
        std::ofstream("other.yaml") << other;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    ASSERT_EQ(halcyon_write(h, "theta", row_.data()), HALCYON_OK);
    ASSERT_EQ(halcyon_end_iteration(h), HALCYON_OK);
    ASSERT_EQ(halcyon_wait(h, 0, HALCYON_STORED), HALCYON_OK) << halcyon_error_message();
    halcyon_handle second = nullptr;
    expect_usage(halcyon_open("other.yaml", MPI_COMM_WORLD, &second), "in use by another session");
    EXPECT_TRUE(std::filesystem::exists("out/calls.n0000.i00000000.h5")) << "the running session's file was replaced";
    ASSERT_EQ(halcyon_close(&h), HALCYON_OK) << halcyon_error_message();
    EXPECT_EQ(halcyon_open("other.yaml", MPI_COMM_WORLD, &h), HALCYON_OK) << halcyon_error_message();
}

TEST_F(session_calls, a_negative_number_of_bytes_is_refused) {
    expect_usage(halcyon_write_bytes(h, "theta", 0, row_.data(), -1), "-1 bytes");
}

TEST_F(session_calls, iterations_that_could_not_be_stored_are_told_at_every_wait) {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    ASSERT_EQ(halcyon_end_iteration(h), HALCYON_OK);
    ASSERT_EQ(halcyon_wait(h, 0, HALCYON_STORED), HALCYON_OK) << halcyon_error_message();
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        // Files of this name are renamed to: a folder is in the way.
        std::filesystem::create_directories("out/calls.n0000.i00000001.h5/in_the_way");
    }
    MPI_Barrier(MPI_COMM_WORLD);
    ASSERT_EQ(halcyon_write(h, "theta", row_.data()), HALCYON_OK);
    ASSERT_EQ(halcyon_end_iteration(h), HALCYON_OK);
    for (int i = 0; i < 2; ++i) EXPECT_EQ(halcyon_wait(h, 1, HALCYON_STORED), HALCYON_ERROR_SYSTEM) << "time " << i;
    EXPECT_EQ(halcyon_wait(h, 0, HALCYON_STORED), HALCYON_OK) << halcyon_error_message();
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        std::filesystem::remove_all("out/calls.n0000.i00000001.h5");
    }
    MPI_Barrier(MPI_COMM_WORLD);
    EXPECT_EQ(halcyon_close(&h), HALCYON_ERROR_SYSTEM);
}

TEST_F(session_calls, a_forked_process_is_refused_and_changes_nothing) {
    ASSERT_EQ(halcyon_write(h, "theta", row_.data()), HALCYON_OK);
    const pid_t child = ::fork();
    if (child == 0) {
        halcyon_handle inherited = h;
        const bool refused = halcyon_write(h, "one", row_.data()) == HALCYON_ERROR_USAGE &&
                             halcyon_end_iteration(h) == HALCYON_ERROR_USAGE &&
                             halcyon_set_parameter(h, "n", 1) == HALCYON_ERROR_USAGE &&
                             halcyon_close(&inherited) == HALCYON_ERROR_USAGE && inherited == h &&
                             std::strstr(halcyon_error_message(), "forked off the one that opened") != nullptr;
        ::_exit(refused ? 0 : 1);
    }
    int status = 1;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
    ASSERT_EQ(halcyon_end_iteration(h), HALCYON_OK) << halcyon_error_message();
    EXPECT_EQ(halcyon_wait(h, 0, HALCYON_STORED), HALCYON_OK) << halcyon_error_message();
}

TEST_F(session_calls, another_spelling_of_its_path_is_the_same_configuration) {
    halcyon_handle second = nullptr;
    expect_usage(halcyon_open("./halcyon.yaml", MPI_COMM_WORLD, &second), "already open");
    expect_usage(halcyon_open((std::filesystem::current_path() / "halcyon.yaml").c_str(), MPI_COMM_WORLD, &second),
                 "already open");
    EXPECT_EQ(second, nullptr);
}

TEST_F(session_calls, a_failure_names_rank_and_host_of_who_failed) {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    char host[256] = {};
    ASSERT_EQ(::gethostname(host, sizeof host - 1), 0);
    // Only one of the ranks has it open.
    std::filesystem::path own = rank == 1 ? "halcyon.yaml" : "other.yaml";
    halcyon_handle second = nullptr;
    expect_usage(halcyon_open(own.c_str(), MPI_COMM_WORLD, &second),
                 (" (rank 1 on " + std::string(host) + ")").c_str());
}

TEST_F(session_calls, nothing_works_after_close) {
    ASSERT_EQ(halcyon_close(&h), HALCYON_OK);
    expect_usage(halcyon_write(h, "theta", row_.data()), "halcyon_open first");
    expect_usage(halcyon_end_iteration(h), "halcyon_open first");
    expect_usage(halcyon_close(&h), "halcyon_open first");
}

TEST_F(session_calls, a_copy_of_a_handle_is_not_open_when_its_session_is_closed) {
    const halcyon_handle first = h;
    ASSERT_EQ(halcyon_close(&h), HALCYON_OK) << halcyon_error_message();
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) std::filesystem::remove_all("out");
    MPI_Barrier(MPI_COMM_WORLD);
    ASSERT_EQ(halcyon_open("halcyon.yaml", MPI_COMM_WORLD, &h), HALCYON_OK) << halcyon_error_message();
    halcyon_handle copy = first;
    expect_usage(halcyon_write(copy, "theta", row_.data()), "of no open session");
    expect_usage(halcyon_close(&copy), "of no open session");
    EXPECT_EQ(halcyon_write(h, "theta", row_.data()), HALCYON_OK) << halcyon_error_message();
}

TEST_F(session_calls, what_never_was_a_handle_is_refused_unread) {
    double elsewhere[64] = {};
    expect_usage(halcyon_end_iteration(reinterpret_cast<halcyon_handle>(elsewhere)), "of no open session");
    expect_usage(halcyon_end_iteration(reinterpret_cast<halcyon_handle>(uintptr_t{8})), "of no open session");
}

TEST_F(session_calls, threads_that_use_one_handle_at_once_are_refused_and_harm_nothing) {
    std::atomic<int64_t> ended{0};
    std::atomic<int64_t> refused{0};
    const auto use = [&] {
        while (refused < 100) {
            const int status = halcyon_end_iteration(h);
            if (status == HALCYON_OK) {
                ++ended;
            } else {
                ASSERT_EQ(status, HALCYON_ERROR_USAGE);
                ASSERT_NE(std::strstr(halcyon_error_message(), "one thread at a time"), nullptr);
                ++refused;
            }
        }
    };
    std::thread other(use);
    use();
    other.join();
    halcyon_stats_t stats{};
    stats.size_bytes = sizeof stats;
    ASSERT_EQ(halcyon_stats(h, &stats), HALCYON_OK) << halcyon_error_message();
    EXPECT_EQ(stats.iteration, ended);
    // The ranks end equally many: what is left out would be missing.
    int64_t most = 0;
    const int64_t own = ended;
    MPI_Allreduce(&own, &most, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
    for (int64_t i = own; i < most; ++i) ASSERT_EQ(halcyon_end_iteration(h), HALCYON_OK) << halcyon_error_message();
}

TEST_F(session_calls, null_pointers_are_refused) {
    expect_usage(halcyon_write(h, nullptr, row_.data()), "null");
    expect_usage(halcyon_write(h, "theta", nullptr), "null");
    expect_usage(halcyon_alloc(h, "theta", 0, nullptr), "null");
    expect_usage(halcyon_stats(h, nullptr), "null");
    halcyon_handle second = nullptr;
    expect_usage(halcyon_open(nullptr, MPI_COMM_WORLD, &second), "null");
}

TEST_F(session_calls, counts_need_the_size_of_their_struct) {
    halcyon_stats_t stats{};
    expect_usage(halcyon_stats(h, &stats), "size_bytes of the halcyon_stats_t is 0; set it to sizeof(halcyon_stats_t)");
    stats.size_bytes = UINT64_MAX;  // never set
    expect_usage(halcyon_stats(h, &stats), "set it to sizeof(halcyon_stats_t)");
}

TEST_F(session_calls, a_program_that_knows_fewer_counts_gets_those) {
    ASSERT_EQ(halcyon_write(h, "theta", row_.data()), HALCYON_OK);
    halcyon_stats_t stats;
    std::memset(&stats, 0x55, sizeof stats);
    constexpr size_t old_bytes = offsetof(halcyon_stats_t, signals);
    stats.size_bytes = old_bytes;
    ASSERT_EQ(halcyon_stats(h, &stats), HALCYON_OK);
    EXPECT_EQ(stats.blocks, 1U);
    EXPECT_EQ(stats.bytes, 64U);
    EXPECT_EQ(stats.size_bytes, old_bytes);
    const std::span touched(reinterpret_cast<const unsigned char*>(&stats), sizeof stats);
    for (const unsigned char byte : touched.subspan(old_bytes)) EXPECT_EQ(byte, 0x55);
}

TEST_F(session_calls, a_program_that_knows_more_counts_reads_how_many_are_set) {
    struct later {
        halcyon_stats_t known;
        uint64_t later_count;
    } stats{};
    stats.known.size_bytes = sizeof stats;
    stats.later_count = 42;
    ASSERT_EQ(halcyon_write(h, "theta", row_.data()), HALCYON_OK);
    ASSERT_EQ(halcyon_stats(h, &stats.known), HALCYON_OK);
    EXPECT_EQ(stats.known.blocks, 1U);
    EXPECT_GT(stats.known.arena_free_bytes, 0U);
    EXPECT_EQ(stats.known.size_bytes, sizeof(halcyon_stats_t));
    EXPECT_EQ(stats.later_count, 42U);
}

TEST(open_calls, a_missing_configuration_fails_on_all_ranks_with_its_path) {
    halcyon_handle h = nullptr;
    EXPECT_EQ(halcyon_open("/nonexistent/halcyon.yaml", MPI_COMM_WORLD, &h), HALCYON_ERROR_CONFIG);
    EXPECT_NE(std::strstr(halcyon_error_message(), "/nonexistent/halcyon.yaml"), nullptr) << halcyon_error_message();
    EXPECT_EQ(h, nullptr);
}

TEST(open_calls, an_intercommunicator_is_refused) {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm between = MPI_COMM_NULL;
    MPI_Intercomm_create(MPI_COMM_SELF, 0, MPI_COMM_WORLD, 1 - rank, 0, &between);
    halcyon_handle h = nullptr;
    EXPECT_EQ(halcyon_open("halcyon.yaml", between, &h), HALCYON_ERROR_USAGE);
    EXPECT_NE(std::strstr(halcyon_error_message(), "intercommunicator"), nullptr) << halcyon_error_message();
    MPI_Comm_free(&between);
}

TEST(open_calls, a_working_directory_that_is_gone_fails_on_all_ranks) {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    char name[] = "/tmp/halcyon-calls-XXXXXX";
    const auto before = std::filesystem::current_path();
    if (rank == 0) {
        ASSERT_NE(::mkdtemp(name), nullptr);
        std::filesystem::current_path(name);
        std::filesystem::remove(name);
    }
    halcyon_handle h = nullptr;
    const std::string path = (before / "gone.yaml").string();
    if (rank == 0) std::ofstream(path) << configuration;
    EXPECT_EQ(halcyon_open(path.c_str(), MPI_COMM_WORLD, &h), HALCYON_ERROR_SYSTEM);
    EXPECT_NE(std::strstr(halcyon_error_message(), "working directory"), nullptr) << halcyon_error_message();
    std::filesystem::current_path(before);
    if (rank == 0) std::filesystem::remove(path);
}

TEST(open_calls, blocks_whose_sum_is_beyond_all_memory_are_refused) {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        std::ofstream file("too-much.yaml");
        file << "halcyon: 1\nsimulation: calls\ndata:\n  layouts: {g: {type: int8, dimensions: [2251799813685248, "
                "1024]}}\n  variables:\n";
        for (int i = 0; i < 7; ++i) file << "    v" << i << ": {layout: g}\n";
        file << "stores: {main: {type: hdf5, path: out-too-much}}\nresources: {buffer: {size: 4 MiB}}\n";
    }
    MPI_Barrier(MPI_COMM_WORLD);
    halcyon_handle h = nullptr;
    EXPECT_EQ(halcyon_open("too-much.yaml", MPI_COMM_WORLD, &h), HALCYON_ERROR_CONFIG);
    EXPECT_NE(std::strstr(halcyon_error_message(), "2^61"), nullptr) << halcyon_error_message();
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        std::filesystem::remove("too-much.yaml");
        std::filesystem::remove_all("out-too-much");
    }
}

}  // namespace
