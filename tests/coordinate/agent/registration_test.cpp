// How an agent comes to a coordinator, is refused, and comes back.
#include "coordinate/agent/turn_agents.hpp"

namespace halcyon::coordinate {
namespace {

TEST_F(turn_agents, hold_everybody_back_until_they_know_more) {
    advance();
    EXPECT_EQ(look(), transcript{"page waiting"});
    agent->connected(now_s);
    advance();
    EXPECT_EQ(look(), transcript{"register processes 2"});
}

TEST_F(turn_agents, let_calls_wait_for_as_long_as_the_coordinator_and_a_stop_take_and_longer) {
    agent->connected(now_s);
    advance();
    EXPECT_FALSE(last.longest_wait_s);
    hear(registered{1, 0.25, 0.2, 1});  // of a coordinator that does not say it
    EXPECT_FALSE(last.longest_wait_s);
    hear(registered{1, 0.25, 0.2, 1, 60, 5});
    EXPECT_EQ(last.longest_wait_s, 60 + 5 + turn_agent::late_turn_s);
    advance();
    EXPECT_FALSE(last.longest_wait_s);
}

TEST_F(turn_agents, register_once_more_when_there_are_more_processes) {
    join();
    node.processes = 3;
    advance();
    advance();
    EXPECT_EQ(look(), transcript{"register processes 3"});
    hear(standing{5, 2000, 90});
    hear(registered{1, 0.25, 0.2, 1});
    EXPECT_EQ(look(), transcript{"page standing, 2000 bytes"});
}

/// A shell has ended, or become the program that it was to start.
TEST_F(turn_agents, tell_of_fewer_processes_with_the_next_phase) {
    join();
    node.processes = 1;
    advance();
    EXPECT_EQ(look(), transcript{}) << "programs that end one by one do not concern anybody";
    node.waiting = 1;
    advance();
    const transcript said = look();
    ASSERT_GE(said.size(), 2U);
    EXPECT_EQ(said[0], "register processes 1");
    EXPECT_TRUE(said[1].starts_with("inform")) << said[1];
}

TEST_F(turn_agents, tell_of_no_fewer_processes_than_the_whole_job_has) {
    job.processes = 2;
    agent.emplace(turn_agent::settings{.job = job}, now_s);
    join();
    node.processes = node.waiting = 1;
    advance();
    const transcript said = look();
    ASSERT_FALSE(said.empty());
    EXPECT_TRUE(said[0].starts_with("inform")) << said[0];
}

/// Its clock was set back, or it is one that was replaced: it would be heard for ever, and its grants refused.
TEST_F(turn_agents, leave_a_coordinator_of_an_epoch_before_one_that_they_have_seen) {
    join();
    begin();
    hear(grant{1, 7, 1000, (uint64_t{5} << 32U) + 1});
    agent->disconnected(now_s);
    agent->connected(now_s);
    for (int second = 0; second < 3; ++second) {
        agent->received(registered{1, 0.25, 0.2, 4}, now_s);
        advance();
        EXPECT_TRUE(last.close);
        advance(0.5);
    }
    EXPECT_FALSE(agent->is_registered());
    EXPECT_EQ(agent->counted().refused_fences, 3U);
    EXPECT_EQ(agent->counted().silences, 1U);
    look();
    hear(registered{1, 0.25, 0.2, 5});
    EXPECT_TRUE(agent->is_registered());
}

/// Its epoch came twice. It registers them again and again, which must not keep the job waiting.
TEST_F(turn_agents, leave_a_coordinator_whose_numbers_fall_and_all_of_its_epoch) {
    const auto number = [](uint64_t epoch, uint64_t count) { return (epoch << 32U) + count; };
    join();
    begin();
    hear(grant{1, 7, 1000, number(1, 9)});
    agent->disconnected(now_s);
    agent->connected(now_s);
    hear(registered{1, 0.25, 0.2, 1});
    EXPECT_TRUE(agent->is_registered());
    EXPECT_FALSE(agent->received(grant{1, 8, 1000, number(1, 3)}, now_s));
    EXPECT_FALSE(agent->received(grant{1, 9, 1000, number(1, 10)}, now_s));  // of what it had sent before it was left
    advance();
    EXPECT_TRUE(last.close);
    EXPECT_EQ(agent->counted().grants, 1U);
    for (int i = 0; i < 4; ++i) {
        agent->disconnected(now_s);
        agent->connected(now_s);
        hear(registered{1, 0.25, 0.2, 1});
        EXPECT_TRUE(last.close);
        advance(0.3);
    }
    EXPECT_EQ(look().back(), "page unasked");
    agent->disconnected(now_s);
    agent->connected(now_s);
    hear(registered{1, 0.25, 0.2, 2});
    hear(grant{1, 8, 1000, number(2, 1)});
    EXPECT_EQ(look().back(), "page allowed, 1000 bytes");
}

TEST_F(turn_agents, leave_a_coordinator_whose_standing_turn_has_a_lower_number) {
    join();
    hear(standing{5, 2000, 90});
    look();
    hear(standing{6, 2000, 80});
    EXPECT_TRUE(last.close);
    EXPECT_FALSE(agent->is_registered());
}

TEST_F(turn_agents, do_not_take_the_words_of_one_that_has_not_registered_them_for_an_answer) {
    node.waiting = 1;
    agent->connected(now_s);
    advance();
    look();
    for (int i = 0; i < 4; ++i) {
        now_s += 0.3;
        EXPECT_FALSE(agent->received(heartbeat{}, now_s));
        EXPECT_FALSE(agent->received(error_report{"no such message"}, now_s));
        advance();
    }
    EXPECT_EQ(look(), transcript{"page unasked"});
    EXPECT_TRUE(agent->received(registered{1, 0.25, 0.2, 1}, now_s));
    advance();
    EXPECT_EQ(look().front(), "page waiting");
}

TEST_F(turn_agents, do_not_take_a_refusal_for_an_answer) {
    node.waiting = 1;
    for (int i = 0; i < 4; ++i) {
        agent->connected(now_s);
        advance();
        hear(refused{"no"});
        EXPECT_TRUE(last.close);
        agent->disconnected(now_s);
        advance(0.3);
    }
    EXPECT_EQ(look().back(), "page unasked");
}

TEST_F(turn_agents, keep_why_they_were_refused_and_forget_it_once_they_are_registered) {
    agent->connected(now_s);
    advance();
    hear(refused{"too many connections"});
    agent->disconnected(now_s);
    EXPECT_EQ(agent->no_turn_reason(), "too many connections");
    EXPECT_EQ(agent->counted().refusals, 1U);
    EXPECT_EQ(agent->counted().lost_connections, 0U);  // it is counted once
    join();
    EXPECT_EQ(agent->no_turn_reason(), "");
    EXPECT_EQ(agent->last_reason(), "too many connections");
}

TEST_F(turn_agents, keep_why_they_could_not_connect_until_they_are_connected) {
    agent->not_connected("login1:7410: nobody listens there");
    EXPECT_EQ(agent->no_turn_reason(), "") << "no coordinator refuses turns";
    EXPECT_EQ(agent->connect_failure(), "login1:7410: nobody listens there");
    join();
    EXPECT_EQ(agent->no_turn_reason(), "");
    EXPECT_EQ(agent->connect_failure(), "");
    EXPECT_EQ(agent->last_reason(), "") << "no coordinator said so";
}

TEST_F(turn_agents, do_not_count_daemons_that_stand_by_as_faults) {
    agent->connected(now_s);
    advance();
    hear(refused{"this daemon stands by: no daemon leads at present", 0});
    EXPECT_TRUE(last.close);
    agent->disconnected(now_s);
    EXPECT_EQ(agent->counted(), agent_counts{});
    EXPECT_EQ(agent->last_reason(), "");
    EXPECT_EQ(agent->no_turn_reason(), "this daemon stands by: no daemon leads at present");
}

TEST_F(turn_agents, count_what_the_coordinator_did_not_understand_and_what_could_not_be_written) {
    agent->connected(now_s);
    advance();
    agent->not_sent(registration{}, "register.account: 300 bytes");
    EXPECT_EQ(agent->no_turn_reason(), "register.account: 300 bytes");
    join();
    hear(error_report{"inform.phase: 0"});
    EXPECT_EQ(agent->counted().unsent, 1U);
    EXPECT_EQ(agent->counted().errors, 1U);
    EXPECT_EQ(agent->last_reason(), "inform.phase: 0");
    EXPECT_EQ(agent->no_turn_reason(), "");  // it has its turns all the same
}

TEST_F(turn_agents, show_the_lease_of_their_phase_when_they_come_back) {
    join();
    begin();
    agent->disconnected(now_s);
    advance(0.2);
    EXPECT_EQ(look(), transcript{});  // the lease holds
    agent->connected(now_s);
    advance();
    hear(registered{1, 0.25, 0.2, 2});
    EXPECT_EQ(look(), (transcript{"register processes 2", "inform phase 1 lease 7"}));
}

TEST_F(turn_agents, tell_their_phase_again_when_they_come_back_into_a_stop) {
    join();
    begin();
    agent->disconnected(now_s);
    advance(0.2);
    agent->connected(now_s);
    advance();
    look();
    agent->received(registered{1, 0.25, 0.2, 2}, now_s);
    agent->received(recall{7}, now_s);
    advance();
    EXPECT_EQ(look(),
              (transcript{"page hold", "inform phase 1 lease 7", "page stop before round 1", "stopping lease 7"}));
    node.moved = 10;
    advance(0.25);
    EXPECT_EQ(look(), transcript{"progress phase 1 lease 7 moved 10"});
    hear(stop{7, 1});
    node.under_way = 0;
    advance(0.02);
    agent->caches_clean();
    advance();
    advance();
    EXPECT_EQ(look().back(), "release phase 1") << "which the coordinator was told of";
}

TEST_F(turn_agents, forget_a_standing_turn_when_they_come_back) {
    join();
    hear(standing{5, 2000, 90});
    look();
    agent->disconnected(now_s);
    agent->connected(now_s);
    advance();
    hear(registered{1, 0.25, 0.2, 2});
    EXPECT_EQ(look(), (transcript{"register processes 2", "page waiting"}));
}

TEST_F(turn_agents, do_not_register_once_they_have_withdrawn_unless_they_stay) {
    join();
    agent->withdraw();
    advance();
    EXPECT_EQ(look(), (transcript{"page closed", "withdraw"}));
    node.processes = 3;
    advance();
    EXPECT_EQ(look(), transcript{});
    agent->disconnected(now_s);
    agent->stay();
    agent->connected(now_s);
    advance();
    EXPECT_EQ(look(), (transcript{"page waiting", "register processes 3"}));
}

TEST_F(turn_agents, say_something_at_each_heartbeat) {
    join();
    heartbeats = true;
    for (int i = 0; i < 6; ++i) advance(0.125);
    EXPECT_EQ(look(), transcript(3, "heartbeat"));
}

TEST_F(turn_agents, believe_no_coordinator_that_calls_must_wait_for_longer_than_ten_minutes) {
    agent->connected(now_s);
    advance();
    registered endless{1, 0.25, 0.2, 1};
    endless.starvation_s = endless.stop_s = 1e9;
    hear(endless);
    EXPECT_EQ(last.longest_wait_s, 600);
}

}  // namespace
}  // namespace halcyon::coordinate
