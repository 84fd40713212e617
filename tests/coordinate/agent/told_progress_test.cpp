// What the agent of a node tells of the bytes that move in its phases, and of their speed.
#include <algorithm>

#include "coordinate/agent/turn_agents.hpp"

namespace halcyon::coordinate {
namespace {

TEST_F(turn_agents, take_nothing_for_moved_that_a_call_counts_before_it_sees_that_it_has_to_wait) {
    join();
    node.begun = 1;
    node.under_way = 1;
    node.moved = 400;
    advance();
    EXPECT_EQ(look(), transcript{"inform phase 1"}) << "and not of 400 bytes";
    node.under_way = 0;
    node.waiting = 1;
    node.moved = 0;
    advance();
    hear(grant{1, 7, 1000, 100});
    node.waiting = 0;
    node.under_way = 1;
    node.moved = 400;
    advance();
    look();
    node.forecasts = now_s + 0.01;
    node.bytes_left = 5000;
    advance(0.02);
    EXPECT_EQ(look(), transcript{"inform phase 1 lease 7 moved 400"}) << "by a forecast";
}

TEST_F(turn_agents, tell_no_speed_relative_to_one_alone_that_they_have_never_had) {
    join();
    begin(7, int64_t{1} << 30U);
    node.under_way = 0;
    double told = 0;
    const auto move = [&] {
        for (int i = 0; i < 10; ++i) {
            node.moved += 10'000'000;
            advance(0.3);
            for (const to_coordinator& message : last.messages)
                if (const auto* const one = std::get_if<progress>(&message)) told = std::max(told, one->speed);
        }
    };
    hear(company{7, 1});
    move();
    EXPECT_EQ(told, 0);
    hear(company{7, 0});
    move();
    EXPECT_GT(told, 0);
}

TEST_F(turn_agents, know_the_speed_of_a_short_turn_by_all_of_it) {
    join();
    begin(7, int64_t{1} << 30U);
    node.under_way = 4;  // calls of 1 MB that take a quarter of a second
    node.moved = 8'000'000;
    advance(0.25);
    node.moved = 12'000'000;
    advance(0.25);
    hear(recall{7});
    hear(stop{7, 1});
    advance(0.25);
    node.under_way = 0;
    node.waiting = 4;
    advance();
    agent->caches_clean();
    advance();
    node.forecasts = now_s + 0.01;
    node.bytes_left = 160'000'000;
    advance(0.02);
    double left_s = 0;
    for (const to_coordinator& message : last.messages)
        if (const auto* const one = std::get_if<inform>(&message)) left_s = one->left_s;
    EXPECT_NEAR(left_s, 10, 0.01) << "12 MB took 0.75 s";
}

TEST_F(turn_agents, tell_the_first_bytes_of_each_turn_at_once) {
    join();
    ask_and_get();
    look();
    EXPECT_LE(last.wake_at_s, now_s + 0.005) << "to see them soon";
    advance(0.03);  // the writer takes its time to wake up
    EXPECT_EQ(look(), transcript{});
    node.waiting = 0;
    node.under_way = 1;
    node.moved = 10;
    advance(0.004);
    EXPECT_EQ(look(), transcript{"progress phase 1 lease 7 moved 10"});
    EXPECT_NEAR(std::get<progress>(last.messages.front()).over_s, 0.004, 1e-6) << "and not of the time before";
    EXPECT_GT(last.wake_at_s, now_s + 0.005);
    node.moved = 20;
    advance(0.004);
    EXPECT_EQ(look(), transcript{}) << "from then on with heartbeats";
    hear(recall{7});
    hear(stop{7, 1});
    node.under_way = 0;
    node.waiting = 1;
    advance();
    agent->caches_clean();
    advance();
    EXPECT_EQ(look().back(), "stopped lease 7");
    hear(grant{1, 8, 1000, 101});
    look();
    node.waiting = 0;
    node.under_way = 1;
    node.moved = 30;
    advance(0.004);
    EXPECT_EQ(look(), transcript{"progress phase 1 lease 8 moved 10"});
}

TEST_F(turn_agents, tell_of_a_sync_at_the_begin_of_a_turn_soon_and_once) {
    join();
    ask_and_get();
    look();
    node.waiting = 0;
    node.under_way = 1;
    advance(0.002);
    EXPECT_EQ(look(), transcript{}) << "it may be a write that is about to count its bytes";
    advance(0.003);
    EXPECT_EQ(look(), transcript{"progress phase 1 lease 7"});
    EXPECT_EQ(std::get<progress>(last.messages.front()).under_way, 1);
    advance(0.005);
    EXPECT_EQ(look(), transcript{});
    node.moved = 10;
    advance(0.005);
    EXPECT_EQ(look(), transcript{"progress phase 1 lease 7 moved 10"}) << "the first bytes behind it, too";
}

TEST_F(turn_agents, tell_the_first_bytes_of_each_phase_under_a_standing_turn_at_once) {
    join();
    hear(standing{5, 2000, 90});
    for (const int64_t phase : {1, 2}) {
        look();
        node.under_way = 1;
        node.begun = static_cast<uint64_t>(phase);
        advance();
        const std::string of_phase = "phase " + std::to_string(phase) + " lease 5";
        EXPECT_EQ(look().back(), "inform " + of_phase);
        node.moved += 10;
        advance(0.004);
        EXPECT_EQ(look(), transcript{"progress " + of_phase + " moved 10"});
        node.under_way = 0;
        advance(0.011);
        EXPECT_EQ(look().back(), "release phase " + std::to_string(phase));
        hear(standing{5, 2000, 90 + static_cast<uint64_t>(phase)});
    }
}

TEST_F(turn_agents, tell_progress_at_each_heartbeat_and_when_half_of_the_lease_is_used) {
    join();
    begin();
    node.moved = 100;
    advance();
    look();  // the first bytes
    node.moved = 300;
    node.pool = 700;
    advance(0.1);
    EXPECT_EQ(look(), transcript{});
    advance(0.16);
    EXPECT_EQ(look(), transcript{"progress phase 1 lease 7 moved 200"});
    node.moved = 550;
    node.pool = 450;
    advance(0.01);
    advance(0.01);
    EXPECT_EQ(look(), transcript{"progress phase 1 lease 7 moved 250"});
    hear(grant{1, 7, 1000, 101});
    EXPECT_EQ(look(), transcript{"page allowed, 1000 bytes"});
}

TEST_F(turn_agents, tell_no_bytes_below_none_though_the_account_is_behind_for_a_moment) {
    join();
    node.waiting = 1;
    node.unasked = 100;
    advance();
    node.waiting = 0;
    advance(1);  // the phase is over
    node.waiting = 1;
    agent->received(heartbeat{}, now_s);
    advance();
    node.unasked = 40;
    agent->disconnected(now_s);
    agent->connected(now_s);
    hear(registered{1, 0.25, 0.2, 1});  // it is told anew
    int informs = 0;
    for (const to_coordinator& message : last.messages) {
        const auto* const told = std::get_if<inform>(&message);
        if (told == nullptr) continue;
        ++informs;
        EXPECT_EQ(told->bytes_moved, 0);
        EXPECT_GE(told->alone_s, 0);
    }
    EXPECT_EQ(informs, 1);
}

}  // namespace
}  // namespace halcyon::coordinate
