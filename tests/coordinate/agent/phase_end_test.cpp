// How an agent ends a phase that has left bytes in the caches, which are still moving.
#include <algorithm>

#include "coordinate/agent/turn_agents.hpp"

namespace halcyon::coordinate {
namespace {

class phase_ends : public turn_agents {
  protected:
    phase_ends() { cleans_up_at_once = false; }

    /// A phase that moves under a standing turn of 1,000 bytes, while nobody else is registered.
    void begin_under_a_standing_turn() {
        join();
        hear(standing{5, 1000, 90});
        node.begun = 1;
        node.under_way = 1;
        advance();
    }
    /// Under a lease of 1,000 bytes from now on, of which so many moved.
    void move_and_pause(int64_t bytes) {
        join();
        begin();
        pause_after(bytes);
    }
    void pause_after(int64_t bytes) {
        node.moved += bytes;
        node.under_way = 0;
        advance();
        advance(0.02);
    }
    /// Of what was said since it was looked at last.
    [[nodiscard]] bool says(const std::string& line) const { return std::ranges::find(said, line) != said.end(); }
};

TEST_F(phase_ends, keep_the_turn_until_what_they_left_in_the_caches_is_written) {
    move_and_pause(500);
    EXPECT_TRUE(says("clean caches"));
    for (int i = 0; i < 20; ++i) {
        hear(from_coordinator(heartbeat{}));
        advance(0.25);
    }
    EXPECT_FALSE(says("page waiting"));
    EXPECT_FALSE(says("release phase 1"));
    EXPECT_EQ(std::ranges::count(said, "clean caches"), 1);
    look();
    agent->caches_clean();
    advance();
    EXPECT_TRUE(says("page waiting"));
    EXPECT_TRUE(says("release phase 1"));
}

TEST_F(phase_ends, tell_meanwhile_that_something_is_under_way) {
    move_and_pause(500);
    int64_t under_way = -1;
    for (int i = 0; i < 4 && under_way < 0; ++i) {
        advance(0.1);
        for (const to_coordinator& message : last.messages)
            if (const auto* const one = std::get_if<progress>(&message)) under_way = one->under_way;
    }
    EXPECT_EQ(under_way, 1);
}

TEST_F(phase_ends, let_calls_go_on_meanwhile) {
    move_and_pause(500);
    look();
    node.under_way = 1;
    advance();
    agent->caches_clean();
    advance(0.02);
    EXPECT_FALSE(says("page waiting"));
    EXPECT_FALSE(says("release phase 1"));
    pause_after(251);
    EXPECT_TRUE(says("clean caches")) << "of what moved since";
    EXPECT_FALSE(says("release phase 1"));
    agent->caches_clean();
    advance();
    EXPECT_TRUE(says("release phase 1"));
}

TEST_F(phase_ends, leave_in_the_caches_what_nobody_notices) {
    move_and_pause(250);
    EXPECT_FALSE(says("clean caches"));
    EXPECT_TRUE(says("release phase 1"));
}

TEST_F(phase_ends, wait_for_no_caches_when_they_have_read) {
    node.operation = operation::read;
    move_and_pause(500);
    EXPECT_FALSE(says("clean caches"));
    EXPECT_TRUE(says("release phase 1"));
}

TEST_F(phase_ends, wait_for_no_caches_where_nobody_else_is_registered) {
    begin_under_a_standing_turn();
    pause_after(500);
    EXPECT_FALSE(says("clean caches"));
    EXPECT_TRUE(says("release phase 1"));
}

TEST_F(phase_ends, wait_for_the_caches_when_another_application_has_come_meanwhile) {
    begin_under_a_standing_turn();
    hear(company{5, 0, 1});
    pause_after(500);
    EXPECT_TRUE(says("clean caches"));
    EXPECT_FALSE(says("release phase 1"));
}

TEST_F(phase_ends, ask_for_no_other_turn_when_they_lose_theirs_meanwhile) {
    move_and_pause(500);
    look();
    hear(voided{7, "it took too long"});
    advance(0.02);
    EXPECT_FALSE(agent->cleans_up());
    EXPECT_FALSE(says("inform phase 2"));
    agent->caches_clean();
    advance(0.02);
    EXPECT_FALSE(says("inform phase 2"));
}

TEST_F(phase_ends, wait_for_the_caches_once_where_the_turn_is_called_back_meanwhile) {
    move_and_pause(500);
    hear(recall{7});
    hear(stop{7, 1});
    advance(0.001);
    EXPECT_FALSE(says("stopped lease 7"));
    agent->caches_clean();
    advance();
    EXPECT_TRUE(says("stopped lease 7"));
    advance(0.02);
    EXPECT_FALSE(agent->cleans_up());
    EXPECT_TRUE(says("release phase 1"));
}

TEST_F(phase_ends, wait_for_no_caches_when_the_coordinator_is_silent) {
    move_and_pause(500);
    EXPECT_TRUE(agent->cleans_up());
    advance(1.5);
    EXPECT_FALSE(agent->cleans_up());
}

}  // namespace
}  // namespace halcyon::coordinate
