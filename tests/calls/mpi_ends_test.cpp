// Requests that are not of files, requests that are freed, and MPI_Abort (programs/mpi_ends.c).
#include <gtest/gtest.h>

#include "calls/recorded_run.hpp"

namespace halcyon::tests {
namespace {

TEST(mpi_ends_test, records_what_concerns_files_and_the_end) {
    const temporary_folder files;
    const recorded_run run = run_recorded(HALCYON_TEST_MPIRUN " -n 1",
                                          HALCYON_TEST_PROGRAMS "/mpi_ends " + (files.path() / "data").string());
    EXPECT_NE(run.status, 0);
    ASSERT_NE(run.with_rank(0), nullptr) << run.output;
    const recorded_process& process = *run.with_rank(0);
    std::vector<std::string> seen;
    for (const recorded_call& call : process.calls) {
        if (call.level == "mpiio") seen.push_back(call.function);
    }
    EXPECT_EQ(seen, (std::vector<std::string>{"MPI_Init", "MPI_File_open", "MPI_File_iwrite_at", "MPI_Request_free",
                                              "MPI_Abort"}));
    EXPECT_EQ(process.first("MPI_Request_free")->argument, process.first("MPI_File_iwrite_at")->argument);
    EXPECT_EQ(process.first("MPI_Request_free")->moved, -1);
    EXPECT_EQ(process.first("MPI_Abort")->argument, 7);
    constexpr unsigned aborted = 2;
    ASSERT_FALSE(process.endings.empty());
    EXPECT_EQ(process.endings.front(), aborted);
}

}  // namespace
}  // namespace halcyon::tests
