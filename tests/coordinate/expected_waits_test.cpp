// How long those that wait are told that they will: by the policy in force, and not by the order of arrival.
#include <algorithm>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "coordinate/conversation.hpp"

namespace halcyon::coordinate {
namespace {

struct phase_of_job {
    std::string job;
    double left_s = 1;
    double demand = 1;
    std::vector<uint32_t> targets = {};
};

/// Begins phases, of a user each, a millisecond one after the other. Whoever is called back stops at once.
conversation begun(const settings& how, const std::vector<phase_of_job>& all) {
    conversation c(how);
    uint32_t user = 1000;
    for (const phase_of_job& one : all) c.join(one.job, user++);
    c.say(all.front().job, stopped{c.lease[all.front().job]});
    for (const phase_of_job& one : all) {
        c.now_s += 0.001;
        inform what = phase_of(1, one.left_s);
        what.demand = one.demand;
        what.targets = one.targets;
        c.say(one.job, what);
        for (const phase_of_job& other : all)
            if (c.of(other.job).turn == turn_stage::recalled) c.say(other.job, stopped{c.lease[other.job]});
    }
    return c;
}

std::vector<double> waits_told(const conversation& c, const std::string& job) {
    std::vector<double> found;
    for (const from_coordinator& one : c.answers.at(job))
        if (const auto* const told = std::get_if<wait>(&one)) found.push_back(told->expected_s);
    return found;
}

constexpr int64_t bytes_per_s = 100'000'000;

TEST(expected_waits, under_fcfs_are_for_all_that_came_before) {
    conversation c = begun(conversation::quick(policy::rule::fcfs), {{"A", 10}, {"B", 3}, {"C", 1}});
    EXPECT_TRUE(c.has_turn("A"));
    EXPECT_EQ(c.of("A").expected_wait_s, 0);
    EXPECT_NEAR(c.of("B").expected_wait_s, 10, 0.01);
    EXPECT_NEAR(c.of("C").expected_wait_s, 13, 0.01);
    EXPECT_NEAR(waits_told(c, "C").back(), 13, 0.01);
}

TEST(expected_waits, under_interrupt_are_for_all_that_came_later) {
    conversation c = begun(conversation::quick(policy::rule::interrupt), {{"A", 10}, {"B", 3}, {"C", 1}});
    EXPECT_TRUE(c.has_turn("C"));
    EXPECT_NEAR(c.of("B").expected_wait_s, 1, 0.01);
    EXPECT_NEAR(c.of("A").expected_wait_s, 4, 0.01);
    EXPECT_EQ(waits_told(c, "C").front(), 0) << "it had only to wait until B has stopped";
}

TEST(expected_waits, under_dynamic_are_in_the_order_that_is_decided) {
    settings how = conversation::quick(policy::rule::dynamic);
    how.metric = policy::metric::sum_of_times;
    conversation c = begun(how, {{"A", 1}, {"B", 5}, {"C", 2}});
    EXPECT_TRUE(c.has_turn("A"));
    EXPECT_NEAR(c.of("C").expected_wait_s, 1, 0.01);
    EXPECT_NEAR(c.of("B").expected_wait_s, 3, 0.01);
    EXPECT_NEAR(waits_told(c, "C").back(), 1, 0.01);
    EXPECT_NEAR(waits_told(c, "B").back(), 1, 0.01) << "before C came";
    c.pass(0.3, {"A", "B", "C"}, bytes_per_s);
    EXPECT_NEAR(waits_told(c, "B").back(), 2.85, 0.15) << "with a heartbeat";
}

TEST(expected_waits, under_dynamic_end_with_those_that_move_side_by_side) {
    settings how = conversation::quick(policy::rule::dynamic);
    how.metric = policy::metric::sum_of_times;
    conversation c = begun(how, {{"A", 4, 0.5}, {"B", 4, 0.5}, {"C", 4, 0.5}});
    EXPECT_TRUE(c.has_turn("A") && c.has_turn("B"));
    EXPECT_NEAR(c.of("C").expected_wait_s, 4, 0.05);
    EXPECT_NEAR(waits_told(c, "C").back(), 8, 0.05) << "at once, with no decision but the one that is made";
    c.pass(0.3, {"A", "B", "C"}, bytes_per_s);
    EXPECT_NEAR(waits_told(c, "C").back(), 3.85, 0.15) << "with a heartbeat";
}

TEST(expected_waits, under_fair_share_end_with_slices) {
    conversation c = begun(conversation::quick(policy::rule::fair_share), {{"A", 10}, {"B", 3}, {"C", 1}});
    EXPECT_TRUE(c.has_turn("A"));
    EXPECT_NEAR(c.of("B").expected_wait_s, 0.5, 0.01);
    EXPECT_NEAR(c.of("C").expected_wait_s, 1, 0.01);
    EXPECT_NEAR(waits_told(c, "C").back(), 1, 0.01);
}

TEST(expected_waits, under_set_10_end_with_slices_of_longer_sets) {
    // Sets 2, 1 and 0: B and C go first, and then A has had too much for long.
    conversation c = begun(conversation::quick(policy::rule::set_10), {{"A", 100}, {"B", 10}, {"C", 1}});
    EXPECT_TRUE(c.has_turn("A"));
    EXPECT_NEAR(c.of("B").expected_wait_s, 0.5, 0.01);
    EXPECT_NEAR(c.of("C").expected_wait_s, 1, 0.01);
    EXPECT_NEAR(waits_told(c, "C").back(), 1, 0.01);
}

TEST(expected_waits, under_delay_end_as_soon_as_those_before_tolerate_it) {
    // Half as fast beside B from d on, A needs d + 2 (10 - d): 12.5 s where d = 7.5.
    conversation c = begun(conversation::quick(policy::rule::delay), {{"A", 10}, {"B", 10}});
    EXPECT_NEAR(c.of("B").expected_wait_s, 7.5, 0.01);
    // 1 s of B's makes A need 11 s.
    c = begun(conversation::quick(policy::rule::delay), {{"A", 10}, {"B", 1}});
    EXPECT_LE(c.of("B").expected_wait_s, all_begin_within_s) << "until it shows how large it is";
    c.pass(all_begin_within_s + 0.01, {"A", "B"}, bytes_per_s);
    EXPECT_TRUE(c.has_turn("B"));
}

TEST(expected_waits, under_interfere_are_none) {
    conversation c = begun(conversation::quick(policy::rule::interfere), {{"A", 10}, {"B", 3}, {"C", 1}});
    for (const char* job : {"A", "B", "C"}) {
        EXPECT_TRUE(c.has_turn(job)) << job;
        EXPECT_EQ(c.of(job).expected_wait_s, 0) << job;
        EXPECT_EQ(waits_told(c, job), std::vector<double>{}) << job;
    }
}

TEST(expected_waits, are_for_those_alone_that_use_the_same_storage) {
    conversation c = begun(conversation::quick(policy::rule::fcfs),
                           {{"A", 10, 1, {1}}, {"B", 4, 1, {2}}, {"C", 3, 1, {1, 2}}, {"D", 1, 1, {2}}});
    EXPECT_TRUE(c.has_turn("A") && c.has_turn("B"));
    EXPECT_NEAR(c.of("D").expected_wait_s, 4, 0.01) << "C, which came before, has to wait for A";
    EXPECT_NEAR(c.of("C").expected_wait_s, 10, 0.01);
}

TEST(expected_waits, are_no_longer_than_anybody_waits) {
    conversation c = begun(conversation::quick(policy::rule::fcfs), {{"A", 100}, {"B", 100}, {"C", 100}});
    EXPECT_NEAR(c.of("B").expected_wait_s, 30, 0.01);
    EXPECT_NEAR(c.of("C").expected_wait_s, 30, 0.01);
    EXPECT_NEAR(waits_told(c, "C").back(), 30, 0.01);
}

/// Each policy: what is told first is what comes, where all move as they said.
TEST(expected_waits, are_what_comes) {
    using policy::rule;
    for (const rule by : {rule::fcfs, rule::delay, rule::fair_share, rule::set_10, rule::dynamic}) {
        settings how = conversation::quick(by);
        how.metric = policy::metric::sum_of_times;
        const std::vector<phase_of_job> all = {{"A", 1}, {"B", 3}, {"C", 2}, {"D", 0.6}};
        conversation c = begun(how, all);
        std::map<std::string, double> expected_s, came_s, left_s;
        for (const phase_of_job& one : all) {
            expected_s[one.job] = c.of(one.job).expected_wait_s;
            left_s[one.job] = one.left_s;
        }
        const double begin_s = c.now_s;
        constexpr double step_s = 0.01;
        while (came_s.size() < all.size() && c.now_s < begin_s + 20) {
            double movers = 0;
            for (const phase_of_job& one : all) movers += left_s[one.job] > 0 && c.has_turn(one.job) ? 1 : 0;
            movers = std::max(movers, 1.0);  // one is stopped, and another one begins
            for (const phase_of_job& one : all) {
                if (left_s[one.job] <= 0) continue;
                const turn_stage turn = c.of(one.job).turn;
                if (turn == turn_stage::recalled) c.say(one.job, stopped{c.lease[one.job]});
                if (turn != turn_stage::held) continue;
                came_s.try_emplace(one.job, c.now_s - begin_s);
                left_s[one.job] -= step_s / movers;
                if (left_s[one.job] <= 1e-9) {
                    c.say(one.job, release{1});
                    continue;
                }
                progress moved =
                    moved_in(step_s, static_cast<int64_t>(step_s / movers * bytes_per_s), c.lease[one.job]);
                moved.left_s = left_s[one.job];
                moved.speed = 1 / movers;
                c.say(one.job, moved);
            }
            c.pass(step_s, {"A", "B", "C", "D"});
        }
        for (const phase_of_job& one : all) {
            ASSERT_TRUE(came_s.contains(one.job)) << policy::name_of(by) << ", " << one.job;
            EXPECT_NEAR(came_s[one.job], expected_s[one.job], 0.1 + 0.05 * came_s[one.job])
                << policy::name_of(by) << ", " << one.job;
        }
    }
}

}  // namespace
}  // namespace halcyon::coordinate
