// One program in C and in Fortran's three interfaces (programs/mpiio_calls.*): each of its calls is recorded once, with
// the place and the size that it has in the file, whatever the language and the library.
#include <gtest/gtest.h>

#include <ostream>

#include "calls/recorded_run.hpp"

namespace halcyon::tests {
namespace {

constexpr int64_t none = -1;

struct expected_call {
    std::string function;
    int64_t offset = none;
    int64_t bytes = none;
    int64_t moved = none;
    bool operator==(const expected_call&) const = default;
};

std::ostream& operator<<(std::ostream& out, const expected_call& call) {
    return out << call.function << " at " << call.offset << ", bytes " << call.bytes << ", moved " << call.moved;
}

using call_list = std::vector<expected_call>;

void append(call_list& to, const call_list& more) {
    to.insert(to.end(), more.begin(), more.end());
}

expected_call file_call(const char* name, int64_t offset = none, int64_t bytes = none, int64_t moved = none) {
    return {std::string("MPI_File_") + name, offset, bytes, moved};
}

call_list control() {
    return {file_call("set_size", none, 65536),
            file_call("preallocate", none, 131072),
            file_call("get_size"),
            file_call("get_amode"),
            file_call("get_group"),
            file_call("get_info"),
            file_call("set_info"),
            file_call("set_atomicity"),
            file_call("get_atomicity"),
            file_call("get_type_extent"),
            file_call("get_byte_offset"),
            file_call("get_view")};
}

call_list blocking(int64_t rank) {
    return {file_call("write_at", rank * 4096, 400, 400),
            file_call("write_at_all", rank * 4096 + 1000, 40, 40),
            file_call("seek", rank * 8192),
            file_call("write", rank * 8192, 100, 100),
            file_call("write_all", rank * 8192 + 100, 100, 100),
            file_call("get_position"),
            file_call("seek_shared", 0),
            file_call("write_shared", none, 20, 20),
            file_call("write_ordered", none, 20, 20),
            file_call("get_position_shared"),
            file_call("read_at", rank * 4096, 400, 400),
            file_call("read_at_all", rank * 4096 + 1000, 40, 40),
            file_call("seek", 16),
            file_call("read", 16, 100, 100),
            file_call("read_all", 116, 100, 100),
            file_call("seek_shared", 0),
            file_call("read_shared", none, 20, 20),
            file_call("read_ordered", none, 20, 20)};
}

/// Completions tell what was moved. The three of MPI_Waitall follow it.
call_list started(int64_t rank) {
    return {file_call("iwrite_at", rank * 4096, 40),
            {"MPI_Wait", none, none, 40},
            file_call("seek", 0),
            file_call("iread", 0, 44),
            {"MPI_Wait", none, none, 44},
            file_call("iwrite", 44, 48),
            {"MPI_Test", none, none, 48},
            file_call("iread_at", 40, 4),
            file_call("iread_at", 80, 8),
            file_call("iread_at", 120, 12),
            {"MPI_Waitall"},
            {"MPI request", none, none, 4},
            {"MPI request", none, none, 8},
            {"MPI request", none, none, 12},
            file_call("iread_at", 160, 16),
            {"MPI_Waitany", none, none, 16},
            file_call("iwrite_shared", none, 20),
            {"MPI_Waitsome", none, none, 20},
            file_call("iread_shared", none, 24),
            {"MPI_Testall", none, none, 24}};
}

call_list started_together(int64_t rank) {
    return {file_call("iwrite_at_all", rank * 4096, 28),
            {"MPI_Testany", none, none, 28},
            file_call("iread_at_all", rank * 4096, 32),
            {"MPI_Testsome", none, none, 32},
            file_call("iwrite_all", 92, 36),
            {"MPI_Wait", none, none, 36},
            file_call("iread_all", 128, 40),
            {"MPI_Wait", none, none, 40}};
}

call_list split(int64_t rank) {
    const int64_t at = rank * 4096;
    return {file_call("seek", at),
            file_call("write_all_begin", at, 44),
            file_call("write_all_end", none, none, 44),
            file_call("read_all_begin", at + 44, 48),
            file_call("read_all_end", none, none, 48),
            file_call("write_at_all_begin", at, 52),
            file_call("write_at_all_end", none, none, 52),
            file_call("read_at_all_begin", at, 56),
            file_call("read_at_all_end", none, none, 56),
            file_call("write_ordered_begin", none, 60),
            file_call("write_ordered_end", none, none, 60),
            file_call("read_ordered_begin", none, 64),
            file_call("read_ordered_end", none, none, 64)};
}

/// From byte 1024 on every second word of 4 bytes: element 3 is at 1024 + 3 · 8.
call_list through_a_view() {
    return {file_call("set_view", 1024),   file_call("write_at", 1048, 8, 8), file_call("seek", 1064),
            file_call("read", 1064, 8, 8), file_call("set_view", 0),          file_call("read_at", 3, 8, 8)};
}

call_list expected(int64_t rank, bool with_started_collectives) {
    call_list all{{"MPI_Init"}, file_call("open")};
    append(all, control());
    append(all, blocking(rank));
    append(all, started(rank));
    if (with_started_collectives) append(all, started_together(rank));
    append(all, split(rank));
    append(all, through_a_view());
    append(all, {file_call("sync"), file_call("close")});
    if (rank == 0) all.push_back(file_call("delete"));
    append(all, {file_call("open"), {"MPI_Finalize"}});
    return all;
}

/// Tests that found nothing complete are there only where calls were made during them.
bool found_nothing(const recorded_call& call) {
    return call.function.starts_with("MPI_Test") && call.kind == "wait" && call.moved == none;
}

call_list mpi_calls(const recorded_process& process) {
    call_list calls;
    for (const recorded_call& call : process.calls) {
        if (call.level != "mpiio" || found_nothing(call)) continue;
        calls.push_back({call.function, call.offset, call.bytes, call.moved});
    }
    return calls;
}

/// How the two ranks of a program are run, with which component of Open MPI for files.
struct way {
    std::string program;
    std::string environment;
    std::string arguments;
};

std::ostream& operator<<(std::ostream& out, const way& how) {
    return out << how.environment << " " << how.program;
}

class mpiio_test : public testing::TestWithParam<way> {
  protected:
    static const recorded_run& run_of(const way& how) {
        // Each way runs once, for all that is asked of it.
        static std::map<std::string, recorded_run> runs;
        const auto [at, is_new] = runs.try_emplace(how.program + how.environment);
        if (is_new) {
            const temporary_folder files;
            const std::string command = std::string(HALCYON_TEST_PROGRAMS "/") + how.program + " " +
                                        (files.path() / "shared.dat").string() + how.arguments;
            at->second = run_recorded(HALCYON_TEST_MPIRUN " -n 2", command, how.environment);
        }
        return at->second;
    }

    const recorded_process& rank(int wanted) {
        const recorded_run& run = run_of(GetParam());
        if (run.status != 0) throw std::runtime_error("the program failed:\n" + run.output);
        const recorded_process* process = run.with_rank(wanted);
        if (process == nullptr) throw std::runtime_error("no process told this rank:\n" + run.output);
        return *process;
    }
};

TEST_P(mpiio_test, records_each_call_once_with_its_place_and_size) {
    const bool with_started_collectives = GetParam().arguments.empty();
    EXPECT_EQ(mpi_calls(rank(0)), expected(0, with_started_collectives));
    EXPECT_EQ(mpi_calls(rank(1)), expected(1, with_started_collectives));
}

TEST_P(mpiio_test, is_the_parent_of_the_calls_that_the_library_makes) {
    const recorded_process& process = rank(0);
    const recorded_call* write = process.first("MPI_File_write_at");
    ASSERT_NE(write, nullptr);
    int64_t written = 0;
    for (const recorded_call* call : process.children_of(*write)) {
        if (call->kind != "write") continue;
        EXPECT_EQ(call->level, "posix");
        EXPECT_EQ(call->file, write->file);
        EXPECT_EQ(call->offset, write->offset);
        written += call->moved;
    }
    EXPECT_EQ(written, 400);
    for (const recorded_call& call : process.calls) {
        if (call.file != write->file || call.level == "mpiio") continue;
        EXPECT_NE(call.parent, 0U) << call.function << " number " << call.number;
    }
}

TEST_P(mpiio_test, names_the_file_as_the_calls_below_do) {
    const recorded_process& process = rank(1);
    const recorded_call* opened = process.first("MPI_File_open");
    ASSERT_NE(opened, nullptr);
    EXPECT_TRUE(process.files.at(opened->file).ends_with("/shared.dat"));
    for (const recorded_call& call : process.calls) {
        const bool of_a_file = call.function.starts_with("MPI_File_") || call.kind == "wait";
        if (call.level != "mpiio" || !of_a_file || call.error != 0) continue;
        EXPECT_EQ(call.file, opened->file) << call.function;
    }
}

TEST_P(mpiio_test, tells_what_mpi_says_of_itself) {
    const recorded_process& process = rank(1);
    EXPECT_NE(process.fact("mpi.library").find(HALCYON_TEST_MPI_NAME), std::string::npos)
        << process.fact("mpi.library");
    EXPECT_EQ(process.fact("mpi.size"), "2");
    EXPECT_EQ(process.facts.count("mpi.rank"), 1U);
    EXPECT_EQ(process.fact("mpi.amode"), "MPI_MODE_CREATE|MPI_MODE_RDWR");
    EXPECT_EQ(process.fact("mpi.ranks"), "2");
    EXPECT_EQ(process.files_of_facts.at("mpi.ranks"), process.first("MPI_File_open")->file);
}

TEST_P(mpiio_test, finds_room_for_its_files_and_requests) {
    for (const std::string& absence : rank(0).absences) EXPECT_EQ(absence.find("MPI"), std::string::npos) << absence;
}

TEST_P(mpiio_test, tells_the_hints_in_force) {
    if (HALCYON_TEST_MPI_NAME != std::string("MPICH"))
        GTEST_SKIP() << "Open MPI 4 tells no hints that it was not given";
    EXPECT_EQ(rank(0).fact("mpi.hint.romio_ds_write"), "automatic");
    EXPECT_EQ(rank(0).files_of_facts.at("mpi.hint.romio_ds_write"), rank(0).first("MPI_File_open")->file);
}

TEST_P(mpiio_test, tells_the_pieces_of_a_view_once) {
    EXPECT_EQ(rank(0).fact("mpi.view"), "4 bytes every 8");
    EXPECT_EQ(rank(0).facts.count("mpi.view"), 1U);
    EXPECT_EQ(rank(0).files_of_facts.at("mpi.view"), rank(0).first("MPI_File_open")->file);
}

TEST_P(mpiio_test, knows_the_file_system_although_the_path_was_named_before_the_file_was_open) {
    for (const int each : {0, 1}) EXPECT_GT(rank(each).block_bytes.at(rank(each).first("MPI_File_open")->file), 0);
}

TEST_P(mpiio_test, tells_the_class_of_an_error) {
    const recorded_process& process = rank(1);
    const recorded_call* failed = nullptr;
    for (const recorded_call& call : process.calls) {
        if (call.function == "MPI_File_open") failed = &call;
    }
    ASSERT_NE(failed, nullptr);
    EXPECT_EQ(failed->error, static_cast<unsigned>(HALCYON_TEST_NO_SUCH_FILE));
    EXPECT_EQ(process.files.at(failed->file), "/nowhere/at/all");
}

TEST_P(mpiio_test, tells_before_a_call_whether_it_waits) {
    size_t starts = 0;
    for (const recorded_call& call : rank(0).calls) {
        if (call.level != "mpiio" || call.function == "MPI request") continue;  // told when it is over
        const bool starts_only = call.function.starts_with("MPI_File_iread") ||
                                 call.function.starts_with("MPI_File_iwrite") || call.function.ends_with("_begin") ||
                                 call.function.starts_with("MPI_Test") || call.function == "MPI_Request_free";
        EXPECT_EQ(call.may_block, !starts_only) << call.function;
        starts += starts_only ? 1 : 0;
    }
    EXPECT_GT(starts, 5U);
}

TEST_P(mpiio_test, joins_a_completion_to_its_start_by_the_request) {
    const recorded_process& process = rank(0);
    const recorded_call* start = process.first("MPI_File_iwrite_at");
    const recorded_call* end = process.first("MPI_Wait");
    ASSERT_NE(start, nullptr);
    ASSERT_NE(end, nullptr);
    EXPECT_EQ(start->argument, end->argument);
    EXPECT_NE(start->argument, 0);
    EXPECT_EQ(process.first("MPI_Waitall")->argument, 3);
    EXPECT_EQ(process.children_of(*process.first("MPI_Waitall")).back()->function, "MPI request");
}

std::vector<way> ways() {
    std::vector<way> all;
    for (const char* program : {HALCYON_TEST_MPIIO_PROGRAMS}) {
        all.push_back({program, "", ""});
        if (HALCYON_TEST_MPI_NAME != std::string("Open MPI")) continue;
        all.push_back({program, "OMPI_MCA_io=romio321", " blocking-collectives"});
    }
    return all;
}

std::string name_of(const testing::TestParamInfo<way>& info) {
    return info.param.program + (info.param.environment.empty() ? "" : "_romio");
}

INSTANTIATE_TEST_SUITE_P(programs, mpiio_test, testing::ValuesIn(ways()), name_of);

}  // namespace
}  // namespace halcyon::tests
