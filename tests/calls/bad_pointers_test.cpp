// A recorded program that gives a function a bad pointer gets what it would get without the recorder.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <sstream>
#include <string>
#include <vector>

#include "calls/recorded_run.hpp"
#include "program_output.hpp"

namespace halcyon::tests {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream all(text);
    for (std::string line; std::getline(all, line);) lines.push_back(line);
    return lines;
}

TEST(bad_pointers, have_the_errors_that_they_have_without_the_recorder) {
    const temporary_folder plain;
    const temporary_folder recorded;
    const std::string program = HALCYON_TEST_PROGRAMS "/bad_pointers ";
    const std::vector<std::string> expected = lines_of(output_of(program + plain.path().string()));
    const recorded_run run = run_recorded("", program + recorded.path().string());
    EXPECT_EQ(run.status, 0);
    EXPECT_FALSE(run.processes.empty());
    const std::vector<std::string> seen = lines_of(run.output);
    EXPECT_GT(expected.size(), 1000U);
    ASSERT_EQ(seen.size(), expected.size());
    for (size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(seen[i], expected[i]);
}

}  // namespace
}  // namespace halcyon::tests
