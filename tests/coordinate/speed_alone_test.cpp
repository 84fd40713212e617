// What a coordinator learns of the speed that applications have while nobody else moves.
#include <algorithm>

#include "coordinate/conversation.hpp"
#include "coordinate/coordinator/job.hpp"

namespace halcyon::coordinate {
namespace {

/// Share of the storage that an application was believed to take when a turn was given last.
double believed_demand(conversation& c, const std::string& job) {
    c.connect("root", 0, true);
    c.say("root", explain{});
    double found = -1;
    for (const auto& answer : c.answers["root"]) {
        const auto* const one = std::get_if<decided>(&answer);
        if (one == nullptr) continue;
        const auto at = std::ranges::find(one->jobs, job);
        if (at != one->jobs.end()) found = one->demands[static_cast<size_t>(at - one->jobs.begin())];
    }
    return found;
}

/// All may move at any time.
settings free_for_all() {
    settings how = conversation::quick(policy::rule::interfere);
    how.storage_bytes_per_s = 1e8;
    how.stalled_s = 3600;
    return how;
}

/// A has begun a phase on two nodes; the second one's agent is called A2.
conversation begun_on_two_nodes() {
    conversation c(free_for_all());
    c.join("A");
    c.connect("A2");
    c.say("A2", conversation::registration_of("A", "n2"));
    for (const char* const who : {"A", "A2"}) c.say(who, phase_of(1, 0, 1'000'000'000));
    return c;
}

TEST(speed_alone, adds_up_what_the_nodes_of_one_application_move_alone_by_the_time_of_all) {
    for (const int64_t of_first : {90, 50, 30}) {
        SCOPED_TRACE(of_first);
        conversation c = begun_on_two_nodes();
        for (int i = 0; i < 20; ++i) {
            c.now_s += 0.125;
            c.say("A", moved_in(0.25, of_first * 250'000, c.lease["A"]));
            c.now_s += 0.125;
            c.say("A2", moved_in(0.25, 2'500'000, c.lease["A2"]));
        }
        c.join("B");
        c.say("B", phase_of(1, 0, 1'000'000'000));
        const double expected = static_cast<double>(of_first + 10) / 100;
        EXPECT_NEAR(believed_demand(c, "A"), expected, 0.02);
    }
}

TEST(speed_alone, knows_no_speed_alone_before_each_node_had_the_time_to_tell_of_its_part) {
    for (const double later_s : {0.0, 0.2}) {
        conversation c = begun_on_two_nodes();
        c.now_s += 0.4;
        c.say("A", moved_in(0.25, 10'000'000, c.lease["A"]));
        c.now_s += later_s;
        c.say("A", moved_in(0.01, 400'000, c.lease["A"]));
        c.join("B");
        c.say("B", phase_of(1, 0, 1'000'000'000));
        EXPECT_EQ(believed_demand(c, "B"), later_s > 0 ? 0.4 : 1);
    }
}

TEST(speed_alone, stays_known_where_one_more_node_begins_that_has_told_nothing_yet) {
    for (const double known_for_s : {0.4, 0.6}) {
        SCOPED_TRACE(known_for_s);
        const bool is_known = known_for_s > 0.5;
        job one;
        for (int i = 0; i < 2; ++i) one.begin_phase(one.agents.emplace_back(), inform{});
        one.agents[0].alone.add(1e8 * known_for_s, known_for_s);
        one.agents[1].phase_told_s = 10;
        EXPECT_EQ(one.alone(10.4).is_known(), is_known);
        EXPECT_NEAR(one.alone(10.4).bytes_per_s, is_known ? 1e8 : 0, 1);
        EXPECT_EQ(one.alone(10.4).is_known() && one.alone(10.4).of_all, false) << "nothing is learnt of a part";
        EXPECT_TRUE(one.alone(10.6).of_all) << "it moves nothing";
        one.agents[1].phase->bytes_moved = 1;
        EXPECT_NEAR(one.alone(10.6).bytes_per_s, 2e8, 1) << "as fast as the other one";
    }
}

TEST(speed_alone, stays_known_where_one_more_node_has_told_of_a_moment_alone) {
    job one;
    for (int i = 0; i < 2; ++i) one.begin_phase(one.agents.emplace_back(), inform{});
    one.agents[0].alone.add(1e8, 1);
    one.agents[1].phase_told_s = 10;
    one.agents[1].alone.add(5e6, 0.1);  // then another application begins
    EXPECT_TRUE(one.alone(10.3).is_known());
    EXPECT_NEAR(one.alone(10.3).bytes_per_s, 1e8, 1);
    EXPECT_FALSE(one.alone(10.3).of_all) << "nothing is learnt of a part";
    EXPECT_TRUE(one.alone(10.6).is_known());
    EXPECT_NEAR(one.alone(10.6).bytes_per_s, 1.5e8, 1);
    EXPECT_TRUE(one.alone(10.6).of_all);
    one.storage.bytes_per_s = 1e9;
    one.fills_storage = true;
    EXPECT_NEAR(one.most_demand(60), 0.15, 1e-9) << "for as long as they move side by side";
}

TEST(speed_alone, takes_nodes_whose_calls_go_on_for_as_fast_as_those_that_are_known) {
    conversation c = begun_on_two_nodes();
    for (int i = 0; i < 6; ++i) {
        c.now_s += 0.125;
        c.say("A", moved_in(0.125, 2'500'000, c.lease["A"]));
        // Its first call has begun, and has not ended.
        c.say("A2", moved_in(0.125, i == 0 ? 100'000'000 : 0, c.lease["A2"], 1));
    }
    c.join("B");
    c.say("B", phase_of(1, 0, 1'000'000'000));
    EXPECT_NEAR(believed_demand(c, "A"), 0.4, 1e-9) << "twice of what one node moves";
    EXPECT_EQ(believed_demand(c, "B"), 1) << "nothing was learnt of a part";
}

TEST(speed_alone, takes_no_speed_alone_from_a_call_that_began_beside_another_application) {
    conversation c(free_for_all());
    c.join("A");
    c.join("B");
    c.say("A", phase_of(1, 0, 1'000'000'000));
    c.say("B", phase_of(1, 0, 1'000'000'000));
    constexpr int long_call = 40;
    for (int i = 0; i < long_call + 4; ++i) {
        c.now_s += 0.25;
        if (i < 36) c.say("B", moved_in(0.25, 1'000'000, c.lease["B"]));
        if (i == 36) c.say("B", release{1});
        const int64_t begins = i == 0 ? 100'000'000 : i < long_call ? 0 : 12'500'000;
        c.say("A", moved_in(0.25, begins, c.lease["A"], i < long_call - 1 ? 1 : 0));
    }
    c.say("B", phase_of(2, 0, 1'000'000'000));
    EXPECT_NEAR(believed_demand(c, "A"), 0.5, 1e-9);
}

/// While an application is called back, some of its processes have stopped and the others move the rest.
TEST(speed_alone, learns_no_speed_alone_of_the_time_in_which_an_application_stops) {
    settings how = free_for_all();
    how.rule = policy::rule::interrupt;
    conversation c(how);
    for (const char* const who : {"A", "B"}) c.join(who);
    c.say("A", phase_of(1, 0, 1'000'000'000));
    for (int i = 0; i < 3; ++i) {
        c.now_s += 0.125;
        c.say("A", moved_in(0.125, 12'500'000, c.lease["A"], 1));
    }
    c.say("B", phase_of(1, 0, 100'000'000));
    ASSERT_EQ(c.of("A").turn, turn_stage::recalled);
    c.now_s += 0.25;
    c.say("A", moved_in(0.25, 5'000'000, c.lease["A"]));
    c.say("A", stopped{c.lease["A"]});
    ASSERT_TRUE(c.has_turn("B"));
    EXPECT_EQ(believed_demand(c, "A"), 1) << "five eighths of a second would be known, two of them slow";
}

TEST(speed_alone, takes_a_larger_application_for_as_many_times_faster_than_those_that_moved_alone) {
    const std::vector<std::pair<int64_t, int64_t>> sizes = {{1, 1}, {2, 1}, {1, 3}};
    for (const auto& [processes, nodes] : sizes) {
        SCOPED_TRACE(testing::Message() << processes << " processes, " << nodes << " nodes");
        settings how = free_for_all();
        how.storage_bytes_per_s = 4e8;
        conversation c(how);
        c.join("A");
        c.say("A", phase_of(1, 0, 1'000'000'000));
        move_a(c, 8);
        c.connect("B");
        registration larger = conversation::registration_of("B");
        larger.processes = processes;
        larger.nodes = nodes;
        c.say("B", larger);
        c.say("B", phase_of(1, 0, 1'000'000'000));
        EXPECT_NEAR(believed_demand(c, "B"), 0.25 * static_cast<double>(std::max(processes, nodes)), 1e-9);
    }
}

TEST(speed_alone, takes_an_application_for_as_large_as_the_fastest_of_the_latest_ones_however_long_a_slow_one_moved) {
    conversation c(free_for_all());
    for (const char* const who : {"A", "L", "B"}) c.join(who);
    c.say("A", stopped{c.lease["A"]});  // of the standing turn
    c.say("A", phase_of(1, 0, 1'000'000'000));
    move(c, "A", 20, 17'500'000);
    c.say("A", release{1});
    c.say("L", phase_of(1, 0, 1'000'000'000));
    move(c, "L", 240, 250'000);
    c.say("B", phase_of(1, 0, 1'000'000'000));
    EXPECT_NEAR(believed_demand(c, "L"), 0.01, 1e-6);
    EXPECT_NEAR(believed_demand(c, "B"), 0.7, 1e-6);
    for (int i = 0; i < 8; ++i) {  // all that came later are slow
        const std::string who = "L" + std::to_string(i);
        c.say(i == 0 ? "L" : "L" + std::to_string(i - 1), release{1});
        if (i == 0) c.say("B", release{1});
        c.join(who);
        c.say(who, phase_of(1, 0, 1'000'000'000));
        for (int k = 0; k < 4; ++k) {
            c.now_s += 0.25;
            c.say(who, moved_in(0.25, 250'000, c.lease[who]));
        }
    }
    c.say("B", phase_of(2, 0, 1'000'000'000));
    EXPECT_NEAR(believed_demand(c, "B"), 0.01, 0.005);
}

TEST(speed_alone, learns_no_speed_alone_while_others_move_unasked) {
    for (const bool unasked : {false, true}) {
        settings how = free_for_all();
        how.rule = policy::rule::fcfs;
        how.bounds.starvation_s = 3600;
        conversation c(how);
        for (const char* const who : {"A", "L"}) c.join(who);
        c.say("A", stopped{c.lease["A"]});  // of the standing turn
        c.say("A", phase_of(1, 0, 1'000'000'000));
        c.say("L", phase_of(1, 0, 1'000'000'000));
        move_a(c, 8);
        for (int i = 0; i < 80; ++i) {
            c.now_s += 0.25;
            if (unasked) c.say("L", progress{.lease = 0, .bytes_moved = 12'500'000});
            c.say("A", moved_in(0.25, 12'500'000, c.lease["A"]));
        }
        for (const char* const who : {"L", "A"}) c.say(who, release{1});
        c.say("A", phase_of(2, 0, 1'000'000'000));
        EXPECT_EQ(believed_demand(c, "A") > 0.9, unasked);
    }
}

}  // namespace
}  // namespace halcyon::coordinate
