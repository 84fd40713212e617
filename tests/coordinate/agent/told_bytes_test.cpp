// How many bytes the agent of a node tells of calls that ask for more than they move.
#include <algorithm>

#include "coordinate/agent/turn_agents.hpp"

namespace halcyon::coordinate {
namespace {

TEST_F(turn_agents, tell_of_later_calls_behind_one_that_asked_for_much_more_than_it_moved) {
    constexpr int64_t asked = 0x7ffff000;
    join();
    begin(7, int64_t{1} << 40U);
    const auto moved = [&](int64_t bytes, double later_s) {
        node.moved = bytes;
        advance(later_s);
        hear(heartbeat{});
    };
    moved(asked, 0.3);  // under way
    EXPECT_EQ(look(), transcript{"progress phase 1 lease 7 moved " + std::to_string(asked)});
    // Calls of that kind follow one another, each at the end of a small file: what they ask for is told once.
    for (int64_t i = 1; i <= 8; ++i) {
        moved(i * 100, 0.15);
        moved(asked + i * 100, 0.15);
    }
    const transcript of_small_files = look();
    for (const std::string& line : of_small_files) EXPECT_EQ(line, "progress phase 1 lease 7 moved 100");
    EXPECT_EQ(of_small_files.size(), 8);
    // Other calls come behind the last one.
    for (int i = 0; i < 20; ++i) {
        node.moved = 1000 + i * 10;
        advance(0.1);
    }
    const transcript of_others = look();
    EXPECT_TRUE(std::ranges::count(of_others, "progress phase 1 lease 7 moved 30") > 1) << "10 at each look";
}

TEST_F(turn_agents, tell_of_no_more_bytes_than_a_message_may) {
    join();
    begin(7, 1000);
    node.moved = INT64_MAX;
    node.unasked = INT64_MAX / 2;
    advance(0.3);
    const std::string most = std::to_string(int64_t{1} << 60U);
    EXPECT_EQ(look(), (transcript{"progress phase 1 moved " + most, "progress phase 1 lease 7 moved " + most}));
}

}  // namespace
}  // namespace halcyon::coordinate
