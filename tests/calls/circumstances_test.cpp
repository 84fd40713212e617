// What a layer that delays calls learns before it passes one on, against what the call then did.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "calls/recorded_run.hpp"

namespace halcyon::tests {
namespace {

recorded_process only_process_of(const std::string& words) {
    const recorded_run run = run_recorded("", HALCYON_TEST_PROGRAMS "/circumstances " + words);
    EXPECT_EQ(run.status, 0) << run.output;
    EXPECT_EQ(run.processes.size(), 1U);
    return run.processes.empty() ? recorded_process{} : run.processes.front();
}

/// Of all calls of a function, in their order.
std::vector<bool> may_block(const recorded_process& process, const std::string& function) {
    std::vector<bool> found;
    for (const recorded_call& call : process.calls) {
        if (call.function == function) found.push_back(call.may_block);
    }
    return found;
}

TEST(circumstances, tell_calls_that_wait_from_those_that_only_try_or_start) {
    const temporary_folder folder;
    const recorded_process process = only_process_of("waits " + folder.path().string());
    const std::vector<std::pair<std::string, std::vector<bool>>> expected = {
        {"open", {true}},
        {"pwrite", {true}},
        {"preadv2", {true, false}},
        {"flock", {true, false}},
        {"lockf", {true, false, false}},
        {"fcntl(F_SETLK)", {true, false}},
        {"aio_write", {false}},
        {"lio_listio", {true, false}},
        {"aio_return(write)", {false, false, false}},
        {"fsync", {true}},
        {"close", {true}},
    };
    for (const auto& [function, waits] : expected) EXPECT_EQ(may_block(process, function), waits) << function;
}

TEST(circumstances, tell_which_calls_of_posix_move_data) {
    const temporary_folder folder;
    const recorded_process process = only_process_of("waits " + folder.path().string());
    for (const char* function : {"pwrite", "preadv2", "aio_write", "lio_listio", "fsync"})
        EXPECT_EQ(process.first(function)->transfers, "yes") << function;
    for (const char* function : {"open", "flock", "lockf", "aio_return(write)", "close"})
        EXPECT_EQ(process.first(function)->transfers, "no") << function;
}

class circumstances_of_streams : public testing::TestWithParam<int> {};

TEST_P(circumstances_of_streams, tell_whether_a_call_will_move_data) {
    size_t known = 0;
    size_t told = 0;
    for (int seed = 1; seed <= 5; ++seed) {
        const temporary_folder folder;
        const std::string words = "streams " + folder.path().string() + " " + std::to_string(seed);
        const recorded_process process = only_process_of(words + " " + std::to_string(GetParam()));
        for (const recorded_call& call : process.calls) {
            if (call.level != "stdio" || call.function == "fopen" || call.function == "setvbuf") continue;
            const auto moved = process.children_of(call);
            ++told;
            if (call.transfers == "not known") continue;
            ++known;
            // At the end of the file, a read moves nothing.
            const bool at_end = call.kind == "read" && call.transfers == "yes" && moved.empty();
            EXPECT_TRUE(at_end || (call.transfers == "yes") == !moved.empty())
                << "seed " << seed << ": " << call.function << " of " << call.bytes << " bytes, number " << call.number
                << ": " << call.transfers << ", and made " << moved.size();
            for (const recorded_call* one : moved) {
                EXPECT_FALSE(one->may_block);  // it is over when it is told
                EXPECT_EQ(one->parent_function, call.function);
            }
        }
    }
    EXPECT_GT(told, 3000U);
    EXPECT_GT(known, told / 4);
}

INSTANTIATE_TEST_SUITE_P(buffers_of, circumstances_of_streams, testing::Values(-1, 0, 128, 1000, 4096, 65536),
                         [](const auto& one) {
                             return one.param < 0 ? "the_library" : std::to_string(one.param) + "_bytes";
                         });

}  // namespace
}  // namespace halcyon::tests
