// What the agent of a node says and shows in its phases: how it asks for turns, uses them and gives them back.
#include "coordinate/agent/turn_agents.hpp"

namespace halcyon::coordinate {
namespace {

TEST_F(turn_agents, ask_when_a_phase_begins_and_release_when_it_pauses) {
    join();
    node.waiting = 1;
    node.begun = 1;
    advance();
    EXPECT_EQ(look(), transcript{"inform phase 1"});
    hear(grant{1, 7, 1000, 100});
    EXPECT_EQ(look(), transcript{"page allowed, 1000 bytes"});
    node.waiting = 0;
    node.under_way = 1;
    advance();
    node.under_way = 0;
    node.moved = 400;
    advance();
    EXPECT_EQ(look(), transcript{"progress phase 1 lease 7 moved 400"});
    advance(0.005);
    EXPECT_EQ(look(), transcript{});
    advance(0.006);
    EXPECT_EQ(look(), (transcript{"page waiting", "progress phase 1 lease 7", "release phase 1"}));
}

TEST_F(turn_agents, go_on_with_a_phase_in_which_a_call_began_before_it_could_see_that_the_page_was_closed) {
    const auto begins = [&] { node.under_way = 1; };
    const auto waits = [&] { node.waiting = 1; };
    const auto comes_and_ends = [&] { node.moved += 10; };
    join();
    begin();
    node.moved = 400;
    for (const std::function<void()>& meanwhile : std::vector<std::function<void()>>{begins, waits, comes_and_ends}) {
        node.under_way = node.waiting = 0;
        advance();
        look();
        at_close = meanwhile;
        advance(0.011);
        EXPECT_EQ(look(), (transcript{"page waiting", "page allowed"})) << "under the same lease";
    }
    node.under_way = node.waiting = 0;
    advance(0.011);
    EXPECT_EQ(look(), (transcript{"page waiting", "progress phase 1 lease 7 moved 10", "release phase 1"}));
    EXPECT_EQ(agent->counted().phases, 1U);
}

TEST_F(turn_agents, look_once_more_when_a_phase_ends_and_no_oftener) {
    join();
    begin();
    node.under_way = 0;
    advance();
    looks = 0;
    advance(0.011);
    EXPECT_EQ(looks, 2);
    EXPECT_GT(last.wake_at_s, now_s) << "and sleep then";
    node.waiting = 1;
    advance();  // it gets no turn
    node.waiting = 0;
    looks = 0;
    advance(0.011);
    EXPECT_EQ(looks, 1) << "the page lets nothing begin";
    EXPECT_EQ(look().back(), "release phase 2");
}

TEST_F(turn_agents, look_once_more_before_they_give_back_a_turn_that_was_called_back_when_the_coordinator_fell_silent) {
    begin_and_call_back(5);
    node.moved = 10;
    node.under_way = 0;
    advance(0.99);
    look();  // the caches are not clean
    looks = 0;
    advance(0.02);
    EXPECT_EQ(look(), (transcript{"page unasked before round 5", "progress phase 1 lease 7", "release phase 1"}));
    EXPECT_EQ(looks, 2) << "rounds below the stop could begin until the page said so";
}

TEST_F(turn_agents, show_the_lease_of_a_standing_turn_when_a_phase_begins) {
    join();
    hear(standing{5, 2000, 90});
    EXPECT_EQ(look(), transcript{"page standing, 2000 bytes"});
    node.under_way = 1;
    node.begun = 1;
    advance();
    EXPECT_EQ(look(), (transcript{"page allowed", "inform phase 1 lease 5"}));
}

TEST_F(turn_agents, ask_again_when_processes_hold_the_lease_without_moving_it) {
    join();
    begin();
    node.moved = 100;
    node.pool = 0;
    node.waiting = 1;
    advance(0.02);
    EXPECT_EQ(look(), (transcript{"progress phase 1 lease 7 moved 100", "inform phase 1 lease 7 moved 100"}));
    advance(0.001);
    EXPECT_EQ(look(), transcript{});
    advance(0.02);
    EXPECT_EQ(look(), transcript{"inform phase 1 lease 7 moved 100"});
}

TEST_F(turn_agents, refuse_a_grant_with_a_lower_fence_than_they_have_seen) {
    join();
    node.waiting = 1;
    advance();
    hear(standing{5, 10, 200});
    look();
    hear(grant{1, 9, 1000, 199});
    EXPECT_EQ(look(), transcript{});
    EXPECT_EQ(agent->counted().refused_fences, 1U);
    hear(grant{1, 9, 1000, 201});
    EXPECT_EQ(look(), transcript{"page allowed, 1000 bytes"});
}

TEST_F(turn_agents, take_no_grant_of_a_phase_that_is_over) {
    join();
    begin();
    node.under_way = 0;
    advance(0.02);
    look();
    hear(grant{1, 9, 1000, 300});
    EXPECT_EQ(look(), transcript{});
    EXPECT_EQ(agent->counted().stale_grants, 1U);
}

TEST_F(turn_agents, are_alone_under_a_lease_while_nobody_else_moves) {
    join();
    EXPECT_TRUE(last.others_move) << "nobody knows";
    begin();
    EXPECT_FALSE(last.others_move);
    hear(company{6, 1});
    EXPECT_FALSE(last.others_move) << "of a lease that is over";
    hear(company{7, 2});
    EXPECT_TRUE(last.others_move);
    hear(grant{1, 7, 1000, 101});
    EXPECT_TRUE(last.others_move) << "more bytes tell nothing of others";
    hear(company{7, 0});
    EXPECT_FALSE(last.others_move);
    hear(company{7, 1});
    hear(grant{1, 8, 1000, 102});
    EXPECT_FALSE(last.others_move) << "another turn";
}

TEST_F(turn_agents, ask_anew_when_their_lease_is_void) {
    join();
    begin();
    node.waiting = 1;
    advance();
    hear(voided{7, "stalled"});
    EXPECT_EQ(look(), (transcript{"page waiting", "inform phase 2"}));
    EXPECT_EQ(agent->counted().voided, 1U);
}

TEST_F(turn_agents, ask_for_no_turn_for_calls_alone_that_were_under_way_when_they_lost_theirs) {
    join();
    begin();
    hear(voided{7, "stalled"});
    advance(0.5);
    EXPECT_EQ(look(), transcript{"page waiting"});
    node.waiting = 1;  // another call
    advance();
    EXPECT_EQ(look(), transcript{"inform phase 3"});
    hear(grant{3, 8, 1000, 102});
    node.waiting = 0;
    node.under_way = 2;
    node.moved = 200;
    advance(0.001);
    look();
    node.under_way = 1;  // the one from before
    advance();
    advance(0.02);
    EXPECT_EQ(look(), (transcript{"page waiting", "progress phase 3 lease 8", "release phase 3"}))
        << "and none is kept for them";
}

TEST_F(turn_agents, ask_for_another_turn_when_a_program_goes_on_in_one_that_it_has_lost) {
    join();
    begin();
    hear(voided{7, "stalled"});
    advance(0.5);
    look();
    node.moved = 100;
    advance(0.01);
    EXPECT_EQ(look(), transcript{"inform phase 3"});
}

TEST_F(turn_agents, give_back_a_quiet_turn_at_once_and_one_that_moves_not) {
    join();
    begin();
    agent->give_back_if_quiet();
    advance();
    EXPECT_EQ(look(), transcript{});
    node.under_way = 0;
    advance(0.001);
    agent->give_back_if_quiet();
    advance();
    EXPECT_EQ(look(), (transcript{"page waiting", "progress phase 1 lease 7", "release phase 1"}));
    EXPECT_EQ(agent->counted().handed_back, 1U);
}

TEST_F(turn_agents, keep_a_turn_that_they_would_give_back_where_a_call_begins_meanwhile) {
    join();
    begin();
    node.under_way = 0;
    advance(0.001);
    agent->give_back_if_quiet();
    node.under_way = 1;  // since they looked
    advance();
    EXPECT_EQ(look(), transcript{});
    node.under_way = 0;
    advance(0.001);
    agent->give_back_if_quiet();
    at_close = [&] { node.under_way = 1; };  // or since they looked again
    advance();
    EXPECT_EQ(look(), (transcript{"page waiting", "page allowed"}));
    node.under_way = 0;
    advance(0.001);
    EXPECT_EQ(look(), transcript{}) << "they are asked each time";
    EXPECT_EQ(agent->counted().handed_back, 0U);
}

TEST_F(turn_agents, wait_for_the_turn_of_a_call_and_not_of_a_phase_that_was_only_announced) {
    join();
    node.waiting = node.announced = 1;
    node.begun = 1;
    advance();
    EXPECT_EQ(look(), transcript{"inform phase 1"});
    EXPECT_FALSE(agent->waits());
    node.waiting = 2;  // a call, too
    advance();
    EXPECT_TRUE(agent->waits());
    node.waiting = 1;
    node.announced = 0;  // the program waits for the turn
    advance();
    EXPECT_TRUE(agent->waits());
    EXPECT_EQ(look(), transcript{}) << "it is one phase";
}

TEST_F(turn_agents, leave_a_closed_page_behind) {
    join();
    hear(standing{5, 2000, 90});
    look();
    agent->withdraw();
    advance();
    EXPECT_EQ(look(), (transcript{"page closed", "withdraw"}));
}

TEST_F(turn_agents, write_the_turn_anew_when_a_process_has_replaced_it) {
    join();
    agent->page_was_replaced();
    advance();
    EXPECT_EQ(look(), transcript{"page waiting"});
}

TEST_F(turn_agents, tell_of_a_phase_again_after_a_heartbeat_when_that_could_not_be_written) {
    join();
    node.waiting = 1;
    node.begun = 1;
    advance();
    EXPECT_EQ(look(), transcript{"inform phase 1"});
    agent->not_sent(inform{}, "inform.bytes_moved: -1");
    agent->received(heartbeat{}, now_s);
    advance(0.1);
    EXPECT_EQ(look(), transcript{});
    advance(0.2);
    EXPECT_EQ(look(), transcript{"inform phase 1"});
    advance(0.1);
    EXPECT_EQ(look(), transcript{});
}

}  // namespace
}  // namespace halcyon::coordinate
