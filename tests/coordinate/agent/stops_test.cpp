// How an agent stops its processes and says so.
#include <algorithm>

#include "coordinate/agent/turn_agents.hpp"
#include "coordinate/page/rounds.hpp"

namespace halcyon::coordinate {
namespace {

TEST_F(turn_agents, answer_a_recall_with_the_highest_round_that_was_begun_before_the_hold) {
    join();
    begin();
    node.round = rounds::of(3, 4);
    at_hold = [&] { node.round = rounds::of(3, 5); };  // it began before it saw the hold
    hear(recall{7});
    const std::string round = std::to_string(rounds::of(3, 5)), next = std::to_string(rounds::of(3, 6));
    EXPECT_EQ(look(), (transcript{"page hold", "page stop before round " + next, "stopping lease 7 round " + round}));
    hear(recall{7});
    EXPECT_EQ(look(), transcript{"stopping lease 7 round " + round});
}

TEST_F(turn_agents, say_that_they_stopped_when_nothing_is_under_way_and_the_caches_are_clean) {
    join();
    begin();
    hear(recall{7});
    look();
    hear(stop{7, 1});
    node.moved = 500;
    advance(0.01);
    EXPECT_EQ(look(), transcript{});  // a call is under way
    node.under_way = 0;
    advance(0.001);
    EXPECT_EQ(look(), transcript{"clean caches"});
    advance(0.5);
    EXPECT_EQ(look(), transcript{"progress phase 1 lease 7 moved 500"});
    agent->caches_clean();
    advance();
    EXPECT_EQ(look(), (transcript{"page waiting", "progress phase 1 lease 7", "stopped lease 7"}));
    advance();
    EXPECT_EQ(look(), transcript{"release phase 1"});
}

TEST_F(turn_agents, do_not_say_that_they_stopped_when_a_program_has_joined_while_the_caches_were_cleaned) {
    begin_and_call_back();
    node.moved = 500;
    node.under_way = 0;
    advance(0.01);
    look();
    node.under_way = 1;
    agent->caches_clean();
    advance();
    EXPECT_EQ(look(), transcript{});
    node.moved = 600;
    node.under_way = 0;
    advance();
    EXPECT_EQ(look(), transcript{"clean caches"});
    agent->caches_clean();
    advance();
    EXPECT_EQ(look().back(), "stopped lease 7");
}

TEST_F(turn_agents, stay_in_the_phase_that_was_stopped_until_it_is_their_turn_again) {
    begin_and_call_back();
    node.under_way = 0;
    node.waiting = 1;
    node.moved = 10;
    advance();
    agent->caches_clean();
    advance();
    look();
    advance(0.1);
    EXPECT_EQ(look(), transcript{});
    EXPECT_TRUE(agent->waits());
    hear(grant{1, 8, 1000, 102});
    EXPECT_EQ(look(), transcript{"page allowed, 1000 bytes"});
}

TEST_F(turn_agents, clean_no_caches_that_nothing_was_written_into) {
    join();
    hear(standing{5, 2000, 90});
    look();
    hear(recall{5});
    hear(stop{5, 1});
    EXPECT_EQ(look(), (transcript{"page hold", "page stop before round 1", "stopping lease 5", "page waiting",
                                  "stopped lease 5"}));
}

TEST_F(turn_agents, begin_their_next_phase_when_they_hear_that_the_turn_which_was_called_back_was_over) {
    join();
    begin();
    node.under_way = 0;
    advance(0.02);
    look();  // the phase is over
    hear(recall{7});
    EXPECT_EQ(look().back(), "stopping lease 7");
    node.waiting = 1;
    advance();
    EXPECT_EQ(look(), transcript{});
    hear(voided{7, "this turn is over"});
    EXPECT_EQ(look(), (transcript{"page waiting", "inform phase 2"}));
    EXPECT_EQ(agent->counted().voided, 0U) << "nothing is lost";
}

TEST_F(turn_agents, go_on_with_the_turn_that_they_have_when_they_hear_that_the_one_before_is_over) {
    stop_for_a_call_that_waits();
    hear(grant{1, 8, 1000, 102});
    look();
    hear(voided{7, "this turn is over"});
    EXPECT_EQ(look(), transcript{});
}

TEST_F(turn_agents, ask_anew_when_the_lease_under_which_they_have_stopped_is_void) {
    stop_for_a_call_that_waits();
    EXPECT_EQ(look().back(), "stopped lease 7");
    hear(voided{7, "another node did not stop in time"});
    EXPECT_EQ(look(), transcript{"inform phase 2"});
    hear(voided{7, "once more"});
    EXPECT_EQ(look(), transcript{});
}

TEST_F(turn_agents, wait_for_an_aggregator_that_may_begin_a_round_below_the_stop_but_not_for_ever) {
    join();
    begin();
    node.round = rounds::of(1, 1);
    hear(recall{7});
    hear(stop{7, rounds::of(1, 5)});
    look();
    node.moved = 1;
    node.under_way = 0;
    node.behind = 1;
    node.waiting = 1;  // another one has come to the stop
    for (int i = 0; i < 10; ++i) advance(0.01);
    EXPECT_EQ(look(), transcript{});
    for (int i = 0; i < 15; ++i) advance(0.01);
    EXPECT_EQ(agent->counted().stops_behind, 1U);
    EXPECT_EQ(look(), transcript{"clean caches"});
}

TEST_F(turn_agents, wait_for_an_aggregator_though_other_nodes_took_long_to_tell_their_round) {
    join();
    begin();
    node.round = rounds::of(1, 1);
    node.under_way = 0;
    node.moved = 1;
    advance();
    hear(recall{7});
    node.behind = node.waiting = 1;  // held back before a round that another node has begun
    for (int i = 0; i < 50; ++i) {
        agent->received(heartbeat{}, now_s);
        advance(0.01);
    }
    look();
    hear(stop{7, rounds::of(1, 3)});
    EXPECT_EQ(look(), (transcript{"page stop before round 4294967299"}));
    EXPECT_EQ(agent->counted().stops_behind, 0U);
}

TEST_F(turn_agents, tell_of_a_long_call_though_the_coordinator_was_silent_for_a_moment_in_the_stop) {
    begin_and_call_back();
    advance(lease_silence_s + 0.1);
    hear(heartbeat{});
    look();
    advance(0.25);
    EXPECT_EQ(look(), transcript{"progress phase 1 lease 7"});
    const auto* const told = std::get_if<progress>(&last.messages.front());
    ASSERT_NE(told, nullptr);
    EXPECT_EQ(told->under_way, 1);
}

TEST_F(turn_agents, tell_of_a_long_call_in_a_stop_though_nothing_of_the_lease_is_left_for_another_one) {
    begin_and_call_back();
    node.pool = 0;
    node.waiting = 1;
    advance(0.02);
    look();
    advance(0.26);
    EXPECT_EQ(look(), transcript{"progress phase 1 lease 7"});
}

TEST_F(turn_agents, tell_of_a_long_call_that_began_under_a_standing_turn_as_that_was_called_back) {
    join();
    hear(standing{5, 2000, 90});
    look();
    at_hold = [&] {  // it began before it saw the hold
        node.under_way = 1;
        node.begun = 1;
        node.moved = 400;
    };
    hear(recall{5});
    EXPECT_EQ(look(), (transcript{"page hold", "page stop before round 1", "stopping lease 5"}));
    advance(0.001);
    EXPECT_EQ(look(), transcript{"inform phase 1 lease 5 moved 400"});
    hear(stop{5, 1});
    hear(stop{5, 1});  // since it was told in the stop
    EXPECT_EQ(look(), transcript{});
    advance(0.25);
    EXPECT_EQ(look(), transcript{"progress phase 1 lease 5 moved 400"});
    const auto* const told = std::get_if<progress>(&last.messages.front());
    ASSERT_NE(told, nullptr);
    EXPECT_EQ(told->under_way, 1);
}

TEST_F(turn_agents, tell_of_a_long_call_though_they_heard_nothing_for_a_moment_before_they_were_called_back) {
    join();
    begin();
    now_s += lease_silence_s + 0.1;
    hear(recall{7});
    EXPECT_EQ(look().back(), "stopping lease 7");
    advance(0.001);
    EXPECT_EQ(look(), (transcript{"inform phase 1 lease 7", "progress phase 1 lease 7"}));
}

TEST_F(turn_agents, say_that_they_stopped_once_though_they_are_told_to_stop_twice) {
    stop_for_a_call_that_waits();
    EXPECT_EQ(look().back(), "stopped lease 7");
    hear(stop{7, 1});
    EXPECT_EQ(look(), transcript{});
}

TEST_F(turn_agents, clean_caches_once_more_when_the_last_time_did_not_come_to_its_end) {
    join();
    begin();
    node.moved = 500;
    node.under_way = 0;
    hear(recall{7});
    hear(stop{7, 1});
    advance(0.001);
    look();
    hear(voided{7, "did not stop in time"});
    node.waiting = 1;
    advance();
    hear(grant{2, 8, 1000, 101});
    node.waiting = 0;
    hear(recall{8});
    hear(stop{8, 1});
    advance(0.001);
    const transcript told = look();
    EXPECT_EQ(std::count(told.begin(), told.end(), "clean caches"), 1);
    EXPECT_EQ(std::count(told.begin(), told.end(), "stopped lease 8"), 0);
}

}  // namespace
}  // namespace halcyon::coordinate
