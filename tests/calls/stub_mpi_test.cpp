// What no MPI does that is installed here, done by a library of its names (programs/stub_mpi.c).
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "calls/recorded_run.hpp"

namespace halcyon::tests {
namespace {

constexpr const char* mpich_like = HALCYON_TEST_STUB_MPI;
constexpr const char* standard_abi = HALCYON_TEST_STUB_ABI_MPI;

recorded_process run_with(const char* library, const std::string& what) {
    const temporary_folder files;
    const std::string path = (files.path() / "data").string();
    const recorded_run run =
        run_recorded("", HALCYON_TEST_PROGRAMS "/stub_mpi_calls " + std::string(library) + " " + path + " " + what);
    EXPECT_EQ(run.status, 0) << run.output;
    EXPECT_EQ(run.processes.size(), 1U);
    return run.processes.empty() ? recorded_process{} : run.processes[0];
}

std::vector<std::string> mpi_calls(const recorded_process& process) {
    std::vector<std::string> seen;
    for (const recorded_call& call : process.calls) {
        if (call.level == "mpiio") seen.push_back(call.function);
    }
    return seen;
}

using names = std::vector<std::string>;

TEST(stub_mpi_test, records_functions_with_large_counts) {
    const recorded_process process = run_with(mpich_like, "large_counts");
    EXPECT_EQ(mpi_calls(process),
              (names{"MPI_Init", "MPI_File_open", "MPI_File_get_type_extent", "MPI_File_write_at", "MPI_File_close"}));
    ASSERT_NE(process.first("MPI_File_write_at"), nullptr);
    EXPECT_EQ(process.first("MPI_File_write_at")->offset, 16);
    EXPECT_EQ(process.first("MPI_File_write_at")->bytes, 24'000'000'000);
    EXPECT_EQ(process.first("MPI_File_write_at")->moved, 24'000'000'000);
}

TEST(stub_mpi_test, records_a_request_whose_handle_another_thread_got_at_once) {
    const recorded_process process = run_with(mpich_like, "reused_request");
    names completed;
    for (const recorded_call& call : process.calls) {
        if (call.function == "MPI_Wait") completed.push_back(std::to_string(call.moved));
    }
    EXPECT_EQ(completed, (names{"80", "80"}));
}

TEST(stub_mpi_test, records_the_test_that_completes_a_request) {
    const recorded_process process = run_with(mpich_like, "tested_request");
    EXPECT_EQ(mpi_calls(process),
              (names{"MPI_Init", "MPI_File_open", "MPI_File_iwrite_at", "MPI_Test", "MPI_File_close"}));
}

TEST(stub_mpi_test, calls_the_library_that_is_loaded_now) {
    const recorded_process process = run_with(mpich_like, "unloaded_library");
    EXPECT_EQ(mpi_calls(process),
              (names{"MPI_Init", "MPI_File_open", "MPI_File_close", "MPI_Init", "MPI_File_open", "MPI_File_close"}));
}

TEST(stub_mpi_test, refuses_handles_of_the_standard_abi) {
    for (const char* what : {"large_counts", "reused_request", "tested_request"}) {
        const recorded_process process = run_with(standard_abi, what);
        EXPECT_EQ(mpi_calls(process), names{}) << what;
        EXPECT_EQ(process.absences, names{"calls of MPI by the standard ABI of MPI 5"}) << what;
    }
}

}  // namespace
}  // namespace halcyon::tests
