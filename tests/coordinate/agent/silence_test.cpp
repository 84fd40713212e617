// What an agent does when nothing is heard of its coordinator.
#include "coordinate/agent/turn_agents.hpp"

namespace halcyon::coordinate {
namespace {

TEST_F(turn_agents, let_io_go_on_after_a_second_of_silence_and_not_again_until_they_hear_something) {
    join();
    node.waiting = 1;
    advance();
    look();
    advance(0.9);
    EXPECT_EQ(look(), transcript{});
    advance(0.2);
    EXPECT_EQ(look(), transcript{"page unasked"});
    node.waiting = 0;
    node.under_way = 1;
    node.unasked = 50;
    advance(0.3);
    EXPECT_EQ(look(), transcript{"progress phase 1 moved 50"});
    hear(heartbeat{});
    EXPECT_EQ(look(), transcript{"page waiting"});
    EXPECT_EQ(agent->counted().silences, 1U);
}

TEST_F(turn_agents, tell_once_what_moved_unasked_though_the_account_is_behind_for_a_moment) {
    join();
    node.begun = 1;
    node.waiting = 1;
    int64_t told = 0;
    for (const int64_t unasked : {100, 100, 40, 100, 130}) {
        node.unasked = unasked;
        agent->received(heartbeat{}, now_s);
        advance(0.3);
        for (const to_coordinator& message : last.messages)
            if (const auto* const one = std::get_if<progress>(&message); one != nullptr && one->lease == 0)
                told += one->bytes_moved;
    }
    EXPECT_EQ(told, 130);
}

TEST_F(turn_agents, show_a_lease_behind_a_second_of_silence_and_use_it_only_with_the_next_grant) {
    join();
    begin();
    agent->disconnected(now_s);
    advance(1.1);
    EXPECT_EQ(look(), transcript{"page unasked"});
    agent->connected(now_s);
    advance();
    hear(registered{1, 0.25, 0.2, 2});
    EXPECT_EQ(look(), (transcript{"register processes 2", "page waiting", "inform phase 1 lease 7",
                                  "progress phase 1 lease 7"}));
    hear(grant{1, 7, 1000, 200});
    EXPECT_EQ(look(), transcript{"page allowed, 1000 bytes"});
}

/// It was given while this agent was not run, and may be another application's by now.
TEST_F(turn_agents, show_a_lease_that_came_late_and_use_it_only_with_the_next_grant) {
    join();
    node.waiting = 1;
    advance();
    look();
    agent->received(grant{1, 7, 1000, 100}, now_s);
    agent->came_late();
    advance();
    EXPECT_EQ(look(), (transcript{"page waiting, 1000 bytes", "inform phase 1 lease 7"}));
    hear(grant{1, 7, 1000, 200});
    EXPECT_EQ(look(), transcript{"page allowed, 1000 bytes"});
    agent->received(grant{1, 7, 500, 201}, now_s);
    agent->came_late();
    advance();
    EXPECT_EQ(look().front(), "page waiting, 500 bytes");
}

TEST_F(turn_agents, do_not_use_a_lease_for_longer_than_half_a_second_of_silence_however_patient_they_are) {
    agent.emplace(turn_agent::settings{.job = job, .patience_s = 20}, now_s);
    join();
    begin();
    advance(0.45);
    EXPECT_EQ(look(), transcript{"progress phase 1 lease 7"});
    advance(0.1);
    EXPECT_EQ(look().back(), "page waiting");
}

}  // namespace
}  // namespace halcyon::coordinate
