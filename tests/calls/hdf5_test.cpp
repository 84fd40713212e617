// HDF5, serial and parallel, and several of its libraries in one process (programs/hdf5_calls.c, hdf5_module.c).
#include <gtest/gtest.h>

#include <algorithm>

#include "calls/recorded_run.hpp"

namespace halcyon::tests {
namespace {

constexpr int64_t none = -1;

struct expected_call {
    std::string function;
    std::string kind;
    int64_t bytes = none;
    int64_t argument = 0;
    bool operator==(const expected_call&) const = default;
};

std::ostream& operator<<(std::ostream& out, const expected_call& call) {
    return out << call.function << ", " << call.kind << ", bytes " << call.bytes << ", argument " << call.argument;
}

/// `collective`: 1 where the program asks for it.
std::vector<expected_call> expected(int64_t collective) {
    constexpr int truncate = 2;
    return {{"H5Fcreate", "open", none, truncate},
            {"H5Gcreate2", "namespace"},
            {"H5Dcreate2", "namespace"},
            {"H5Dwrite", "write", 64L * 64 * 8, collective},  // all
            {"H5Dwrite", "write", 10L * 20 * 4, collective},  // a hyperslab, floats in memory
            {"H5Dread", "read", 10L * 20 * 8},                // selected in the file alone
            {"H5Dclose", "control"},
            {"H5Acreate2", "namespace"},
            {"H5Awrite", "write", 3L * 4},
            {"H5Aclose", "control"},
            {"H5Aopen", "control"},
            {"H5Aread", "read", 3L * 4},
            {"H5Aclose", "control"},
            {"H5Gclose", "control"},
            {"H5Fflush", "sync"},
            {"H5Fclose", "close"},
            {"H5Fopen", "open"},
            {"H5Dopen2", "control"},
            {"H5Dread", "read", 64L * 64 * 8, collective},
            {"H5Dclose", "control"},
            {"H5Fclose", "close"},
            {"H5Fopen", "open"}};
}

std::vector<const recorded_call*> calls_of_hdf5(const recorded_process& process) {
    std::vector<const recorded_call*> calls;
    for (const recorded_call& call : process.calls) {
        if (call.level == "hdf5") calls.push_back(&call);
    }
    return calls;
}

void expect_calls(const recorded_process& process, int64_t collective) {
    std::vector<expected_call> seen;
    for (const recorded_call* call : calls_of_hdf5(process)) {
        seen.push_back({call->function, call->kind, call->bytes, call->argument});
        EXPECT_EQ(call->moved, call->bytes) << call->function;
    }
    EXPECT_EQ(seen, expected(collective));
}

/// The process of the program itself: a launcher's are recorded, too.
const recorded_process& of_program(const recorded_run& run) {
    for (const recorded_process& process : run.processes) {
        if (!calls_of_hdf5(process).empty()) return process;
    }
    throw std::runtime_error("no process called HDF5:\n" + run.output);
}

const recorded_run& serial_run() {
    static const recorded_run run = [] {
        const temporary_folder files;
        return run_recorded("", HALCYON_TEST_PROGRAMS "/hdf5_calls_serial " + (files.path() / "a.h5").string());
    }();
    return run;
}

TEST(hdf5_test, records_each_call_with_its_bytes) {
    ASSERT_EQ(serial_run().status, 0) << serial_run().output;
    expect_calls(of_program(serial_run()), 0);
}

TEST(hdf5_test, names_the_file_for_each_object_in_it) {
    const recorded_process& process = of_program(serial_run());
    const std::vector<const recorded_call*> calls = calls_of_hdf5(process);
    for (size_t i = 0; i + 1 < calls.size(); ++i) EXPECT_EQ(calls[i]->file, calls[0]->file) << calls[i]->function;
    EXPECT_TRUE(process.files.at(calls[0]->file).ends_with("/a.h5"));
    EXPECT_EQ(process.files.at(calls.back()->file), "/nowhere/at.all");
    EXPECT_EQ(calls.back()->error, static_cast<unsigned>(ENOENT));
    EXPECT_EQ(calls.front()->error, 0U);
}

TEST(hdf5_test, is_the_parent_of_the_calls_below) {
    const recorded_process& process = of_program(serial_run());
    const recorded_call* opened = process.first("H5Fopen");
    ASSERT_NE(opened, nullptr);
    const std::vector<const recorded_call*> below = process.children_of(*opened);
    ASSERT_FALSE(below.empty());
    for (const recorded_call* call : below) EXPECT_EQ(call->level, "posix");
    EXPECT_EQ(below.front()->file, opened->file);
}

TEST(hdf5_test, records_the_first_call_after_a_vfork) {
    const temporary_folder files;
    const recorded_run run =
        run_recorded("", HALCYON_TEST_PROGRAMS "/hdf5_after_vfork " + (files.path() / "a.h5").string());
    ASSERT_EQ(run.status, 0) << run.output;
    const recorded_process& process = of_program(run);
    EXPECT_EQ(std::ranges::count(process.calls, "H5Fflush", &recorded_call::function), 3);
    EXPECT_EQ(process.absences, std::vector<std::string>{});
}

TEST(hdf5_test, waits_for_no_thread_that_stands_still) {
    const temporary_folder files;
    const recorded_run run =
        run_recorded("", HALCYON_TEST_PROGRAMS "/hdf5_stopped_thread " + (files.path() / "a.h5").string());
    ASSERT_EQ(run.status, 0) << run.output;
    const recorded_process& process = of_program(run);
    EXPECT_EQ(process.absences, (std::vector<std::string>(2, "calls of HDF5 libraries that are not known")));
    EXPECT_NE(process.first("H5Fopen"), nullptr);
    EXPECT_NE(process.first("H5Fclose"), nullptr);
}

TEST(hdf5_test, tells_version_alignment_and_chunks) {
    const recorded_process& process = of_program(serial_run());
    EXPECT_EQ(process.fact("hdf5.version"), HALCYON_TEST_HDF5_VERSION);
    EXPECT_EQ(process.fact("hdf5.alignment"), "4096 from 1024 bytes on");
    EXPECT_EQ(process.fact("hdf5.chunk.chunked"), "16 32");
}

TEST(hdf5_test, records_collective_transfers_over_mpi) {
#ifndef HALCYON_TEST_PARALLEL_HDF5
    GTEST_SKIP() << "no parallel HDF5 of this MPI";
#else
    const temporary_folder files;
    const recorded_run run = run_recorded(
        HALCYON_TEST_MPIRUN " -n 2", HALCYON_TEST_PROGRAMS "/hdf5_calls_parallel " + (files.path() / "a.h5").string());
    ASSERT_EQ(run.status, 0) << run.output;
    ASSERT_NE(run.with_rank(1), nullptr);
    const recorded_process& process = *run.with_rank(1);
    expect_calls(process, 1);
    const recorded_call* read = process.first("H5Dread");
    ASSERT_NE(read, nullptr);
    const std::vector<const recorded_call*> below = process.children_of(*read);
    ASSERT_FALSE(below.empty());
    for (const recorded_call* call : below) {
        EXPECT_EQ(call->level, "mpiio");
        EXPECT_EQ(call->file, read->file) << call->function;
    }
    EXPECT_TRUE(process.fact("hdf5.version").ends_with(", parallel"));
#endif
}

/// Runs modules in one process.
recorded_run run_modules(const std::string& modules) {
    const temporary_folder files;
    return run_recorded("", HALCYON_TEST_PROGRAMS "/module_host " + (files.path() / "file").string() + modules);
}

TEST(modules_test, reach_the_library_that_they_were_linked_with) {
#ifndef HALCYON_TEST_PARALLEL_HDF5
    GTEST_SKIP() << "no parallel HDF5 of this MPI";
#else
    const recorded_run run = run_modules(" " HALCYON_TEST_MODULES "/hdf5_module_parallel.so " HALCYON_TEST_MODULES
                                         "/hdf5_module_serial.so " HALCYON_TEST_MODULES "/hdf5_module_parallel.so");
    EXPECT_EQ(run.status, 0) << run.output;
    const recorded_process& process = of_program(run);
    EXPECT_EQ(process.facts.count("hdf5.version"), 2U);
    std::vector<std::string> written;
    for (const recorded_call* call : calls_of_hdf5(process)) {
        if (call->function != "H5Dwrite") continue;
        EXPECT_EQ(call->bytes, 40);
        written.push_back(std::filesystem::path(process.files.at(call->file)).extension());
    }
    EXPECT_EQ(written, (std::vector<std::string>{".0", ".1", ".2"}));
#endif
}

TEST(modules_test, use_mpi_that_nobody_else_sees) {
    const recorded_run run = run_modules(" " HALCYON_TEST_MODULES "/mpi_module.so");
    EXPECT_EQ(run.status, 0) << run.output;
    const recorded_process* process = run.with_rank(0);
    ASSERT_NE(process, nullptr);
    const recorded_call* write = process->first("MPI_File_write_at");
    ASSERT_NE(write, nullptr);
    EXPECT_EQ(write->offset, 3);
    EXPECT_EQ(write->moved, 6);
}

}  // namespace
}  // namespace halcyon::tests
