#include "policy/look_ahead.hpp"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <vector>

#include "policy/every_rule.hpp"
#include "policy/random_group.hpp"

namespace halcyon::policy {
namespace {

constexpr size_t all_of_them = SIZE_MAX;

settings how_decided(double starvation_s) {
    settings how;
    how.starvation_s = starvation_s;
    how.ask_again_s = 1e9;
    how.search_positions = 64;  // as many as a look ahead has
    return how;
}

/// Now is 0. Who arrives later is still to come.
std::vector<application> at_the_begin(const random_group& of) {
    std::vector<application> all = of.all;
    for (application& one : all) {
        one.state = one.arrived_s > 0 ? movement::computing : movement::waiting;
        one.since_s = one.arrived_s;
    }
    return all;
}

/// Of each, in the given order, from the decision at 0 on.
std::vector<double> seen_ahead(const random_group& of, rule by, const settings& how, size_t applications) {
    const std::vector<application> all = at_the_begin(of);
    const situation now{all, &of.learned};
    decider some;
    const decision first = some.decide(now, by, metric::cpu_hours, 0, how);
    outlook from;
    from.storage = {{}, &of.learned};
    from.by = by;
    from.minimise = metric::cpu_hours;
    from.how = how;
    from.move = first.move;
    from.until_s = first.ask_again_s;
    from.applications = applications;
    look_ahead ahead;
    for (const application& one : all) {
        application& added = ahead.add(one.arrived_s);
        added = one;
        added.state = movement::waiting;
    }
    ahead.look(from, some);
    std::vector<double> found;
    for (size_t i = 0; i < all.size(); ++i) found.push_back(ahead.turn_in_s(i));
    return found;
}

/// When each moves first, if decisions are carried out one after the other.
std::vector<double> played(const random_group& of, rule by, const settings& how) {
    std::map<uint64_t, double> first_s;
    play all(of.all, by, metric::cpu_hours, how);
    all.learned = &of.learned;
    all.look = [&](const decision& made, double now_s) {
        for (const uint64_t id : made.move) first_s.try_emplace(id, now_s);
    };
    all.times();
    std::vector<double> found;
    for (const application& one : of.all) found.push_back(first_s.at(one.id));
    return found;
}

TEST(look_ahead, sees_the_turns_that_come_of_each_rule) {
    std::mt19937_64 random(1);
    for (const rule by : every_rule) {
        uint32_t waited = 0;
        for (uint32_t k = 0; k < 48; ++k) {
            random_group some = make_group(random, 2 + k % 7, k % 8);
            for (size_t i = 0; i < some.all.size(); ++i) {
                some.all[i].account = static_cast<uint32_t>(i % 3);
                if (k % 5 == 4) some.all[i].targets = {static_cast<uint32_t>(i % 2), static_cast<uint32_t>(2 + i % 3)};
            }
            const settings how = how_decided(k % 3 == 2 ? 10 : 1e6);
            const std::vector<double> turns = seen_ahead(some, by, how, all_of_them), come = played(some, by, how);
            for (size_t i = 0; i < turns.size(); ++i) {
                ASSERT_NEAR(turns[i], come[i], 1e-6 * (1 + come[i])) << name_of(by) << ", " << k << ", " << i;
                waited += turns[i] > some.all[i].arrived_s + 0.1 ? 1 : 0;
            }
        }
        // Of some 250.
        EXPECT_TRUE(by == rule::interfere ? waited == 0 : waited > 60) << name_of(by) << ": " << waited;
    }
}

TEST(look_ahead, lets_the_rest_follow_in_the_order_of_the_rule_where_it_may_not_decide) {
    std::mt19937_64 random(2);
    for (const rule by : {rule::interfere, rule::fcfs, rule::interrupt, rule::fair_share, rule::dynamic}) {
        for (uint32_t k = 0; k < 20; ++k) {
            // All saturate the storage: no overlap gains.
            random_group some = make_group(random, 2 + k % 7, 0);
            for (size_t i = 0; i < some.all.size(); ++i) {
                some.all[i].account = static_cast<uint32_t>(i);
                some.all[i].arrived_s = -0.01 * static_cast<double>(i);
            }
            const settings how = how_decided(1e6);
            const std::vector<double> turns = seen_ahead(some, by, how, 0);
            const std::vector<double> come = seen_ahead(some, by, how, all_of_them);
            for (size_t i = 0; i < turns.size(); ++i)
                ASSERT_NEAR(turns[i], come[i], 1e-6 * (1 + come[i])) << name_of(by) << ", " << k << ", " << i;
        }
    }
}

application half(uint64_t id, double arrived_s) {
    application made = phase(id, arrived_s, 4);
    made.demand = 0.5;
    return made;
}

TEST(look_ahead, takes_those_that_move_side_by_side_for_one_after_the_other_only_where_it_may_not_decide) {
    random_group some;
    some.all = {half(1, -3e-3), half(2, -2e-3), half(3, -1e-3)};
    const settings how = how_decided(1e6);
    EXPECT_NEAR(seen_ahead(some, rule::dynamic, how, all_of_them).back(), 4, 1e-6);
    EXPECT_NEAR(seen_ahead(some, rule::dynamic, how, 2).back(), 8, 1e-6) << "three are there: one more than it may";
}

TEST(look_ahead, may_decide_less_where_many_are_barred) {
    for (const size_t barred : {0, 15, 16, 32}) {
        random_group some;
        some.all = {half(1, -3e-3), half(2, -2e-3), half(3, -1e-3)};
        for (size_t i = 0; i < barred; ++i) some.all.push_back(half(4 + i, 300));
        const settings how = how_decided(1e6);
        for (const size_t applications : {3, 4, 5})
            EXPECT_NEAR(seen_ahead(some, rule::dynamic, how, applications)[2], applications < 3 + barred / 16 ? 8 : 4,
                        1e-6)
                << barred << " are barred, and it may decide about " << applications;
    }
}

TEST(look_ahead, sees_nobody_wait_longer_than_the_bound_whether_it_decides_or_not) {
    random_group some;
    for (uint64_t id = 1; id <= 5; ++id) some.all.push_back(phase(id, -1e-3 * static_cast<double>(10 - id), 100));
    const settings how = how_decided(30);
    for (const size_t applications : {size_t{0}, all_of_them}) {
        const std::vector<double> turns = seen_ahead(some, rule::fcfs, how, applications);
        EXPECT_EQ(turns[0], 0);
        for (size_t i = 1; i < turns.size(); ++i) EXPECT_NEAR(turns[i], 30 + some.all[i].arrived_s, 1e-6) << i;
    }
}

TEST(look_ahead, lets_those_that_are_barred_take_part_when_that_is_over) {
    random_group some;
    some.all = {phase(1, -3e-3, 5), phase(2, -2e-3, 5), phase(3, -1e-3, 5)};
    const settings how = how_decided(1e6);
    for (const double barred_s : {2.0, 7.0, 20.0}) {
        look_ahead ahead;
        decider some_decider;
        const uint64_t first = 1;
        outlook from;
        from.by = rule::fcfs;
        from.how = how;
        from.move = std::span(&first, 1);
        from.until_s = 1e9;
        for (const size_t applications : {size_t{0}, all_of_them}) {
            from.applications = applications;
            ahead.clear();
            for (const application& one : some.all) {
                application& added = ahead.add(one.id == 2 ? barred_s : 0);
                added = one;
                added.state = movement::waiting;
            }
            ahead.look(from, some_decider);
            EXPECT_EQ(ahead.turn_in_s(0), 0);
            if (applications > 0) {
                EXPECT_NEAR(ahead.turn_in_s(1), barred_s < 5 ? 5 : barred_s < 10 ? 7 : 20, 1e-6) << barred_s;
                EXPECT_NEAR(ahead.turn_in_s(2), barred_s < 5 ? 10 : 5, 1e-6) << barred_s;
            } else {
                EXPECT_NEAR(ahead.turn_in_s(1), std::max(5.0, barred_s), 1e-6) << barred_s;
            }
        }
    }
}

}  // namespace
}  // namespace halcyon::policy
