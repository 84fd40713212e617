// Who says what to whom, message by message.
#include "coordinate/conversation.hpp"

namespace halcyon::coordinate {
namespace {

/// Two nodes' ranks begin within some milliseconds: by the first of them, B needs 1 s.
TEST(exchange, nobody_is_interrupted_before_most_processes_of_the_new_one_have_told_what_they_need) {
    settings how = conversation::quick(policy::rule::dynamic);
    how.bounds.interrupts_after_s = settings{}.bounds.interrupts_after_s;
    for (const double needs_s : {1.0, 20.0}) {
        conversation c(how);
        c.join("A", 1000);
        c.connect("B", 1001);
        registration of_eight = conversation::registration_of("B");
        of_eight.processes = 8;
        c.say("B", of_eight);
        c.say("A", stopped{c.lease["A"]});
        c.say("A", phase_of(1, 10));
        c.say("B", phase_of(1, 1));
        c.pass(0.01, {"A"}, 1000);
        EXPECT_EQ(c.of("A").turn, turn_stage::held);
        c.say("B", phase_of(1, needs_s));
        c.pass(0.03, {"A"}, 1000);
        EXPECT_EQ(c.of("A").turn, needs_s < 10 ? turn_stage::recalled : turn_stage::held) << needs_s;
    }
}

using transcript = std::vector<std::string>;

conversation two_jobs(policy::rule rule) {
    conversation c(conversation::quick(rule));
    c.join("A");
    c.join("B");
    c.say("A", stopped{c.lease["A"]});  // the standing turn that A had as long as it was alone
    c.look();
    return c;
}

progress moved(uint64_t phase, uint64_t lease, int64_t bytes) {
    progress what;
    what.phase = phase;
    what.lease = lease;
    what.bytes_moved = bytes;
    return what;
}

// Dorier 2014, figure 6.8 (a): B waits until A has called release.
TEST(exchange, serialization_lets_the_second_wait_for_the_release_of_the_first) {
    conversation c = two_jobs(policy::rule::fcfs);
    c.say("A", phase_of(1));
    c.say("B", phase_of(1));
    c.say("A", moved(1, c.lease["A"], 1 << 20));
    c.say("A", release{1});
    c.say("B", release{1});
    EXPECT_EQ(c.look(), (transcript{
                            "A -> inform phase 1",
                            "A <- grant phase 1 lease 3",
                            "B -> inform phase 1",
                            "B <- wait phase 1 behind A",
                            "A -> progress phase 1 lease 3",
                            "A -> release phase 1",
                            "B <- grant phase 1 lease 5",
                            "B -> release phase 1",
                        }));
}

TEST(exchange, an_agent_that_was_called_back_behind_its_release_hears_that_the_turn_is_over) {
    conversation c = two_jobs(policy::rule::interrupt);
    c.say("A", phase_of(1));
    c.say("B", phase_of(1));
    c.look();
    c.say("A", release{1});
    c.say("A", stopping{c.lease["A"], 7});
    EXPECT_EQ(c.look(), (transcript{
                            "A -> release phase 1",
                            "B <- grant phase 1 lease 5",
                            "A -> stopping lease 3 round 7",
                            "A <- voided lease 3: this turn is over",
                        }));
    EXPECT_EQ(c.told.counted().dropped_answers, 0U);
}

TEST(exchange, a_lease_is_renewed_though_of_the_half_that_is_drawn_not_all_has_moved) {
    conversation c = two_jobs(policy::rule::fcfs);
    c.say("A", phase_of(1));
    const int64_t bytes = c.grants["A"].back().bytes;
    c.say("A", moved(1, c.lease["A"], bytes / 8));
    EXPECT_EQ(c.grants["A"].size(), 1U);
    c.say("A", moved(1, c.lease["A"], bytes / 4));
    EXPECT_EQ(c.grants["A"].size(), 2U);
}

TEST(exchange, those_that_move_side_by_side_are_told_so) {
    conversation c = two_jobs(policy::rule::interfere);
    c.say("A", phase_of(1));
    const auto company_of = [&](const std::string& who) {
        std::vector<int64_t> told;
        for (const from_coordinator& one : c.answers[who])
            if (const auto* const what = std::get_if<company>(&one)) told.push_back(what->others);
        return told;
    };
    EXPECT_EQ(company_of("A"), std::vector<int64_t>{});
    c.say("B", phase_of(1));
    EXPECT_EQ(company_of("A"), std::vector<int64_t>{1});
    EXPECT_EQ(company_of("B"), std::vector<int64_t>{1});
    EXPECT_EQ(std::get<company>(c.answers["B"].back()).lease, c.lease["B"]);
    c.say("A", release{1});
    EXPECT_EQ(company_of("B"), (std::vector<int64_t>{1, 0}));
    c.say("A", phase_of(2));
    EXPECT_EQ(company_of("A"), (std::vector<int64_t>{1, 1})) << "under a turn of its own";
    c.say("B", release{1});
    EXPECT_EQ(company_of("A"), (std::vector<int64_t>{1, 1, 0}));
}

// Figure 6.8 (b): B interrupts A between two of its writes, and A goes on when B has ended.
TEST(exchange, interruption_stops_the_first_between_two_rounds_and_lets_it_go_on) {
    conversation c = two_jobs(policy::rule::interrupt);
    c.say("A", phase_of(1));
    c.say("A", moved(1, c.lease["A"], 1 << 20));
    c.now_s = 0.125;
    c.say("B", phase_of(1));
    c.say("A", stopping{c.lease["A"], 7});
    c.say("A", stopped{c.lease["A"]});
    c.say("B", release{1});
    c.say("A", release{1});
    EXPECT_EQ(c.look(), (transcript{
                            "A -> inform phase 1",
                            "A <- grant phase 1 lease 3",
                            "A -> progress phase 1 lease 3",
                            "B -> inform phase 1",
                            "A <- recall lease 3",
                            "B <- wait phase 1 behind A",
                            "A -> stopping lease 3 round 7",
                            "A <- stop lease 3 round 8",
                            "A -> stopped lease 3",
                            "B <- grant phase 1 lease 5",
                            "A <- wait phase 1 behind B",
                            "B -> release phase 1",
                            "A <- grant phase 1 lease 7",
                            "A -> release phase 1",
                        }));
    EXPECT_EQ(c.told.counted().dropped_answers, 0U);
}

TEST(exchange, a_stop_names_a_round_that_no_agent_has_begun) {
    conversation c(conversation::quick(policy::rule::interrupt));
    for (const char* node : {"n1", "n2", "n3"}) {
        c.connect(std::string("A") + node);
        c.say(std::string("A") + node, conversation::registration_of("A", node));
    }
    c.join("B");
    for (const char* who : {"An1", "An2", "An3"}) c.say(who, stopped{c.lease[who]});
    for (const char* who : {"An1", "An2"}) c.say(who, phase_of(1));
    c.look();
    c.now_s = 1;
    c.say("B", phase_of(1));
    c.say("An2", stopping{c.lease["An2"], 5});
    c.say("An1", stopping{c.lease["An1"], 9});
    EXPECT_EQ(c.look(), (transcript{"B -> inform phase 1", "An1 <- recall lease 5", "An2 <- recall lease 5",
                                    "An3 <- recall lease 5", "B <- wait phase 1 behind A",
                                    "An2 -> stopping lease 5 round 5", "An1 -> stopping lease 5 round 9"}));
    c.say("An3", stopping{c.lease["An1"], 0});  // is in no phase, and all the same asked
    EXPECT_EQ(c.look(), (transcript{"An3 -> stopping lease 5 round 0", "An1 <- stop lease 5 round 10",
                                    "An2 <- stop lease 5 round 10", "An3 <- stop lease 5 round 10"}));
    c.say("An1", stopped{c.lease["An1"]});
    c.say("An3", stopped{c.lease["An1"]});
    EXPECT_FALSE(c.has_turn("B"));
    c.say("An2", stopped{c.lease["An2"]});
    EXPECT_TRUE(c.has_turn("B"));
}

TEST(exchange, the_turn_lasts_until_the_last_agent_of_the_application_has_released) {
    conversation c(conversation::quick(policy::rule::fcfs));
    for (const char* node : {"n1", "n2"}) {
        c.connect(std::string("A") + node);
        c.say(std::string("A") + node, conversation::registration_of("A", node));
    }
    c.join("B");
    for (const char* who : {"An1", "An2"}) c.say(who, stopped{c.lease[who]});
    c.say("An1", phase_of(1));
    c.say("B", phase_of(1));
    c.say("An2", phase_of(1));
    c.say("An1", release{1});
    EXPECT_TRUE(c.has_turn("A"));
    EXPECT_FALSE(c.has_turn("B"));
    c.say("An2", release{1});
    EXPECT_TRUE(c.has_turn("B"));
}

TEST(exchange, an_agent_without_a_phase_is_given_no_lease_though_its_application_has_the_turn) {
    conversation c(conversation::quick(policy::rule::fcfs));
    for (const char* node : {"n1", "n2"}) {
        c.connect(std::string("A") + node);
        c.say(std::string("A") + node, conversation::registration_of("A", node));
    }
    c.join("B");
    for (const char* who : {"An1", "An2"}) c.say(who, stopped{c.lease[who]});
    c.say("An1", phase_of(1));
    EXPECT_TRUE(c.has_turn("A"));
    EXPECT_EQ(c.grants["An2"].size(), 0U);
    c.connect("An3");
    c.say("An3", conversation::registration_of("A", "n3"));
    EXPECT_EQ(c.grants["An3"].size(), 0U);
    c.say("An2", phase_of(1));
    EXPECT_EQ(c.grants["An2"].size(), 1U);
}

TEST(exchange, a_standing_turn_that_one_agent_has_used_ends_when_the_others_have_given_it_back) {
    conversation c(conversation::quick(policy::rule::fcfs));
    for (const char* node : {"n1", "n2"}) {
        c.connect(std::string("A") + node);
        c.say(std::string("A") + node, conversation::registration_of("A", node));
    }
    const auto begin = [&](const char* who) {
        inform begun = phase_of(1);
        begun.lease = c.lease[who];
        c.say(who, begun);
    };
    begin("An1");
    c.join("B");
    c.say("B", phase_of(1));
    c.say("An1", release{1});
    EXPECT_FALSE(c.has_turn("B")) << "the other node may have begun a phase without asking";
    c.say("An2", stopped{c.lease["An2"]});
    c.say("An1", stopped{c.lease["An1"]});
    EXPECT_TRUE(c.has_turn("B"));
}

TEST(exchange, a_standing_turn_stands_on_behind_the_phase_of_one_of_two_agents) {
    conversation c(conversation::quick(policy::rule::fcfs));
    for (const char* node : {"n1", "n2"}) {
        c.connect(std::string("A") + node);
        c.say(std::string("A") + node, conversation::registration_of("A", node));
    }
    for (const uint64_t phase : {1, 2}) {
        for (const char* who : {"An1", "An2"}) {
            inform begun = phase_of(phase);
            begun.lease = c.lease[who];
            c.say(who, begun);
            EXPECT_TRUE(c.has_turn("A"));
            c.say(who, release{phase});
        }
    }
    EXPECT_EQ(c.told.counted().dropped_leases, 0U);
    EXPECT_EQ(c.told.counted().recalls, 0U);
}

TEST(exchange, a_release_gives_no_standing_turn_back_of_which_the_agent_has_not_heard) {
    conversation c(conversation::quick(policy::rule::fcfs));
    c.join("A");  // `standing` is on its way
    inform asks = phase_of(1);
    asks.fence = 1;  // seen before: it has not heard of `standing`
    c.say("A", asks);
    c.join("B");
    c.say("B", phase_of(1));
    c.say("A", release{1});
    EXPECT_FALSE(c.has_turn("B")) << "A hears of it now, and may begin without asking";
    c.say("A", stopped{c.lease["A"]});
    EXPECT_TRUE(c.has_turn("B"));
}

TEST(exchange, an_agent_that_has_come_back_keeps_the_standing_turn_that_it_is_told_of) {
    conversation c(conversation::quick(policy::rule::fcfs));
    c.join("A");
    c.break_off("A");
    c.join("A");
    c.pass(2, {"A"});
    EXPECT_EQ(c.of("A").turn, turn_stage::standing);
    EXPECT_EQ(c.of("A").lease, c.lease["A"]);
    EXPECT_EQ(c.told.counted().standing, 1U);
}

TEST(exchange, the_only_application_begins_without_asking_until_another_one_registers) {
    conversation c(conversation::quick(policy::rule::fcfs));
    c.join("A");
    EXPECT_EQ(c.look(), (transcript{"A -> register A", "A <- registered", "A <- standing lease 1"}));
    inform begun = phase_of(1);
    begun.lease = c.lease["A"];
    c.say("A", begun);
    c.say("A", release{1});
    EXPECT_EQ(c.look(), (transcript{"A -> inform phase 1", "A <- grant phase 1 lease 1", "A -> release phase 1",
                                    "A <- standing lease 4"}));
    c.join("B");
    c.say("B", phase_of(1));  // A may have begun: B has to wait for its answer
    EXPECT_EQ(c.look(), (transcript{"B -> register B", "B <- registered", "A <- recall lease 4", "B -> inform phase 1",
                                    "B <- wait phase 1"}));
    c.say("A", stopped{c.lease["A"]});
    EXPECT_TRUE(c.has_turn("B"));
}

TEST(exchange, no_account_is_charged_for_the_time_before_a_phase_that_begins_as_its_standing_turn_is_called_back) {
    conversation c(conversation::quick(policy::rule::fair_share));
    c.join("A", 1000);
    c.pass(100, {"A"});
    c.join("B", 1001);
    c.say("A", stopping{c.lease["A"], 0});
    inform begun = phase_of(1);
    begun.lease = c.lease["A"];
    c.say("A", begun);
    c.say("B", phase_of(1));
    c.say("A", stopped{c.lease["A"]});
    EXPECT_TRUE(c.has_turn("A")) << "it came first, and neither has had anything";
}

TEST(exchange, an_agent_that_waits_elsewhere_hands_its_turn_back) {
    conversation c = two_jobs(policy::rule::fcfs);
    c.say("A", phase_of(1));
    c.say("B", phase_of(1));
    c.look();
    c.say("A", stopped{c.lease["A"]});
    EXPECT_EQ(c.look(), (transcript{"A -> stopped lease 3", "B <- grant phase 1 lease 5"}));
    c.say("A", phase_of(2));
    EXPECT_FALSE(c.has_turn("A"));
}

TEST(exchange, applications_on_disjoint_targets_never_wait_for_each_other) {
    conversation c = two_jobs(policy::rule::fcfs);
    inform a = phase_of(1);
    a.targets = {1, 2};
    inform b = phase_of(1);
    b.targets = {3};
    c.say("A", a);
    c.say("B", b);
    EXPECT_TRUE(c.has_turn("A"));
    EXPECT_TRUE(c.has_turn("B"));
}

TEST(exchange, a_lease_is_what_the_link_moves_in_a_fifth_of_a_second) {
    conversation c = two_jobs(policy::rule::fcfs);
    c.say("A", phase_of(1));
    EXPECT_EQ(c.grants["A"].back().bytes, 4 << 20);  // not known yet
    for (int i = 0; i < 40; ++i) {
        c.now_s += 0.1;
        c.say("A", moved(1, c.lease["A"], 10'000'000));
    }
    EXPECT_EQ(c.grants["A"].back().bytes, 20'000'000);
    for (int i = 0; i < 40; ++i) {
        c.now_s += 0.1;
        c.say("A", moved(1, c.lease["A"], 1'000'000'000));
    }
    EXPECT_EQ(c.grants["A"].back().bytes, 64 << 20);
    uint64_t before = 0;
    for (const grant& one : c.grants["A"]) {
        EXPECT_GT(one.fence, before);
        EXPECT_EQ(one.lease, c.lease["A"]);
        before = one.fence;
    }
}

}  // namespace
}  // namespace halcyon::coordinate
