// What the agent of a node tells of the storage targets of its phases.
#include <numeric>

#include "coordinate/agent/turn_agents.hpp"
#include "coordinate/protocol/fields.hpp"

namespace halcyon::coordinate {
namespace {

/// Of what was said, that which is not about progress.
transcript without_progress(transcript said) {
    std::erase_if(said, [](const std::string& line) { return line.starts_with("progress"); });
    return said;
}

TEST_F(turn_agents, tell_the_targets_of_a_phase) {
    join();
    node.targets.some = {3, 5};
    node.waiting = 1;
    node.begun = 1;
    advance();
    EXPECT_EQ(without_progress(look()), transcript{"inform phase 1 targets 3 5"});
    EXPECT_TRUE(last.lists_targets);
    EXPECT_TRUE(last.targets_told);
    advance(0.02);
    EXPECT_EQ(without_progress(look()), transcript{});
}

TEST_F(turn_agents, tell_more_targets_of_a_phase_when_they_are_known) {
    join();
    node.targets.some = {3, 5};
    begin();
    node.targets.some = {4, 5};
    advance();
    EXPECT_EQ(without_progress(look()), transcript{"inform phase 1 lease 7 targets 3 4 5"});
    node.targets.some = {4};
    advance(0.02);
    EXPECT_EQ(without_progress(look()), transcript{}) << "until the phase is over, they only grow";
    node.targets = {.all = true};
    advance();
    EXPECT_EQ(without_progress(look()), transcript{"inform phase 1 lease 7"});
    EXPECT_FALSE(last.lists_targets);
    node.targets = {.some = {4}};
    advance(0.02);
    EXPECT_EQ(without_progress(look()), transcript{});
}

TEST_F(turn_agents, tell_of_no_targets_that_come_after_all_of_them) {
    join();
    begin();  // nobody has told any
    node.targets.some = {4};
    advance(0.02);
    EXPECT_EQ(without_progress(look()), transcript{});
    EXPECT_FALSE(last.lists_targets);
    EXPECT_TRUE(last.targets_told);
}

TEST_F(turn_agents, tell_the_targets_of_the_next_phase_alone) {
    join();
    node.targets.some = {3};
    begin();
    node.under_way = 0;
    node.targets.some = {};
    advance(0.02);
    EXPECT_EQ(without_progress(look()), (transcript{"page waiting", "release phase 1"}));
    EXPECT_FALSE(last.lists_targets);
    node.targets.some = {8};
    node.waiting = 1;
    node.begun = 2;
    advance();
    EXPECT_EQ(without_progress(look()), transcript{"inform phase 2 targets 8"});
}

TEST_F(turn_agents, tell_no_more_targets_than_fit_into_a_message) {
    join();
    node.targets.some.resize(most_targets);
    std::iota(node.targets.some.begin(), node.targets.some.end(), 10);
    begin();
    EXPECT_TRUE(last.lists_targets);
    node.targets.some = {5};
    advance();
    EXPECT_EQ(without_progress(look()), transcript{"inform phase 1 lease 7"});
    EXPECT_FALSE(last.lists_targets);
}

TEST_F(turn_agents, tell_all_targets_of_a_phase_again_when_they_come_back) {
    join();
    node.targets.some = {3, 5};
    begin();
    agent->disconnected(now_s);
    agent->connected(now_s);
    node.targets.some = {5};
    advance();
    hear(registered{1, 0.25, 0.2, 1});
    EXPECT_EQ(without_progress(look()), (transcript{"register processes 2", "inform phase 1 lease 7 targets 3 5"}));
}

TEST_F(turn_agents, tell_of_more_targets_in_a_stop_behind_it) {
    join();
    node.targets.some = {3};
    begin();
    hear(recall{7});
    hear(stop{7, 1});
    node.targets.some = {3, 4};
    advance();
    look();
    EXPECT_FALSE(last.targets_told);
    node.under_way = 0;
    node.waiting = 1;
    advance();
    advance();
    EXPECT_TRUE(last.targets_told);
    const transcript told = without_progress(look());
    EXPECT_EQ(told.back(), "inform phase 1 targets 3 4") << testing::PrintToString(told);
}

/// Others may move there at present.
TEST_F(turn_agents, begin_another_phase_where_other_targets_are_asked_for_when_all_have_given_their_turn_back) {
    join();
    node.targets.some = {3};
    begin();
    node.targets.some = {4};
    node.under_way = 0;
    node.waiting = 1;
    node.begun = 2;
    advance();
    EXPECT_EQ(without_progress(look()), (transcript{"page waiting", "release phase 1", "inform phase 2 targets 4"}));
    EXPECT_EQ(agent->counted().handed_back, 0U);
    hear(grant{2, 8, 1000, 101});
    EXPECT_EQ(without_progress(look()), transcript{"page allowed, 1000 bytes"});
    node.targets = {.all = true};
    node.begun = 3;
    advance();
    EXPECT_EQ(without_progress(look()), (transcript{"page waiting", "release phase 2", "inform phase 3"}));
}

TEST_F(turn_agents, stay_in_their_phase_where_those_that_ask_for_other_targets_are_not_the_only_ones) {
    join();
    node.targets.some = {3};
    ask_and_get();
    look();
    node.targets = {.told = true, .some = {3, 4}};  // another process announces its phase
    node.waiting = 2;
    advance();
    EXPECT_EQ(without_progress(look()), transcript{"inform phase 1 lease 7 targets 3 4"});
    node.targets = {.told = false, .some = {5}};
    node.under_way = 1;  // the one before is at work still
    advance();
    EXPECT_EQ(without_progress(look()), transcript{"inform phase 1 lease 7 targets 3 4 5"});
    node.targets = {.told = false, .some = {3, 5}};
    node.under_way = 0;
    advance();
    EXPECT_EQ(without_progress(look()), transcript{}) << "all of these were told";
}

TEST_F(turn_agents, begin_no_other_phase_when_a_call_has_begun_under_the_lease_meanwhile) {
    join();
    node.targets.some = {3};
    begin();
    node.targets.some = {4};
    node.under_way = 0;
    node.waiting = 1;
    at_close = [&] { node.under_way = 1; };
    advance();
    EXPECT_EQ(without_progress(look()),
              (transcript{"page waiting", "page allowed", "inform phase 1 lease 7 targets 3 4"}));
}

}  // namespace
}  // namespace halcyon::coordinate
