// One call that takes long, a sync, and caches that are cleaned: they move, though no byte is told meanwhile.
#include "coordinate/conversation.hpp"

namespace halcyon::coordinate {
namespace {

constexpr int64_t per_s = 100'000'000;

/// A moves at a known speed under the turn.
class long_calls : public testing::Test {
  protected:
    explicit long_calls(policy::rule rule = policy::rule::fcfs) : c(conversation::quick(rule)) {
        c.join("A", 1000);
        c.join("B", 1001);
        c.join("C", 1002);
        c.say("A", stopped{c.lease["A"]});
        c.say("A", phase_of(1));
        for (int i = 0; i < 20; ++i) {
            c.now_s += 0.1;
            tell(per_s / 10, 1, 0.1);
        }
    }
    void tell(int64_t bytes, int64_t under_way, double over_s = 0.25) {
        progress what;
        what.phase = phase;
        what.lease = c.lease["A"];
        what.bytes_moved = bytes;
        what.under_way = under_way;
        what.over_s = over_s;
        c.say("A", what);
    }
    /// A's call goes on; of others, so many bytes are told each time.
    void pass(double seconds, int64_t bytes = 0) {
        for (double until_s = c.now_s + seconds; c.now_s < until_s;) {
            c.pass(0.25, {"A", "B", "C"});
            tell(bytes, 1);
        }
    }
    /// It is not taken for one that loses turns by its own fault: those lose the next one after half a second.
    void expect_trusted() {
        EXPECT_EQ(c.has_turn("B"), true);
        c.say("A", phase_of(++phase));
        c.say("B", release{1});
        ASSERT_TRUE(c.has_turn("A"));
        c.say("C", phase_of(1));
        c.pass(2, {"A", "B", "C"});
        EXPECT_TRUE(c.has_turn("A"));
    }

    conversation c;
    uint64_t phase = 1;
};

TEST_F(long_calls, may_take_any_time_where_nobody_waits) {
    pass(60);
    EXPECT_TRUE(c.has_turn("A"));
    c.pass(60, {"A", "B", "C"});  // nor is anything taken from one that tells of no call
    EXPECT_TRUE(c.has_turn("A"));
    EXPECT_EQ(c.told.counted().stalled_holders, 0U);
}

TEST_F(long_calls, of_which_no_byte_is_known_keep_others_waiting_for_five_seconds_and_are_no_fault) {
    tell(0, 0);
    pass(30);  // a sync
    c.say("B", phase_of(1));
    pass(4);
    EXPECT_TRUE(c.has_turn("A"));
    pass(1.25);
    expect_trusted();
}

TEST_F(long_calls, have_the_time_that_their_bytes_need) {
    tell(10 * per_s, 1);  // 10 s
    c.say("B", phase_of(1));
    pass(12);
    EXPECT_TRUE(c.has_turn("A"));
    pass(15);
    expect_trusted();
}

TEST_F(long_calls, of_any_number_of_bytes_keep_others_waiting_no_longer_than_anybody_waits) {
    tell(100'000 * per_s, 1);
    c.say("B", phase_of(1));
    pass(28);
    EXPECT_TRUE(c.has_turn("A"));
    pass(9);  // the stop that is due then included
    EXPECT_TRUE(c.has_turn("B"));
}

TEST_F(long_calls, that_were_never_seen_to_move_anything_are_a_fault) {
    c.say("A", release{1});
    c.say("C", phase_of(1));
    c.say("B", phase_of(1));
    progress call;
    call.lease = c.lease["C"];
    call.under_way = 1;
    for (int i = 0; i < 21; ++i) {
        c.pass(0.25, {"A", "B", "C"});
        c.say("C", call);
    }
    EXPECT_TRUE(c.has_turn("B"));
    c.say("C", phase_of(2));
    c.say("A", phase_of(2));
    c.say("B", release{1});
    EXPECT_TRUE(c.has_turn("A")) << "C is barred, though it came first";
}

TEST_F(long_calls, of_which_new_ones_are_told_of_have_no_more_time_to_stop_once_somebody_has_waited_so_long) {
    c.say("B", phase_of(1));
    pass(29, 10 * per_s);
    EXPECT_TRUE(c.has_turn("A"));
    pass(1.5, 10 * per_s);
    EXPECT_EQ(c.of("A").turn, turn_stage::recalled);
    pass(3, 10 * per_s);
    EXPECT_FALSE(c.has_turn("B"));
    pass(2.5, 10 * per_s);
    EXPECT_TRUE(c.has_turn("B"));
}

class interrupted_long_calls : public long_calls {
  protected:
    interrupted_long_calls() : long_calls(policy::rule::interrupt) {}
};

TEST_F(interrupted_long_calls, are_waited_for_as_their_bytes_need) {
    tell(10 * per_s, 1);
    c.say("B", phase_of(1));
    c.say("A", stopping{c.lease["A"], 1});
    pass(9);
    EXPECT_FALSE(c.has_turn("B"));
    EXPECT_EQ(c.told.counted().overdue_stops, 0U);
    tell(0, 0);
    c.say("A", stopped{c.lease["A"]});
    EXPECT_TRUE(c.has_turn("B"));
}

TEST_F(interrupted_long_calls, are_waited_for_no_longer_than_anybody_waits_though_bytes_are_told_all_the_time) {
    c.say("B", phase_of(1));
    c.say("A", stopping{c.lease["A"], 1});
    pass(28, 1);
    EXPECT_FALSE(c.has_turn("B"));
    EXPECT_EQ(c.told.counted().overdue_stops, 0U);
    pass(2.5, 1);
    EXPECT_TRUE(c.has_turn("B"));
    EXPECT_EQ(c.told.counted().overdue_stops, 1U);
}

TEST_F(interrupted_long_calls, may_be_caches_that_take_longer_than_a_stop_may_and_are_no_fault) {
    tell(0, 0);
    c.say("B", phase_of(1));
    c.say("A", stopping{c.lease["A"], 1});
    pass(8);
    EXPECT_TRUE(c.has_turn("B"));
    EXPECT_EQ(c.told.counted().overdue_stops, 1U);
    c.say("A", phase_of(++phase));
    EXPECT_EQ(c.of("B").turn, turn_stage::recalled) << "A is not barred: as the newest, it is to have the turn";
}

TEST(long_calls_of_few_bytes, keep_others_waiting_for_five_seconds_though_no_speed_is_known) {
    conversation c(conversation::quick(policy::rule::fcfs));
    c.join("A", 1000);
    c.join("B", 1001);
    c.say("A", stopped{c.lease["A"]});
    c.say("A", phase_of(1));
    c.say("A", progress{.lease = c.lease["A"], .bytes_moved = 116, .over_s = 0.01, .under_way = 1});
    c.say("B", phase_of(1));
    for (int i = 0; i < 21; ++i) {
        EXPECT_TRUE(c.has_turn("A")) << i;
        c.pass(0.2, {"A", "B"});
        c.say("A", progress{.lease = c.lease["A"], .over_s = 0.2, .under_way = 1});
    }
    c.pass(1, {"A", "B"});
    EXPECT_TRUE(c.has_turn("B"));
}

TEST(long_calls_on_probation, may_be_a_sync_for_two_heartbeats_at_the_begin_of_a_phase) {
    conversation c(conversation::quick(policy::rule::fcfs));
    c.join("A", 1000);
    c.join("B", 1001);
    c.join("C", 1002);
    c.say("A", stopped{c.lease["A"]});
    c.say("A", phase_of(1));
    c.say("A", progress{.lease = c.lease["A"], .bytes_moved = 1000});
    c.say("A", release{1});
    c.say("A", phase_of(2));  // it does nothing
    c.say("B", phase_of(1));
    c.pass(4.8, {"A", "B", "C"});
    ASSERT_TRUE(c.has_turn("B"));
    c.say("A", phase_of(3));
    c.pass(5, {"A", "B", "C"}, 1'000'000);
    c.say("B", release{1});
    ASSERT_TRUE(c.has_turn("A"));
    c.say("A", progress{.phase = 3, .lease = c.lease["A"], .under_way = 1});
    c.say("B", phase_of(2));
    c.pass(0.1, {"A", "B", "C"});
    c.say("B", phase_of(2));  // so that something is decided
    EXPECT_TRUE(c.has_turn("A"));
    EXPECT_EQ(c.told.counted().stalled_holders, 1U);
    c.pass(1, {"A", "B", "C"});
    EXPECT_TRUE(c.has_turn("B"));
    c.say("A", phase_of(4));
    c.say("C", phase_of(1));
    c.say("B", release{2});
    EXPECT_TRUE(c.has_turn("A")) << "it is not barred";
}

/// Its agent asks for another turn whenever it has lost one, as no agent does for such a call.
TEST_F(long_calls, that_never_return_cost_others_their_patience_once) {
    double waited_s = 0;
    size_t heard = 0;
    for (uint64_t number = 1; number <= 10; ++number) {
        c.say("B", phase_of(number));
        double this_time_s = 0;
        for (; this_time_s < 60 && !c.has_turn("B"); this_time_s += 0.25) {
            pass(0.25);
            for (; heard < c.answers["A"].size(); ++heard) {
                if (!std::holds_alternative<voided>(c.answers["A"][heard])) continue;
                inform again = phase_of(++phase);
                again.bytes_moved = 2 * per_s;
                c.say("A", again);
            }
        }
        if (number > 2) waited_s += this_time_s;
        c.pass(1, {"A", "B", "C"});
        c.say("B", release{number});
        pass(2);
    }
    EXPECT_LT(waited_s, 8) << "not 5 s in each of eight phases";
}

TEST(barred, applications_that_have_moved_before_wait_no_longer_than_anybody) {
    conversation c(conversation::quick(policy::rule::fcfs));
    c.join("A", 1000);
    c.join("B", 1001);
    c.say("A", stopped{c.lease["A"]});
    uint64_t phase = 1;
    c.say("A", phase_of(phase));
    progress moved;
    moved.lease = c.lease["A"];
    moved.bytes_moved = 1;
    c.say("A", moved);
    c.say("A", release{phase});
    // It takes the turn, and does nothing.
    for (uint64_t stalls = 1; stalls <= 8; ++stalls) {
        c.say("A", phase_of(++phase));
        c.pass(5, {"A", "B"});
        ASSERT_TRUE(c.has_turn("A"));
        c.say("B", phase_of(stalls));
        c.pass(6, {"A", "B"});
        ASSERT_TRUE(c.has_turn("B"));
        c.say("B", release{stalls});
    }
    c.say("A", phase_of(++phase));
    c.say("B", phase_of(100));
    c.pass(1, {"A", "B"});  // nobody is patient with it any more
    c.say("A", phase_of(++phase));
    ASSERT_TRUE(c.has_turn("B"));
    progress goes_on;
    goes_on.phase = 100;
    goes_on.lease = c.lease["B"];
    goes_on.bytes_moved = 1000;
    double waited_s = 0;
    for (; waited_s < 60 && !c.has_turn("A"); waited_s += 0.25) {
        c.pass(0.25, {"A", "B"});
        c.say("B", goes_on);
        if (c.of("B").turn == turn_stage::recalled) c.say("B", stopped{c.lease["B"]});
    }
    EXPECT_LT(waited_s, 33);
}

}  // namespace
}  // namespace halcyon::coordinate
