// What others find when a program that writes below --log is killed before or behind any system call by which it
// changes files, from the program's start to its end.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "killed_at_step.hpp"
#include "logged_program.hpp"

namespace halcyon::logfs {
namespace {

using tests::way;

/// Those that take long together are a program of their own.
std::vector<way> ways() {
    way on_backends{.name = "on_backends"};
    on_backends.has_backends = true;
#ifndef HALCYON_TEST_FURTHER_WAYS
    return {on_backends};
#else
    way staged{.name = "staged"}, per_node{.name = "per_node"}, summed = on_backends;
    staged.is_staged = per_node.is_per_node = summed.has_checks = true;
    summed.name = "summed_on_backends";
    return {{.name = "in_the_container"}, staged, per_node, summed};
#endif
}

class killed_program : public ::testing::TestWithParam<way> {};
INSTANTIATE_TEST_SUITE_P(, killed_program, ::testing::ValuesIn(ways()),
                         [](const auto& info) { return info.param.name; });

TEST_P(killed_program, loses_nothing_that_a_call_returned_at_any_step) {
    bool was_killed = true;
    long step = 0;
    for (; was_killed; ++step) {
        ASSERT_LT(step, 2000);
        tests::logged_program on(GetParam());
        was_killed = halcyon::tests::killed_at(
            step, [&] { on.become("work"); }, [&] { on.expect_returned(); });
        if (!was_killed) {
            EXPECT_EQ(on.returned(), tests::step_count);
            on.expect_returned();
        }
        on.expect_next_goes_on();
        ASSERT_FALSE(HasFailure()) << "killed at step " << step << ", when " << on.returned() << " had returned";
    }
    EXPECT_GT(step, 100) << "the test shows nothing";
}

}  // namespace
}  // namespace halcyon::logfs
