// What the agent of a node tells of forecasts.
#include "coordinate/agent/turn_agents.hpp"

namespace halcyon::coordinate {
namespace {

TEST_F(turn_agents, ask_again_when_a_forecast_says_something_else) {
    join();
    node.waiting = 1;
    node.begun = 1;
    node.forecasts = now_s - 1;
    node.bytes_left = 1000;
    node.left_s = 2;
    advance();
    look();
    advance(0.02);
    EXPECT_EQ(look(), transcript{});
    node.forecasts = now_s;
    node.bytes_left = 1200;
    advance(0.02);
    EXPECT_EQ(look(), transcript{}) << "it is not off by a quarter";
    node.bytes_left = 4000;
    advance(0.02);
    EXPECT_EQ(look(), transcript{"inform phase 1"});
    advance(0.02);
    EXPECT_EQ(look(), transcript{});
}

TEST_F(turn_agents, take_back_what_is_expected_no_more) {
    join();
    node.next_probability = 0.8;
    node.next_in_s = 5;
    advance();
    EXPECT_EQ(look(), transcript{"expect"});
    node.next_probability = 0;
    advance(0.5);
    EXPECT_EQ(look(), transcript{"expect nothing"});
    advance(0.1);
    EXPECT_EQ(look(), transcript{});
}

TEST_F(turn_agents, tell_when_the_next_phase_is_expected_once) {
    join();
    node.next_probability = 0.8;
    node.next_in_s = 10;
    advance();
    node.next_in_s = 9.9;
    advance(0.1);
    EXPECT_EQ(look(), transcript{"expect"});
    node.next_in_s = 5;
    advance(0.1);
    EXPECT_EQ(look(), transcript{"expect"});
}

}  // namespace
}  // namespace halcyon::coordinate
