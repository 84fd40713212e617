// Programs that were linked by halcyon-cc: they record themselves, without anything preloaded.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>

#include "calls/recorded_run.hpp"
#include "observe/trace/trace_reader.hpp"

namespace halcyon::tests {
namespace {

using observe::trace::trace_reader;

constexpr int64_t none = -1;

struct traced_call {
    std::string function;
    int64_t offset;
    int64_t moved;
    bool operator==(const traced_call&) const = default;
};

std::ostream& operator<<(std::ostream& out, const traced_call& call) {
    return out << call.function << " at " << call.offset << ", moved " << call.moved;
}

/// The trace of the one process that the command leaves.
trace_reader trace_of(const std::string& command, const std::filesystem::path& folder) {
    const std::string whole = "env HALCYON_LAYERS=trace HALCYON_TRACE_DIR=" + folder.string() + " " + command;
    if (std::system(whole.c_str()) != 0) throw std::runtime_error("failed: " + whole);
    std::vector<std::filesystem::path> traces;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        if (entry.path().extension() == ".trace") traces.push_back(entry.path());
    }
    if (traces.size() != 1) throw std::runtime_error(std::to_string(traces.size()) + " traces of: " + whole);
    return trace_reader(traces[0]);
}

/// Reads and writes of one file, at one level or at all (null), in the order in which they ended.
std::vector<traced_call> transfers(const trace_reader& trace, const std::string& name, const calls::level* at) {
    uint32_t id = 0;
    for (const trace_reader::file& file : trace.files) {
        if (file.path.ends_with(name)) id = file.id;
    }
    std::vector<traced_call> found;
    for (size_t chunk = 0; chunk < trace.chunk_count(); ++chunk) {
        for (const calls::call_record& record : trace.chunk(chunk)) {
            const trace_reader::function& function = trace.functions.at(record.function);
            const bool moves = function.kind == calls::kind::read || function.kind == calls::kind::write;
            if (record.file != id || !moves || (at != nullptr && function.level != *at)) continue;
            found.push_back({function.name, record.offset, record.moved});
        }
    }
    return found;
}

TEST(static_test, walks_the_stacks_of_its_calls) {
    const temporary_folder folder;
    const trace_reader trace =
        trace_of("HALCYON_TRACE_CONTEXTS=1 " HALCYON_TEST_PROGRAMS "/static_calls " + (folder.path() / "data").string(),
                 folder.path());
    const temporary_folder other_folder;
    const trace_reader other = trace_of(
        "HALCYON_TRACE_CONTEXTS=1 " HALCYON_TEST_PROGRAMS "/static_calls " + (other_folder.path() / "data").string(),
        other_folder.path());
    const auto contexts = [](const trace_reader& reader) {
        std::map<std::string, std::string> found;
        for (const trace_reader::fact& fact : reader.facts) {
            if (fact.key.starts_with("context.")) found[fact.key] = fact.value;
        }
        return found;
    };
    const auto told = contexts(trace);
    EXPECT_EQ(told, contexts(other));
    EXPECT_EQ(told.at("context.unwinder"), "unwind tables");
    size_t with_context = 0;
    for (size_t chunk = 0; chunk < trace.chunk_count(); ++chunk) {
        for (const calls::call_record& record : trace.chunk(chunk)) {
            if (trace.functions.at(record.function).kind != calls::kind::write) continue;
            ++with_context;
            char key[32];
            snprintf(key, sizeof key, "context.%08x", record.context);
            ASSERT_TRUE(told.contains(key)) << key;
            // Ours, the program's, and main's caller.
            const std::string& frames = told.at(key);
            EXPECT_GE(std::count(frames.begin(), frames.end(), ' '), 2) << frames;
            EXPECT_TRUE(frames.starts_with("static_calls+0x")) << frames;
        }
    }
    EXPECT_GT(with_context, 2U);
}

/// Streams' transfers are those that are derived from their buffers; the C library's own calls are not seen again.
void expect_calls_of_program(const trace_reader& trace) {
    const std::vector<traced_call> expected{{"write", 0, 10},          {"pwrite", 100, 3},     {"fprintf", none, none},
                                            {"stdio write", none, 11}, {"stdio read", 0, 114}, {"fread", none, none}};
    EXPECT_EQ(transfers(trace, "/data", nullptr), expected);
    EXPECT_EQ(trace.ended, calls::ending::exit);
}

TEST(static_test, records_a_program_that_nothing_can_be_preloaded_into) {
    const temporary_folder folder;
    expect_calls_of_program(
        trace_of(HALCYON_TEST_PROGRAMS "/static_calls " + (folder.path() / "data").string(), folder.path()));
}

TEST(static_test, what_is_preloaded_leaves_a_program_alone_that_records_itself) {
    const temporary_folder folder;
    const std::string data = (folder.path() / "data").string();
    expect_calls_of_program(
        trace_of("LD_PRELOAD=" HALCYON_TEST_LIBRARY " " HALCYON_TEST_PROGRAMS "/linked_calls " + data, folder.path()));
}

TEST(static_test, records_mpi_io_of_an_archive) {
#ifndef HALCYON_TEST_STATIC_MPI
    GTEST_SKIP() << "this MPI has no archive";
#else
    const temporary_folder folder;
    const trace_reader trace =
        trace_of(HALCYON_TEST_PROGRAMS "/static_mpi_calls " + (folder.path() / "data").string(), folder.path());
    constexpr calls::level mpi = calls::level::mpiio;
    const std::vector<traced_call> seen = transfers(trace, "/data", &mpi);
    ASSERT_GT(seen.size(), 4U);
    EXPECT_EQ(seen[0], (traced_call{"MPI_File_write_at", 0, 400}));
    EXPECT_EQ(seen[1], (traced_call{"MPI_File_write_at_all", 1000, 40}));
    EXPECT_EQ(seen[2], (traced_call{"MPI_File_write", 0, 100}));
    bool told = false;
    for (const trace_reader::fact& fact : trace.facts) told |= fact.key == "mpi.size" && fact.value == "1";
    EXPECT_TRUE(told);
#endif
}

}  // namespace
}  // namespace halcyon::tests
