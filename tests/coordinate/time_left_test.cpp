// How long a phase is taken to go on, by forecasts, speeds and bytes.
#include "coordinate/conversation.hpp"
#include "coordinate/coordinator/forecast_trust.hpp"
#include "coordinate/coordinator/job.hpp"

namespace halcyon::coordinate {
namespace {

TEST(time_left, believes_a_forecast_until_it_is_put_off_again_and_again) {
    forecast_trust trust;
    trust.begin(1);
    trust.told(0, 1);
    EXPECT_EQ(trust.left_s(1, 0), 1);
    for (int i = 1; i <= 20; ++i) trust.told(0.1 * i, 0.5);  // half a second, at every time
    EXPECT_NEAR(trust.left_s(0.5, 2), 1.9, 1e-9);            // an end at 0.6 became one at 2.5
    trust.begin(1);
    trust.told(0, 1);
    trust.told(0.5, 9);  // mended once, then kept
    for (int i = 6; i <= 90; ++i) trust.told(0.1 * i, 9.5 - 0.1 * i);
    EXPECT_NEAR(trust.left_s(0.5, 9), 0.5, 0.01);
}

TEST(time_left, expects_a_phase_of_which_nothing_is_known_to_go_on_for_as_long_again) {
    job one;
    one.begin_phase(one.agents.emplace_back(), inform{});
    EXPECT_LT(one.left_s(100), 0);  // not known: decisions assume 1 s
    one.worked_s = 0.5;
    EXPECT_LT(one.left_s(100), 0);
    one.worked_s = 40;
    EXPECT_EQ(one.left_s(100), 40);
    one.agents.back().phase->left_s = 3;
    one.agents.back().left_told_worked_s = 40;
    EXPECT_EQ(one.left_s(100), 3);
}

TEST(time_left, believes_no_speed_near_0_by_which_a_phase_would_never_come_nearer_to_its_end) {
    conversation c(conversation::quick(policy::rule::dynamic));
    c.join("A");
    inform begun = phase_of(1, 1, 0);  // the end is one second away
    begun.lease = c.lease["A"];
    c.say("A", begun);
    for (int i = 0; i < 240; ++i) {
        c.now_s += 0.25;
        progress what = moved_in(0.25, 1'000'000, c.lease["A"]);
        what.speed = 1e-9;
        c.say("A", what);
    }
    EXPECT_GT(c.of("A").left_s, 2) << "after a minute, it is as late as that at least";
}

TEST(time_left, believes_no_speed_above_1_by_which_the_end_of_a_phase_would_move_away) {
    conversation c(conversation::quick(policy::rule::dynamic));
    c.join("A");
    inform begun = phase_of(1, 10, 0);
    begun.lease = c.lease["A"];
    c.say("A", begun);
    c.now_s += 0.25;
    progress what = moved_in(0.25, 25'000'000, c.lease["A"]);
    what.speed = 1000;
    c.say("A", what);
    c.now_s += 1;
    c.settle();
    EXPECT_NEAR(c.of("A").left_s, 8.75, 0.1);
}

TEST(time_left, takes_the_speed_of_others_for_that_of_an_application_of_which_only_the_bytes_are_known) {
    conversation c(conversation::quick(policy::rule::dynamic));
    c.join("A");
    c.join("B");
    inform begun = phase_of(1, 0, 1'000'000'000);
    c.say("A", begun);
    move_a(c, 4);
    EXPECT_NEAR(c.of("A").left_s, 9, 0.01);
    c.say("B", begun);
    EXPECT_NEAR(c.of("B").left_s, 10, 0.01);
}

TEST(time_left, expects_a_phase_that_is_slowed_down_to_need_less_time_without_others) {
    job one;
    one.begin_phase(one.agents.emplace_back(), inform{.bytes_left = 1000});
    one.agents.back().speed.observe(100, 2, false);
    EXPECT_EQ(one.left_s(0), 20);
    one.agents.back().alone.add(1000, 10);
    EXPECT_EQ(one.left_s(0), 10);
    one.agents.emplace_back().alone.add(1000, 10);  // it has ended its part
    EXPECT_EQ(one.left_s(0), 10);
}

TEST(time_left, is_that_of_a_larger_application_at_as_much_more_speed_but_no_more_than_the_storage_bears) {
    job one;
    one.begin_phase(one.agents.emplace_back(), inform{.bytes_left = 1'000'000'000});
    one.arrived_s = -10;
    EXPECT_EQ(one.left_s(0), 10) << "at any speed";
    one.storage.bytes_per_s = 2e8;
    EXPECT_EQ(one.left_s(0), 5);
    one.storage.alone_bytes_per_s = 5e7;
    EXPECT_EQ(one.left_s(0), 20);
    one.storage.fastest_bytes_per_s = 1e8;
    EXPECT_EQ(one.left_s(0), 10) << "as its demand is that of the fastest";
    one.storage.fastest_bytes_per_s = 0;
    one.storage.alone_processes = 2;
    one.agents.back().processes = 5;
    EXPECT_EQ(one.left_s(0), 8);
    one.agents.back().processes = 100;
    EXPECT_EQ(one.left_s(0), 5);
}

TEST(time_left, is_that_of_a_larger_application_at_no_more_speed_than_anybody_had_where_nothing_says_what_is_borne) {
    job one;
    one.begin_phase(one.agents.emplace_back(), inform{.bytes_left = 1'000'000'000});
    one.agents.back().processes = 100;
    one.arrived_s = -10;
    one.storage.alone_bytes_per_s = 5e7;
    one.storage.alone_processes = 2;
    one.storage.fastest_bytes_per_s = 5e9;  // of a small one, as if it were as large
    one.storage.most_bytes_per_s = 2e8;
    EXPECT_EQ(one.left_s(0), 5);
    one.storage.most_bytes_per_s = 2e7;
    EXPECT_EQ(one.left_s(0), 20) << "but at no less than the mean";
}

TEST(time_left, of_a_new_large_application_is_not_that_of_a_small_one_as_many_times_as_fast) {
    settings how = conversation::quick(policy::rule::dynamic);
    how.stalled_s = 1e3;  // none is silent
    conversation c(how);
    for (const auto& [who, processes] : std::vector<std::pair<std::string, int64_t>>{{"A", 16}, {"S", 1}, {"B", 64}}) {
        c.connect(who);
        registration what = conversation::registration_of(who);
        what.processes = processes;
        c.say(who, what);
    }
    c.say("A", stopped{c.lease["A"]});  // of the standing turn
    c.say("A", phase_of(1, 0, 1'000'000'000));
    move_a(c, 8);
    c.say("A", release{1});
    c.say("S", phase_of(1, 0, 1'000'000'000));
    move(c, "S", 8, 2'500'000);
    c.say("S", release{1});
    c.say("B", phase_of(1, 0, 1'000'000'000));
    EXPECT_NEAR(c.of("B").left_s, 10, 0.01) << "as fast as A was";
}

TEST(time_left, of_a_new_application_is_not_that_of_a_slow_one_which_was_alone_for_long) {
    settings how = conversation::quick(policy::rule::dynamic);
    how.stalled_s = 1e3;  // none is silent
    conversation c(how);
    for (const char* who : {"A", "L", "B"}) c.join(who);
    c.say("A", stopped{c.lease["A"]});  // of the standing turn
    c.say("A", phase_of(1, 0, 1'000'000'000));
    move_a(c, 8);
    c.say("A", release{1});
    c.say("L", phase_of(1, 0, 1'000'000'000));
    move(c, "L", 240, 250'000);
    c.say("L", release{1});
    c.say("B", phase_of(1, 0, 1'000'000'000));
    EXPECT_NEAR(c.of("B").left_s, 10, 0.01);
}

TEST(time_left, tells_small_phases_from_large_ones_before_any_speed_is_known) {
    conversation c(conversation::quick(policy::rule::dynamic));
    c.join("A");
    c.join("B");
    for (const auto& [who, bytes] : {std::pair{"A", 1'000'000'000}, std::pair{"B", 1'000'000}}) {
        inform begun = phase_of(1, 0, bytes);
        c.say(who, begun);
    }
    EXPECT_EQ(c.of("A").turn, turn_stage::recalled);
}

TEST(time_left, takes_nodes_that_have_not_told_of_the_phase_for_such_that_do_in_a_moment) {
    job one;
    one.storage.alone_bytes_per_s = 100;
    one.arrived_s = 10;
    for (int i = 0; i < 2; ++i) one.agents.emplace_back();
    one.begin_phase(one.agents[0], inform{.bytes_left = 1000});
    EXPECT_EQ(one.left_s(10.01), 20);
    EXPECT_EQ(one.left_s(10.5), 10) << "they take no part";
    one.begin_phase(one.agents[1], inform{.bytes_left = 500});
    EXPECT_EQ(one.left_s(10.01), 15);
}

TEST(time_left, expects_a_phase_that_has_moved_what_it_told_to_end_and_then_to_be_as_late_again_as_it_is) {
    conversation c(conversation::quick(policy::rule::dynamic));
    c.join("A");
    inform begun = phase_of(1, 0, 100'000'000);
    c.say("A", begun);
    for (int i = 0; i < 20; ++i) {
        c.now_s += 0.2;
        c.say("A", moved_in(0.2, 5'000'000, c.lease["A"]));
    }
    EXPECT_NEAR(c.of("A").left_s, 0.001, 1e-6);
    begun.bytes_left = 0;
    begun.lease = c.lease["A"];
    c.say("A", begun);
    EXPECT_NEAR(c.of("A").left_s, 0.001, 1e-6) << "nothing left is something else than nothing known";
    c.now_s += 0.5;
    c.say("A", moved_in(0.5, 0, c.lease["A"], 1));
    EXPECT_NEAR(c.of("A").left_s, 0.5, 0.01) << "as long again as it is late";
    c.now_s += 0.5;
    c.say("A", moved_in(0.5, 5'000'000, c.lease["A"], 1));
    EXPECT_NEAR(c.of("A").left_s, 1, 0.01) << "also where it moves more than it told";
}

/// A has the turn, and B waits for it; A moves 100 MB/s.
conversation turn_of_a(const inform& phase_of_a, const inform& phase_of_b) {
    settings how = conversation::quick(policy::rule::fcfs);
    how.bounds.starvation_s = 1e6;
    conversation c(how);
    c.join("A");
    c.join("B");
    c.say("A", stopped{c.lease["A"]});  // of the standing turn
    c.say("A", phase_of_a);
    c.say("B", phase_of_b);
    return c;
}

TEST(time_left, takes_a_phase_that_is_late_for_as_late_as_it_was_while_it_waits) {
    for (const double forecast_s : {0.0, 1.0}) {
        SCOPED_TRACE(forecast_s);
        settings how = conversation::quick(policy::rule::interrupt);
        how.stalled_s = 3600;
        conversation c(how);
        c.join("A");
        c.join("B");
        c.say("A", stopped{c.lease["A"]});
        inform begun = phase_of(1, forecast_s, 100'000'000);
        begun.alone_s = 0;
        c.say("A", begun);
        move_a(c, 4);
        for (int i = 0; i < 80; ++i) {  // all that was told has moved; now it cleans caches
            c.now_s += 0.25;
            c.say("A", moved_in(0.25, 0, c.lease["A"], 1));
        }
        EXPECT_NEAR(c.of("A").left_s, 20, 0.1);
        c.say("B", phase_of(1, 1));
        EXPECT_EQ(c.of("A").turn, turn_stage::recalled);
        EXPECT_NEAR(c.of("A").left_s, 20, 0.1);
        c.say("A", stopped{c.lease["A"]});
        EXPECT_TRUE(c.has_turn("B"));
        EXPECT_NEAR(c.of("A").left_s, 20, 0.1) << "it is no nearer to its end than it was";
        c.say("B", release{1});
        EXPECT_TRUE(c.has_turn("A"));
        EXPECT_NEAR(c.of("A").left_s, 20, 0.1);
    }
}

TEST(time_left, comes_no_nearer_to_its_end_while_a_phase_waits) {
    for (const double waited_s : {1.0, 10.0}) {
        SCOPED_TRACE(waited_s);
        conversation c = turn_of_a(phase_of(1, 100), phase_of(1, 1));
        for (int i = 0; i < static_cast<int>(4 * waited_s); ++i) {
            c.now_s += 0.25;
            c.say("A", moved_in(0.25, 25'000'000, c.lease["A"]));
            c.say("B", heartbeat{});
        }
        EXPECT_NEAR(c.of("B").left_s, 1, 1e-9);
        c.say("A", release{1});
        EXPECT_TRUE(c.has_turn("B"));
        EXPECT_NEAR(c.of("B").left_s, 1, 1e-9);
        c.now_s += 0.1;
        c.settle();
        EXPECT_NEAR(c.of("B").left_s, 0.9, 1e-9);
    }
}

TEST(time_left, comes_nearer_by_no_speed_that_was_told_in_other_company) {
    conversation c(conversation::quick(policy::rule::interfere));
    for (const char* who : {"A", "B"}) c.join(who);
    c.say("A", stopped{c.lease["A"]});  // of the standing turn
    c.say("A", phase_of(1, 10, 0));
    const auto tell_speed = [&c](double speed, double after_s) {
        c.now_s += after_s;
        progress what = moved_in(after_s, 25'000'000, c.lease["A"]);
        what.speed = speed;
        c.say("A", what);
    };
    tell_speed(1, 0.25);
    c.now_s += 0.75;
    c.say("B", phase_of(1, 10, 0));
    c.now_s += 1;
    c.settle();
    EXPECT_NEAR(c.of("A").left_s, 8.5, 1e-6) << "both are taken to be equally fast until one tells its speed";
    tell_speed(0.25, 0.5);
    c.now_s += 1;
    c.say("B", release{1});
    c.now_s += 1;
    c.settle();
    EXPECT_NEAR(c.of("A").left_s, 7, 1e-6) << "it is alone";
}

TEST(time_left, comes_nearer_by_no_speed_that_was_told_in_an_earlier_turn) {
    conversation c(conversation::quick(policy::rule::interrupt));
    for (const char* who : {"A", "B"}) c.join(who);
    c.say("A", stopped{c.lease["A"]});  // of the standing turn
    c.say("A", phase_of(1, 10, 0));
    c.now_s += 0.25;
    progress what = moved_in(0.25, 25'000'000, c.lease["A"]);
    what.speed = 0.25;
    c.say("A", what);
    c.now_s += 1;
    c.say("B", phase_of(1, 1));
    c.say("A", stopped{c.lease["A"]});
    EXPECT_TRUE(c.has_turn("B"));
    c.say("B", release{1});
    EXPECT_TRUE(c.has_turn("A"));
    c.now_s += 1;
    c.settle();
    EXPECT_NEAR(c.of("A").left_s, 8.5, 1e-6);
}

TEST(time_left, of_a_phase_that_has_moved_more_than_it_told_is_as_much_as_it_is_late) {
    conversation c(conversation::quick(policy::rule::dynamic));
    c.join("A");
    inform begun = phase_of(1, 1, 100'000'000);
    begun.lease = c.lease["A"];
    c.say("A", begun);
    move_a(c, 4);
    EXPECT_NEAR(c.of("A").left_s, 0.001, 1e-6);
    move_a(c, 1);
    EXPECT_NEAR(c.of("A").left_s, 0.001, 1e-6) << "a moment ago, all was within what it told";
    move_a(c, 2);
    EXPECT_NEAR(c.of("A").left_s, 0.5, 0.01) << "as late again as it is, not as long again as it has worked";
    progress told_anew = moved_in(0.25, 25'000'000, c.lease["A"]);
    told_anew.left_s = 3;
    c.now_s += 0.25;
    c.say("A", told_anew);
    EXPECT_NEAR(c.of("A").left_s, 4, 0.01) << "by so much the end was put off";
}

TEST(time_left, of_which_a_time_was_told_without_bytes_is_not_over_when_bytes_move) {
    conversation c(conversation::quick(policy::rule::dynamic));
    c.join("A");
    inform told = phase_of(1, 100, 100'000'000);
    told.lease = c.lease["A"];
    c.say("A", told);
    move_a(c, 5);
    told.left_s = told.alone_s = 5;
    told.bytes_left = 0;
    c.say("A", told);
    move_a(c, 4);
    EXPECT_NEAR(c.of("A").left_s, 4, 0.01);
}

TEST(time_left, believes_the_first_moments_of_a_phase_little_where_others_have_moved_alone) {
    for (const double alone_for_s : {0.0, 0.05, 0.6}) {
        SCOPED_TRACE(alone_for_s);
        job one;
        one.storage.alone_bytes_per_s = 1e8;
        one.begin_phase(one.agents.emplace_back(), inform{.bytes_left = 1'000'000'000});
        one.agents.back().speed.observe(40'000'000, 0.1, false);
        if (alone_for_s > 0) one.agents.back().alone.add(2e8 * alone_for_s, alone_for_s);
        const double speed = alone_for_s == 0 ? 1e8 + 3e8 / 12 : alone_for_s < 0.5 ? 1.1e8 : 2e8;
        EXPECT_NEAR(one.left_s(0), 1e9 / speed, 1e-6);
        for (int i = 0; i < 40; ++i) one.agents.back().speed.observe(20'000'000, 0.1, false);
        EXPECT_NEAR(one.left_s(0), 5, 0.1);
        one.storage.alone_bytes_per_s = 0;
        one.agents.back().alone = mean_speed{10};
        one.agents.back().speed = {};
        one.agents.back().speed.observe(40'000'000, 0.1, false);
        EXPECT_EQ(one.left_s(0), 2.5) << "nothing else is known";
    }
}

TEST(time_left, expects_phases_to_be_as_much_longer_as_those_before) {
    forecast_trust trust;
    for (int i = 0; i < 8; ++i) {
        trust.begin(1);
        trust.ended(10);
    }
    EXPECT_NEAR(trust.factor(), 10, 0.2);
    trust.begin(1);
    EXPECT_NEAR(trust.left_s(1, 0), 10, 0.2);
    EXPECT_NEAR(trust.left_s(1, 5), 5, 0.2);
    for (int i = 0; i < 12; ++i) trust.begin(1), trust.ended(0.1);  // too long a forecast harms nobody else
    EXPECT_NEAR(trust.factor(), 1, 0.01);
}

}  // namespace
}  // namespace halcyon::coordinate
