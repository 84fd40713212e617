// The contexts of calls (programs/contexts.c): numbers for call stacks.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "calls/recorded_run.hpp"

namespace halcyon::tests {
namespace {

constexpr const char* wanted = "HALCYON_TEXT_CONTEXTS=1";

recorded_run run(const std::string& program, const std::string& words, const std::string& launcher = "",
                 const std::string& environment = wanted) {
    const temporary_folder files;
    const size_t space = words.find(' ');
    const std::string rest = space == std::string::npos ? "" : words.substr(space);
    recorded_run found = run_recorded(
        launcher,
        HALCYON_TEST_PROGRAMS "/" + program + " " + words.substr(0, space) + " " + files.path().string() + rest,
        environment);
    EXPECT_EQ(found.status, 0) << found.output;
    return found;
}

/// The process that the launcher starts.
const recorded_process& program_of(const recorded_run& run) {
    for (const recorded_process& process : run.processes) {
        if (process.first("write") != nullptr) return process;
    }
    throw std::runtime_error("no process wrote:\n" + run.output);
}

/// Contexts of its writes, in the order of the calls.
std::vector<unsigned> writes(const recorded_process& process) {
    std::vector<unsigned> contexts;
    for (const recorded_call& call : process.calls) {
        if (call.function == "write") contexts.push_back(call.context);
    }
    return contexts;
}

std::vector<std::string> frames(const recorded_process& process, unsigned context) {
    const auto found = process.contexts.find(context);
    std::istringstream text(found == process.contexts.end() ? "" : found->second);
    return {std::istream_iterator<std::string>(text), std::istream_iterator<std::string>()};
}

bool holds(const std::vector<std::string>& frames, const std::string& object) {
    return std::any_of(frames.begin(), frames.end(),
                       [&](const std::string& frame) { return frame.find(object) != std::string::npos; });
}

TEST(contexts_test, one_place_in_a_loop_is_one_context_and_others_are_others) {
    for (const char* program : {"contexts", "contexts_fast"}) {
        const recorded_run found = run(program, "places");
        const recorded_process& process = program_of(found);
        const std::vector<unsigned> seen = writes(process);
        ASSERT_EQ(seen.size(), 6U);
        EXPECT_EQ(seen[0], seen[1]);
        EXPECT_EQ(seen[0], seen[2]);
        EXPECT_EQ(std::set(seen.begin(), seen.end()).size(), 4U);
        for (const unsigned context : seen) {
            // put, the function that called it, main, and what the C library starts a program by.
            const auto stack = frames(process, context);
            ASSERT_GE(stack.size(), 4U) << program;
            for (size_t i = 0; i < 3; ++i) EXPECT_TRUE(stack[i].starts_with(std::string(program) + "+0x")) << stack[i];
            EXPECT_TRUE(stack[3].starts_with("libc.so.6+0x")) << stack[3];
            EXPECT_EQ(stack[0], frames(process, seen[0])[0]);
            EXPECT_FALSE(holds(stack, "halcyon"));
        }
        EXPECT_NE(process.first("open")->context, 0U);
        EXPECT_NE(process.first("close")->context, 0U);
        EXPECT_EQ(process.fact("context.unwinder"), "unwind tables");
    }
}

TEST(contexts_test, numbers_are_the_same_wherever_a_program_is_loaded) {
    const recorded_run one = run("contexts", "places");
    const recorded_run other = run("contexts", "places");
    const recorded_run fixed = run("contexts", "places", "setarch -R");
    EXPECT_EQ(program_of(one).contexts, program_of(other).contexts);
    EXPECT_EQ(program_of(one).contexts, program_of(fixed).contexts);
    EXPECT_EQ(writes(program_of(one)), writes(program_of(fixed)));
}

TEST(contexts_test, nothing_is_captured_where_no_layer_wants_it) {
    const recorded_run found = run("contexts", "places", "", "");
    const recorded_process& process = program_of(found);
    for (const recorded_call& call : process.calls) EXPECT_EQ(call.context, 0U) << call.function;
    EXPECT_TRUE(process.contexts.empty());
    EXPECT_EQ(process.fact("context.unwinder"), "");
}

TEST(contexts_test, code_without_unwind_tables_is_known_by_its_call) {
    const recorded_run found = run("contexts_bare", "places");
    const recorded_process& process = program_of(found);
    const std::vector<unsigned> seen = writes(process);
    ASSERT_EQ(seen.size(), 6U);
    EXPECT_EQ(std::set(seen.begin(), seen.end()).size(), 1U);
    const auto stack = frames(process, seen[0]);
    ASSERT_EQ(stack.size(), 1U);
    EXPECT_TRUE(stack[0].starts_with("contexts_bare+0x"));
}

TEST(contexts_test, a_thread_has_the_stack_from_its_begin) {
    const recorded_run found = run("contexts", "thread");
    const recorded_process& process = program_of(found);
    const std::vector<unsigned> seen = writes(process);
    ASSERT_EQ(seen.size(), 2U);
    EXPECT_EQ(seen[0], seen[1]);
    const auto stack = frames(process, seen[0]);
    ASSERT_GE(stack.size(), 3U);
    EXPECT_TRUE(stack[1].starts_with("contexts+0x"));
    EXPECT_TRUE(stack[2].starts_with("libc.so.6+0x"));
}

TEST(contexts_test, a_forked_child_tells_its_own) {
    const recorded_run found = run("contexts", "fork");
    ASSERT_EQ(found.processes.size(), 2U);
    const bool parent_first = found.processes[0].first("open") != nullptr;
    const recorded_process& parent = found.processes[parent_first ? 0 : 1];
    const recorded_process& child = found.processes[parent_first ? 1 : 0];
    ASSERT_EQ(writes(child).size(), 1U);
    ASSERT_EQ(writes(parent).size(), 2U);
    EXPECT_EQ(writes(parent)[0], writes(parent)[1]);
    EXPECT_EQ(writes(child)[0], writes(parent)[0]);
    EXPECT_FALSE(frames(child, writes(child)[0]).empty());
    EXPECT_EQ(frames(child, writes(child)[0]), frames(parent, writes(parent)[0]));
    for (const recorded_process* process : {&parent, &child}) {
        for (const recorded_call& call : process->calls) {
            EXPECT_TRUE(call.context == 0 || process->contexts.contains(call.context)) << call.function;
        }
    }
}

TEST(contexts_test, the_stack_of_a_handler_ends_at_its_signal) {
    const recorded_run found = run("contexts", "signal");
    const recorded_process& process = program_of(found);
    const std::vector<unsigned> seen = writes(process);
    ASSERT_EQ(seen.size(), 2U);
    EXPECT_EQ(seen[0], seen[1]);
    const auto stack = frames(process, seen[0]);
    ASSERT_EQ(stack.size(), 3U);  // put, the handler, what the signal returns by
    EXPECT_TRUE(stack[1].starts_with("contexts+0x"));
    EXPECT_TRUE(stack[2].starts_with("libc.so.6+0x"));
}

TEST(contexts_test, what_a_stream_wrote_has_the_context_of_the_call_that_made_it) {
    const recorded_run found = run("contexts", "stream");
    for (const recorded_process& process : found.processes) {
        size_t transfers = 0;
        for (const recorded_call& call : process.calls) {
            if (call.function != "stdio write") continue;
            ++transfers;
            EXPECT_NE(call.context, 0U);
            const recorded_call* parent = process.parent_of(call);
            ASSERT_NE(parent, nullptr);
            EXPECT_TRUE(parent->context == call.context || parent->kind == "seek") << parent->function;
        }
        EXPECT_GE(transfers, 2U);
    }
}

TEST(contexts_test, modules_at_one_address_are_told_apart_and_known_again) {
    const std::string folder = HALCYON_TEST_PROGRAMS;
    const recorded_run found =
        run("contexts", "modules " + folder + "/context_module_small.so " + folder + "/context_module_large.so");
    const recorded_process& process = program_of(found);
    const std::vector<unsigned> seen = writes(process);
    ASSERT_EQ(seen.size(), 12U);
    EXPECT_EQ(std::set(seen.begin(), seen.end()).size(), 2U);
    for (size_t i = 0; i < seen.size(); ++i) {
        EXPECT_EQ(seen[i], seen[i / 3 % 2 * 3]) << i;
        const auto stack = frames(process, seen[i]);
        ASSERT_GE(stack.size(), 6U);  // put, put_from_module, load_module, load_in_turn, main, __libc_start_call_main
        EXPECT_TRUE(stack[1].starts_with(i / 3 % 2 == 0 ? "context_module_small.so+0x" : "context_module_large.so+0x"));
        EXPECT_TRUE(stack[2].starts_with("contexts+0x"));
    }
}

TEST(contexts_test, each_depth_of_a_recursion_is_another_up_to_the_deepest_stack) {
    const recorded_run found = run("contexts", "depth 200");
    const recorded_process& process = program_of(found);
    const std::vector<unsigned> seen = writes(process);
    ASSERT_EQ(seen.size(), 200U);
    const std::set<unsigned> different(seen.begin(), seen.end());
    EXPECT_GE(different.size(), 60U);
    EXPECT_LE(different.size(), 64U);
    EXPECT_EQ(std::set(seen.begin() + 64, seen.end()).size(), 1U);
    EXPECT_EQ(frames(process, seen.back()).size(), 64U);
}

TEST(contexts_test, of_stacks_beyond_the_most_the_call_site_is_told_and_counted) {
    const recorded_run found = run("contexts", "tree 17");
    const recorded_process& process = program_of(found);
    const std::vector<unsigned> seen = writes(process);
    ASSERT_EQ(seen.size(), size_t{1} << 17);
    const std::set<unsigned> different(seen.begin(), seen.end());
    EXPECT_GE(different.size(), 65000U);  // those of opening and closing have room, too
    EXPECT_LE(different.size(), 65537U);
    EXPECT_EQ(frames(process, seen.back()).size(), 1U);
    EXPECT_FALSE(different.contains(0));
    EXPECT_EQ(std::count_if(process.absences.begin(), process.absences.end(),
                            [](const std::string& absence) { return absence.starts_with("call stacks beyond"); }),
              1);
}

TEST(contexts_test, transfers_below_mpiio_know_the_program_and_the_library) {
    const temporary_folder files;
    const recorded_run found = run_recorded(
        HALCYON_TEST_MPIRUN " -n 2", HALCYON_TEST_PROGRAMS "/mpiio_calls_c " + (files.path() / "a").string(), wanted);
    size_t transfers = 0;
    for (const int rank : {0, 1}) {
        const recorded_process* process = found.with_rank(rank);
        ASSERT_NE(process, nullptr) << found.output;
        for (const recorded_call& call : process->calls) {
            const recorded_call* parent = process->parent_of(call);
            if (call.level != "posix" || call.kind != "write" || parent == nullptr) continue;
            if (!parent->function.starts_with("MPI_File_write")) continue;
            ++transfers;
            const auto stack = frames(*process, call.context);
            EXPECT_TRUE(holds(stack, "mpiio_calls_c+0x")) << parent->function;
            EXPECT_TRUE(stack.front().starts_with("lib") || stack.front().starts_with("mca_")) << stack.front();
            EXPECT_FALSE(holds(stack, "halcyon"));
            EXPECT_EQ(parent->context, 0U);
        }
    }
    EXPECT_GT(transfers, 4U);
}

/// Whether all writes of POSIX that were made by functions whose names begin so know the program and HDF5; how many
/// there were.
size_t expect_hdf5_below(const recorded_run& run, const std::string& functions, const std::string& program) {
    size_t transfers = 0;
    for (const recorded_process& process : run.processes) {
        for (const recorded_call& call : process.calls) {
            const recorded_call* parent = process.parent_of(call);
            if (call.level != "posix" || call.kind != "write" || parent == nullptr) continue;
            if (!parent->function.starts_with(functions)) continue;
            ++transfers;
            const auto stack = frames(process, call.context);
            EXPECT_TRUE(holds(stack, "libhdf5")) << parent->function;
            EXPECT_TRUE(holds(stack, program + "+0x")) << parent->function;
        }
    }
    return transfers;
}

TEST(contexts_test, transfers_below_hdf5_know_the_program_and_the_library) {
    const temporary_folder files;
    const std::string words = HALCYON_TEST_PROGRAMS "/hdf5_calls_serial " + files.file("a.h5");
    EXPECT_GT(expect_hdf5_below(run_recorded("", words, wanted), "H5", "hdf5_calls_serial"), 3U);
}

#ifdef HALCYON_TEST_PARALLEL_HDF5
TEST(contexts_test, transfers_below_hdf5_over_mpiio_know_the_program_and_the_library) {
    const temporary_folder files;
    const std::string words = HALCYON_TEST_PROGRAMS "/hdf5_calls_parallel " + files.file("a.h5");
    const recorded_run found = run_recorded(HALCYON_TEST_MPIRUN " -n 2", words, wanted);
    EXPECT_GT(expect_hdf5_below(found, "MPI_File_", "hdf5_calls_parallel"), 3U);
}
#endif

}  // namespace
}  // namespace halcyon::tests
