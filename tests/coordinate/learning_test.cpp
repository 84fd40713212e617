// What a coordinator learns of those that it coordinates.
#include "coordinate/conversation.hpp"
#include "coordinate/coordinator/interruption_time.hpp"
#include "coordinate/coordinator/job.hpp"
#include "coordinate/coordinator/side_by_side.hpp"

namespace halcyon::coordinate {
namespace {

policy::application application_number(uint64_t id) {
    policy::application made;
    made.id = id;
    made.state = policy::movement::moving;
    return made;
}

TEST(learning, takes_the_time_of_a_report_from_the_agent_for_several_may_arrive_at_once) {
    conversation c(conversation::quick(policy::rule::fcfs));
    const connection_id a = c.connect("A");
    c.say("A", conversation::registration_of("A"));
    inform begun = phase_of(1);
    begun.lease = c.lease["A"];
    c.say("A", begun);
    move_a(c, 20);
    c.now_s += 2;  // the coordinator was stopped
    for (int i = 0; i < 8; ++i) {
        c.now_s += 1e-6;
        c.told.received(a, moved_in(0.25, 25'000'000, c.lease["A"]), c.now_s);
    }
    c.settle();
    EXPECT_NEAR(c.told.state().bytes_per_s, 1e8, 1);
    c.now_s += 0.25;
    c.say("A", begun);  // once more: the lease was used up
    c.say("A", moved_in(0, 25'000'000, c.lease["A"]));
    EXPECT_NEAR(c.told.state().bytes_per_s, 1e8, 1e3);
}

TEST(learning, learns_the_speed_of_calls_that_take_longer_than_the_time_between_reports) {
    link_speed of;
    of.observe(1'000'000'000, 0.01, true);
    EXPECT_GT(of.ahead_s(), 100);
    for (int i = 0; i < 39; ++i) of.observe(0, 0.25, true);
    EXPECT_EQ(of.bytes_per_s(), 0);
    of.observe(1'000'000'000, 0.24, true);
    EXPECT_NEAR(of.bytes_per_s(), 1e8, 3e6);
    EXPECT_NEAR(of.ahead_s(), 10, 0.3) << "the second one has just begun";
    for (int i = 0; i < 40; ++i) of.observe(0, 0.25, true);
    of.observe(0, 0.01, false);
    EXPECT_NEAR(of.bytes_per_s(), 1e8, 3e6);
    EXPECT_NEAR(of.ahead_s(), 0, 0.3);
}

TEST(learning, learns_no_speed_from_a_moment) {
    link_speed of;
    of.observe(25'000'000, 1e-6, false);
    EXPECT_EQ(of.bytes_per_s(), 0);
    of.observe(25'000'000, 0.5, false);
    EXPECT_NEAR(of.bytes_per_s(), 1e8, 1e3);
}

TEST(learning, takes_speeds_only_while_exactly_the_known_ones_moved) {
    side_by_side learned({.pairs = 64});
    const std::vector<policy::application> both = {application_number(1), application_number(2)};
    learned.movers_changed(10);
    learned.report(1, both, 0.2, 9.9, 10.1);  // began before the other one
    EXPECT_EQ(learned.learned().observations(1, 2), 0U);
    learned.report(1, both, 0.2, 10, 10.1);
    EXPECT_EQ(learned.learned().observations(1, 2), 1U);
    learned.disturbed(10.5);  // somebody moved unasked
    learned.report(1, both, 0.2, 10.1, 10.2);
    EXPECT_EQ(learned.learned().observations(1, 2), 1U);
    learned.report(1, both, 0.2, 10.5, 10.6);
    EXPECT_EQ(learned.learned().observations(1, 2), 2U);
}

TEST(learning, learns_how_a_pair_slows_each_other_down) {
    side_by_side learned({.pairs = 64});
    const std::vector<policy::application> both = {application_number(1), application_number(2)};
    for (int i = 0; i < 200; ++i) {
        learned.report(1, both, 0.25, i, i + 1);
        learned.report(2, both, 0.8, i, i + 1);
    }
    const policy::slow_downs found = learned.learned().between(both[0], both[1]);
    EXPECT_NEAR(found.first, 4, 0.2);
    EXPECT_NEAR(found.second, 1.25, 0.1);
    EXPECT_EQ(learned.unseen_share(), 0);
}

/// A is interrupted for B, and takes `stops_s` to stop.
void interrupt(conversation& talk, uint64_t phase, double stops_s) {
    talk.say("A", phase_of(phase, 10));
    talk.now_s += 0.01;
    talk.say("B", phase_of(phase, 1));
    talk.say("A", stopping{talk.lease["A"], 0});
    talk.now_s += stops_s;
    talk.say("A", stopped{talk.lease["A"]});
    talk.say("B", release{phase});
    talk.say("A", release{phase});
}

TEST(learning, takes_an_interruption_to_cost_what_the_latest_took_but_no_more_than_a_second) {
    settings how = conversation::quick(policy::rule::interrupt);
    conversation talk(how);
    talk.join("A");
    talk.join("B");
    talk.say("A", stopped{talk.lease["A"]});  // of the standing turn
    uint64_t phase = 1;
    EXPECT_EQ(talk.told.state().interruption_s, how.bounds.interruption_s);
    interrupt(talk, phase++, 0.2);
    EXPECT_NEAR(talk.told.state().interruption_s, 0.2, 1e-9);
    for (int i = 0; i < 8; ++i) interrupt(talk, phase++, 0.4);
    EXPECT_NEAR(talk.told.state().interruption_s, 0.4, 1e-9);
    for (int i = 0; i < 8; ++i) interrupt(talk, phase++, 3);
    EXPECT_NEAR(talk.told.state().interruption_s, interruption_time::most_s, 1e-9);
    for (int i = 0; i < 8; ++i) interrupt(talk, phase++, 0);
    EXPECT_EQ(talk.told.state().interruption_s, how.bounds.interruption_s);
}

TEST(learning, takes_no_interruption_for_long_after_which_nobody_was_to_have_the_turn) {
    settings how = conversation::quick(policy::rule::interrupt);
    conversation talk(how);
    talk.join("A");
    talk.join("B");
    talk.say("A", stopped{talk.lease["A"]});  // of the standing turn
    talk.say("A", phase_of(1, 10));
    talk.now_s += 0.01;
    talk.say("B", phase_of(1, 1));
    talk.say("B", release{1});
    talk.say("A", release{1});
    talk.pass(60, {"A", "B"});
    talk.say("A", phase_of(2, 10));
    EXPECT_TRUE(talk.has_turn("A"));
    EXPECT_EQ(talk.told.state().interruption_s, how.bounds.interruption_s);
}

TEST(learning, infers_a_writer_without_halcyon_from_an_application_that_moves_alone) {
    side_by_side learned({.pairs = 64});
    const std::vector<policy::application> one = {application_number(1)};
    for (int i = 0; i < 64; ++i) learned.report(1, one, i % 2 == 0 ? 0.58 : 0.62, i, i + 1);
    EXPECT_NEAR(learned.unseen_share(), 0.4, 0.2 * 0.4);
    for (int i = 64; i < 400; ++i) learned.report(1, one, 1, i, i + 1);
    EXPECT_LT(learned.unseen_share(), 0.02);  // it is gone
}

TEST(learning, does_not_take_an_unseen_writer_for_interference) {
    side_by_side learned({.pairs = 64});
    const std::vector<policy::application> both = {application_number(1), application_number(2)};
    int now = 0;
    for (; now < 100; ++now)
        for (const uint64_t id : {1, 2}) learned.report(id, both, 0.5, now, now + 1);
    EXPECT_EQ(learned.unseen_share(), 0);
    for (; now < 400; ++now)
        for (const uint64_t id : {1, 2}) learned.report(id, both, 0.3, now, now + 1);  // 0.6 of what they had together
    EXPECT_NEAR(learned.unseen_share(), 0.4, 0.2 * 0.4);
    EXPECT_NEAR(learned.learned().between(both[0], both[1]).first, 2, 0.1);
}

TEST(learning, compares_the_speeds_of_up_to_32_movers_and_knows_an_application_beside_up_to_32) {
    for (const uint64_t count : {32, 33, 34}) {
        SCOPED_TRACE(count);
        side_by_side learned({.pairs = 1U << 12U});
        std::vector<policy::application> all;
        for (uint64_t id = 1; id <= count; ++id) all.push_back(application_number(id));
        int now = 0;
        const auto report = [&](double of_expected) {
            for (const policy::application& one : all)
                learned.report(one.id, all, of_expected / static_cast<double>(count), now, now + 1);
        };
        for (; now < 20; ++now) report(1);
        for (; now < 120; ++now) report(0.6);
        EXPECT_EQ(learned.unseen_share() > 0.2, count <= 32);
        EXPECT_EQ(learned.learned().observations(1, 2) > 0, count <= 33) << "the others are 32";
    }
}

TEST(learning, believes_a_pair_that_has_changed_when_no_unseen_writer_is_there_for_one_alone) {
    side_by_side learned({.pairs = 64});
    const std::vector<policy::application> both = {application_number(1), application_number(2)};
    int now = 0;
    for (; now < 100; ++now)
        for (const uint64_t id : {1, 2}) learned.report(id, both, 0.5, now, now + 1);
    for (; now < 500; ++now) {
        for (int i = 0; i < 4; ++i)
            learned.report(1, std::vector<policy::application>{application_number(1)}, 1, now, now + 1);
        for (const uint64_t id : {1, 2}) learned.report(id, both, 0.25, now, now + 1);
    }
    EXPECT_NEAR(learned.learned().between(both[0], both[1]).first, 4, 0.8);
}

/// How long B is expected to need for what takes 10 s at the speed that A had alone, once L has told this of itself.
template <class Tell>
double expected_of_b(Tell&& tell) {
    settings how = conversation::quick(policy::rule::dynamic);
    how.stalled_s = 1e3;  // none is silent
    conversation c(how);
    for (const char* who : {"A", "B", "L"}) c.join(who);
    c.say("A", stopped{c.lease["A"]});  // of the standing turn
    inform begun = phase_of(1, 0, 1'000'000'000);
    c.say("A", begun);
    move_a(c, 40);
    c.say("A", release{1});
    tell(c);
    c.say("B", begun);
    return c.of("B").left_s;
}

TEST(learning, believes_of_no_report_that_it_is_about_more_time_than_has_passed) {
    const double expected_s = expected_of_b([](conversation& c) {
        c.say("L", phase_of(1));
        for (int i = 0; i < 50; ++i) {
            c.now_s += 0.01;
            c.say("L", moved_in(1e9, 1, c.lease["L"]));
        }
        c.say("L", release{1});
    });
    EXPECT_GT(expected_s, 9);
    EXPECT_LT(expected_s, 12);
}

TEST(learning, believes_of_no_report_that_more_has_moved_than_anything_can) {
    const double expected_s = expected_of_b([](conversation& c) {
        c.say("L", phase_of(1));
        move(c, "L", 4, int64_t{1} << 60);
        c.say("L", release{1});
    });
    EXPECT_GT(expected_s, 2) << "hardly more than four times as fast as what was known of others";
    EXPECT_LT(expected_s, 11);
}

TEST(learning, adds_up_no_more_bytes_than_there_are_numbers_for) {
    link_speed of;
    for (int i = 0; i < 11; ++i) {
        of.observe(int64_t{1} << 60U, 1e-9, true);
        EXPECT_GE(of.bytes_per_s(), 0);
    }
    const auto moved = of.observe(0, 1, false);
    ASSERT_TRUE(moved);
    EXPECT_GT(moved->bytes, 0);
    EXPECT_NEAR(of.bytes_per_s(), 1e11, 1);
}

TEST(learning, follows_a_storage_that_became_faster) {
    const double expected_s = expected_of_b([](conversation& c) {
        c.say("L", phase_of(1));
        move(c, "L", 160, 2'500'000'000);
        c.say("L", release{1});
    });
    EXPECT_NEAR(expected_s, 0.1, 0.02);
}

TEST(learning, is_disturbed_by_bytes_that_move_unasked_but_not_by_few_nor_by_who_tells_of_some_without_a_phase) {
    struct unasked {
        bool has_phase = false;
        int64_t bytes = 0;  ///< while A moves 1 MB
        bool disturbs = false;
    };
    for (const auto& [has_phase, bytes, disturbs] : {unasked{false, 200'000, false}, unasked{true, 200'000, true},
                                                     unasked{true, 20'000, false}, unasked{true, 1, false}}) {
        SCOPED_TRACE(testing::Message() << bytes << (has_phase ? " bytes in a phase" : " bytes"));
        conversation c(conversation::quick(policy::rule::fcfs));
        for (const char* who : {"A", "L"}) c.join(who);
        c.connect("A2");
        c.say("A2", conversation::registration_of("A", "n2"));
        c.say("A", stopped{c.lease["A"]});
        for (const char* who : {"A", "A2"}) c.say(who, phase_of(1, 100));  // the second node moves nothing
        if (has_phase) c.say("L", phase_of(1, 100));
        for (int i = 0; i < 80; ++i) {
            c.now_s += 0.25;
            c.say("A2", heartbeat{});
            c.say("L", progress{.lease = 0, .bytes_moved = bytes});
            progress half = moved_in(0.25, 1'000'000, c.lease["A"]);
            half.speed = 0.5;
            c.say("A", half);
        }
        EXPECT_EQ(c.told.state().unseen_share > 0.3, !disturbs);
    }
}

TEST(learning, lets_applications_move_side_by_side_that_are_seen_not_to_use_the_storage_up) {
    for (const double storage_bytes_per_s : {0.0, 2e8, 1.05e8}) {
        SCOPED_TRACE(storage_bytes_per_s);
        settings how = conversation::quick(policy::rule::dynamic);
        how.storage_bytes_per_s = storage_bytes_per_s;
        conversation c(how);
        c.join("A");
        inform begun = phase_of(1, 0, 1'000'000'000);
        c.say("A", begun);
        move_a(c, 8);
        c.join("B");
        c.say("B", begun);
        EXPECT_TRUE(c.has_turn("A"));
        EXPECT_EQ(c.has_turn("B"), storage_bytes_per_s == 2e8);
    }
}

TEST(learning, lets_one_that_waits_move_as_soon_as_that_is_seen) {
    settings how = conversation::quick(policy::rule::dynamic);
    how.storage_bytes_per_s = 2e8;
    conversation c(how);
    c.join("A");
    inform begun = phase_of(1, 0, 1'000'000'000);
    c.say("A", begun);
    c.join("B");
    c.say("B", begun);
    EXPECT_FALSE(c.has_turn("B"));
    move_a(c, 4);
    EXPECT_TRUE(c.has_turn("A") && c.has_turn("B"));
}

TEST(learning, takes_what_fills_caches_at_the_begin_of_a_phase_for_no_more_than_the_storage_bears) {
    settings how = conversation::quick(policy::rule::dynamic);
    how.storage_bytes_per_s = 1e8;
    conversation c(how);
    c.join("A");
    c.say("A", phase_of(1, 0, 1'000'000'000));
    for (int i = 0; i < 11; ++i) {
        c.now_s += 0.1;
        c.say("A", moved_in(0.1, i == 0 ? 20'000'000 : 6'000'000, c.lease["A"]));
    }
    c.join("B");
    c.say("B", phase_of(1, 0, 1'000'000'000));
    EXPECT_TRUE(c.has_turn("A") && c.has_turn("B")) << "A takes 64 % alone";
}

TEST(learning, takes_no_speed_from_calls_that_all_begin_at_once) {
    link_speed of;  // four writers, whose calls of 1 MB take 0.1 s
    of.observe(4'000'000, 0.0001, true);
    double now_s = 0;
    for (; now_s < 0.45; now_s += 0.1) of.observe(4'000'000, 0.1, true);
    EXPECT_NEAR(of.bytes_per_s(), 4e7, 4e6);
}

TEST(learning, takes_no_speed_of_few_bytes_in_little_time) {
    link_speed of;
    for (int i = 0; i < 20; ++i) {  // two writers, whose calls take 1 s: one begins behind the other
        of.observe(1'000'000, 0.01, true);
        of.observe(1'000'000, 0.99, true);
    }
    EXPECT_NEAR(of.bytes_per_s(), 2e6, 2e5);
}

TEST(learning, forgets_an_expected_phase_that_is_expected_no_more) {
    conversation c(conversation::quick(policy::rule::dynamic));
    c.join("A", 1000);
    expect next;
    next.in_s = 5;
    c.say("A", next);
    EXPECT_EQ(c.of("A").state, policy::movement::expected);
    c.say("A", expect{.in_s = 0, .probability = 0});
    EXPECT_EQ(c.of("A").state, policy::movement::computing);
}

TEST(learning, expects_of_an_application_what_its_agents_expect_together) {
    job one;
    one.state = policy::movement::expected;
    for (const double in_s : {7.0, 5.0}) {
        expect next;
        next.in_s = in_s;
        next.alone_s = in_s / 5;
        next.bytes = 100;
        next.demand = 0.3;
        one.agents.emplace_back().next = next;
        one.agents.back().next_told_s = 10;
    }
    policy::application as;
    one.describe(as, 11);
    EXPECT_EQ(as.arrived_s, 15);
    EXPECT_EQ(as.alone_s, 1.4);
    EXPECT_EQ(as.bytes_left, 200);
    EXPECT_EQ(as.demand, 0.6);
    one.agents.pop_back();  // it is gone, and what it expected with it
    one.describe(as, 11);
    EXPECT_EQ(as.arrived_s, 17);
}

}  // namespace
}  // namespace halcyon::coordinate
