// Agents that die, stall, lie, flood or come back; a coordinator that is stopped or begins anew.
#include <algorithm>

#include "coordinate/conversation.hpp"
#include "coordinate/protocol/fields.hpp"

namespace halcyon::coordinate {
namespace {

TEST(faults, a_dead_holder_loses_its_turn_within_a_second) {
    conversation c = holder_and_waiter();
    c.break_off("A");
    c.pass(0.4, {"B"});
    EXPECT_FALSE(c.has_turn("B"));  // A may come back
    c.pass(0.6, {"B"});
    EXPECT_TRUE(c.has_turn("B"));
    EXPECT_EQ(c.told.counted().lost_holders, 1U);
    EXPECT_EQ(c.told.state().applications.size(), 1U);
}

TEST(faults, a_holder_that_comes_back_in_time_goes_on) {
    conversation c = holder_and_waiter();
    const uint64_t lease = c.lease["A"];
    c.break_off("A");
    c.pass(0.3, {"B"});
    c.join("A", 1000);
    inform again = phase_of(1);
    again.lease = lease;
    c.say("A", again);
    c.pass(2, {"A", "B"}, fast);
    EXPECT_TRUE(c.has_turn("A"));
    EXPECT_EQ(c.of("A").lease, lease);
    EXPECT_EQ(c.told.counted().dropped_leases, 0U);
}

TEST(faults, a_holder_that_comes_back_too_late_has_to_wait) {
    conversation c = holder_and_waiter();
    const uint64_t lease = c.lease["A"];
    c.break_off("A");
    c.pass(1, {"B"}, fast);
    c.join("A", 1000);
    c.look();
    inform again = phase_of(1);
    again.lease = lease;
    c.say("A", again);
    const std::vector<std::string> lines = c.look();
    ASSERT_GE(lines.size(), 3U);
    EXPECT_EQ(lines[1], "A <- voided lease 3: this lease is not valid any more: wait for the turn");
    EXPECT_EQ(lines[2], "A <- wait phase 1 behind B");
    EXPECT_EQ(c.told.counted().dropped_leases, 1U);
}

TEST(faults, one_that_comes_back_into_a_stop_is_waited_for_until_it_has_stopped) {
    conversation c = holder_and_waiter(conversation::quick(policy::rule::interrupt));
    c.break_off("A");
    c.pass(0.3, {"B"});
    c.join("A", 1000);
    EXPECT_EQ(c.look().back(), "A <- recall lease 3");
    c.say("A", stopping{c.lease["A"], 7});
    c.pass(2, {"A", "B"});
    EXPECT_FALSE(c.has_turn("B")) << "calls of A, or its caches, may take so long";
    c.say("A", stopped{c.lease["A"]});
    EXPECT_TRUE(c.has_turn("B"));
}

/// A has told its phase anew.
conversation holder_that_came_back_into_a_stop() {
    conversation c = holder_and_waiter(conversation::quick(policy::rule::interrupt));
    c.break_off("A");
    c.pass(0.3, {"B"});
    c.join("A", 1000);
    inform again = phase_of(1);
    again.lease = c.lease["A"];
    c.say("A", again);
    return c;
}

TEST(faults, one_that_comes_back_and_tells_its_phase_is_called_back_once) {
    conversation c = holder_that_came_back_into_a_stop();
    c.say("A", stopping{c.lease["A"], 7});
    EXPECT_EQ(c.look(), (std::vector<std::string>{"A -> register A", "A <- registered", "A <- recall lease 3",
                                                  "A -> inform phase 1", "A -> stopping lease 3 round 7",
                                                  "A <- stop lease 3 round 8"}));
}

TEST(faults, one_that_comes_back_into_a_stop_and_does_not_stop_loses_its_phase_with_the_lease) {
    conversation c = holder_that_came_back_into_a_stop();
    c.pass(5.5, {"A", "B"}, fast);  // moves on, and answers no recall
    EXPECT_EQ(c.told.counted().overdue_stops, 1U);
    EXPECT_TRUE(c.has_turn("B"));
    EXPECT_EQ(c.of("A").state, policy::movement::computing) << "it has heard that the lease is void, and informs anew";
    c.say("B", release{1});
    EXPECT_FALSE(c.has_turn("A")) << "it knows of no phase by which it could move under this turn";
}

/// A has lost its turn since it did nothing, and its user is barred for 4.5 s from then on.
conversation penalized_user() {
    conversation c = holder_and_waiter();
    c.pass(4.8, {"A", "B"});
    EXPECT_EQ(c.told.counted().stalled_holders, 1U);
    EXPECT_TRUE(c.has_turn("B"));
    c.join("C", 1000);
    return c;
}

TEST(faults, an_application_of_a_barred_user_that_has_moved_nothing_is_told_how_long_it_is_barred) {
    conversation c = penalized_user();
    c.say("C", phase_of(1));
    EXPECT_GT(c.of("C").expected_wait_s, 4) << "B needs 1 s";
    EXPECT_LE(c.of("C").expected_wait_s, 4.5);
}

TEST(faults, a_silent_holder_loses_its_turn_within_five_seconds) {
    conversation c = holder_and_waiter();
    c.pass(4.4, {"B"});
    EXPECT_FALSE(c.has_turn("B"));
    c.pass(0.6, {"B"});
    EXPECT_TRUE(c.has_turn("B"));
    EXPECT_EQ(c.told.counted().silent_agents, 1U);
}

TEST(faults, a_holder_that_lives_but_moves_nothing_loses_its_turn_within_five_seconds) {
    conversation c = holder_and_waiter();
    c.pass(4.4, {"A", "B"});
    EXPECT_FALSE(c.has_turn("B"));
    c.look();
    c.pass(0.6, {"A", "B"});
    EXPECT_TRUE(c.has_turn("B"));
    EXPECT_EQ(c.told.counted().stalled_holders, 1U);
    EXPECT_EQ(c.look().front(), "A <- voided lease 3: nothing was moved for too long, and others wait");
    // It may come back, as the last one.
    c.say("A", phase_of(2));
    EXPECT_FALSE(c.has_turn("A"));
}

TEST(faults, a_holder_that_does_not_stop_loses_its_lease) {
    conversation c = holder_and_waiter(conversation::quick(policy::rule::interrupt));
    c.pass(4.9, {"A", "B"}, fast);  // moves on, and answers no recall
    EXPECT_FALSE(c.has_turn("B"));
    c.pass(0.4, {"A", "B"}, fast);
    EXPECT_TRUE(c.has_turn("B"));
    EXPECT_EQ(c.told.counted().overdue_stops, 1U);
    c.pass(0.3, {"A"}, fast);
    EXPECT_GT(c.told.counted().dropped_progress, 0U);  // under the void lease
}

TEST(faults, an_agent_that_tells_its_phase_again_is_told_again_to_stop) {
    conversation c = holder_and_waiter(conversation::quick(policy::rule::interrupt));
    inform again = phase_of(1);
    again.lease = c.lease["A"];
    c.look();
    c.say("A", again);
    EXPECT_EQ(c.look(), (std::vector<std::string>{"A -> inform phase 1", "A <- recall lease 3"}));
    c.say("A", stopping{c.lease["A"], 7});
    c.look();
    c.say("A", again);
    EXPECT_EQ(c.look(), (std::vector<std::string>{"A -> inform phase 1", "A <- stop lease 3 round 8"}));
    c.say("A", stopped{c.lease["A"]});
    EXPECT_TRUE(c.has_turn("B"));
}

TEST(faults, bytes_of_any_number_never_make_their_count_fall) {
    conversation c = holder_and_waiter();
    uint64_t before = 0;
    for (int i = 0; i < 40; ++i) {
        c.now_s += 0.1;
        c.say("A", moved_in(0.1, most_bytes, c.lease["A"]));
        const uint64_t now = c.told.counted().bytes_moved;
        ASSERT_GE(now, before) << i;
        before = now;
    }
    EXPECT_EQ(before, UINT64_MAX);
}

TEST(faults, an_agent_that_died_is_not_waited_for_when_the_others_stop) {
    conversation c(conversation::quick(policy::rule::interrupt));
    for (const char* node : {"n1", "n2"}) {
        c.connect(std::string("A") + node);
        c.say(std::string("A") + node, conversation::registration_of("A", node));
    }
    c.join("B");
    for (const char* who : {"An1", "An2"}) c.say(who, stopped{c.lease[who]});
    for (const char* who : {"An1", "An2"}) c.say(who, phase_of(1));
    c.now_s += 0.01;
    c.say("B", phase_of(1));
    c.break_off("An2");
    c.say("An1", stopping{c.lease["An1"], 3});
    c.pass(1, {"An1", "B"}, fast);
    c.say("An1", stopped{c.lease["An1"]});
    EXPECT_TRUE(c.has_turn("B"));
}

TEST(faults, a_coordinator_that_was_stopped_punishes_nobody_for_its_own_silence) {
    conversation c = holder_and_waiter();
    c.pass(1, {"A", "B"}, fast);
    c.break_off("B");
    c.join("B", 1001);
    c.say("B", phase_of(1));
    c.now_s += 10;  // SIGSTOP; messages of that time lie in the sockets
    c.pass(2, {"A", "B"}, fast);
    EXPECT_TRUE(c.has_turn("A"));
    EXPECT_EQ(c.of("B").state, policy::movement::waiting);
    EXPECT_EQ(c.told.counted().silent_agents, 0U);
    EXPECT_EQ(c.told.counted().stalled_holders, 0U);
    EXPECT_EQ(c.told.counted().own_pauses, 1U);
    EXPECT_NEAR(c.told.counted().own_pauses_s, 9.5, 0.01);
    // Even where the first thing that it does is to look at the time.
    c.now_s += 10;
    c.settle();
    EXPECT_TRUE(c.has_turn("A"));
}

TEST(faults, clocks_that_step_back_change_nothing) {
    conversation c = holder_and_waiter();
    c.pass(1, {"A", "B"}, fast);
    c.now_s -= 1000;
    c.say("A", heartbeat{});
    c.say("B", heartbeat{});
    EXPECT_TRUE(c.has_turn("A"));
    EXPECT_EQ(c.told.counted().own_pauses, 0U);
}

TEST(faults, a_restarted_coordinator_learns_who_moves_before_it_grants_anything) {
    settings how = conversation::quick(policy::rule::fcfs);
    how.relearn_s = 0.25;
    conversation before = holder_and_waiter();
    const grant held = before.grants["A"].back();

    conversation c(how, 2);
    c.join("B", 1001);
    c.say("B", phase_of(1));
    EXPECT_FALSE(c.has_turn("B"));
    c.now_s = 0.1;
    c.join("A", 1000);
    inform again = phase_of(1);
    again.lease = held.lease;
    again.fence = held.fence;
    again.bytes_moved = fast;
    c.say("A", again);
    EXPECT_TRUE(c.has_turn("A"));
    EXPECT_GT(c.grants["A"].back().fence, held.fence);
    c.pass(3, {"A", "B"}, fast);
    EXPECT_FALSE(c.has_turn("B"));
    c.say("A", release{1});
    EXPECT_TRUE(c.has_turn("B"));
}

TEST(faults, a_lease_of_a_later_coordinator_is_not_accepted) {
    conversation c(conversation::quick(policy::rule::fcfs), 2);
    c.join("A");
    c.join("B");
    c.say("A", stopped{c.lease["A"]});
    c.say("B", phase_of(1));
    inform lie = phase_of(1);
    lie.lease = uint64_t{3} << 32U | 1;
    c.say("A", lie);
    EXPECT_FALSE(c.has_turn("A"));
    EXPECT_EQ(c.told.counted().dropped_leases, 1U);
}

TEST(faults, a_job_can_be_claimed_neither_by_another_user_nor_without_its_secret) {
    conversation c(conversation::quick(policy::rule::fcfs));
    c.join("A", 1000);
    c.look();
    c.connect("thief", 1001);
    c.say("thief", conversation::registration_of("A", "n2"));
    EXPECT_EQ(c.look(), (std::vector<std::string>{"thief -> register A", "thief <- refused: job 'A' is of another user",
                                                  "thief closed"}));
    c.connect("guesser", 1000);
    registration guess = conversation::registration_of("A", "n2");
    guess.secret = "another secret, long enough";
    c.say("guesser", guess);
    EXPECT_EQ(c.told.counted().refused_claims, 2U);
    EXPECT_EQ(c.of("A").agents, 1);
}

TEST(faults, an_agent_of_the_same_node_takes_the_place_of_the_one_before) {
    conversation c(conversation::quick(policy::rule::fcfs));
    c.join("A", 1000);
    c.connect("A again", 1000);
    c.say("A again", conversation::registration_of("A"));
    EXPECT_EQ(c.of("A").agents, 1);
    EXPECT_EQ(c.lines[c.lines.size() - 1], "A closed");
}

TEST(faults, everybody_hears_of_a_living_coordinator) {
    conversation c = holder_and_waiter();
    c.heartbeats = true;
    c.pass(10, {"A", "B"}, 1000);
    const auto heard = c.look();
    for (const char* who : {"A <- ", "B <- "})
        EXPECT_GE(std::ranges::count_if(heard, [&](const std::string& line) { return line.starts_with(who); }), 38);
}

TEST(faults, no_answer_puts_the_next_heartbeat_off) {
    for (int ms = 0; ms < 250; ms += 10) {
        settings how = conversation::quick(policy::rule::fcfs);
        how.stalled_s = 60;
        conversation c = holder_and_waiter(how);
        c.join("C", 1002);
        c.pass(1 + ms * 0.001);
        c.say_line("C", "nonsense");
        const double said_s = c.now_s;
        c.answers["C"].clear();
        while (c.answers["C"].empty()) c.pass(0.001);
        EXPECT_LE(c.now_s - said_s, 0.252) << ms;
    }
}

TEST(faults, nobody_is_silent_whose_messages_are_told_later) {
    conversation c = holder_and_waiter();
    c.pass(0.1, {"A", "B"});
    const auto pass = [&](double seconds, bool all_told) {
        for (double until_s = c.now_s + seconds; c.now_s < until_s;) {
            c.now_s += 0.1;
            c.told.advance(c.now_s, all_told);
        }
    };
    pass(4, true);
    pass(2, false);
    EXPECT_EQ(c.told.counted().silent_agents, 0U);
    c.told.speaks(1, c.now_s);
    pass(1, true);
    EXPECT_EQ(c.told.counted().silent_agents, 1U) << "B is";
    pass(4, true);
    EXPECT_EQ(c.told.counted().silent_agents, 2U);
}

TEST(faults, heartbeats_need_not_wait_for_a_decision) {
    conversation c = holder_and_waiter();
    c.pass(0.1, {"A", "B"});
    const uint64_t decisions = c.told.counted().decisions;
    c.say_line("B", "nonsense");
    c.now_s += 0.3;
    EXPECT_EQ(c.told.speak(c.now_s).messages.size(), 2U);
    EXPECT_EQ(c.told.speak(c.now_s).messages.size(), 0U);
    EXPECT_EQ(c.told.counted().decisions, decisions);
    EXPECT_LE(c.told.speak(c.now_s).wake_at_s, c.now_s) << "the decision is due still";
    c.settle();
    const auto spoken_before_a_decision = [&] {
        c.told.received(2, phase_of(1), c.now_s);
        return c.told.speak(c.now_s).messages.size();
    };
    c.now_s += 0.12;
    EXPECT_EQ(spoken_before_a_decision(), 0U);
    c.now_s += 0.01;
    EXPECT_EQ(spoken_before_a_decision(), 2U) << "a long one would keep the next heartbeat waiting";
}

}  // namespace
}  // namespace halcyon::coordinate
