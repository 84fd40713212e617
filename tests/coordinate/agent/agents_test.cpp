// Agents and a coordinator together.
#include <algorithm>

#include "coordinate/agent/simulated_jobs.hpp"

namespace halcyon::coordinate {
namespace {

settings by(policy::rule rule) {
    settings how;
    how.rule = rule;
    how.interference.pairs = 64;
    return how;
}

/// Until all phases have ended; `each` after each step.
template <class Each>
void run(simulated_jobs& jobs, Each each, double most_s = 120) {
    const auto done = [&] {
        return std::all_of(jobs.nodes().begin(), jobs.nodes().end(), [](const auto& one) { return one->has_ended(); });
    };
    const double until_s = jobs.now_s + most_s;
    while (!done()) {
        jobs.step();
        each();
        ASSERT_LT(jobs.now_s, until_s) << "not everybody was served";
    }
}

/// No two jobs move under leases at a time.
void expect_one_mover(const std::vector<const simulated_node*>& first, const std::vector<const simulated_node*>& second,
                      double now_s) {
    const auto moving = [](const simulated_node* one) { return one->is_moving(); };
    const bool both =
        std::any_of(first.begin(), first.end(), moving) && std::any_of(second.begin(), second.end(), moving);
    EXPECT_FALSE(both) << "at " << now_s;
}

TEST(agents, let_one_job_alone_move_without_a_wait_under_a_standing_turn) {
    simulated_jobs jobs(by(policy::rule::fcfs), 1);
    simulated_node& a = jobs.add("A", "n1", 2);
    const shared_file_system& here = a.shared.shared().file_system[0];
    a.all[0].begin_phase(100, 0);
    run(jobs, [] {});
    for (int i = 0; i < 1000; ++i) jobs.step();
    EXPECT_EQ(turn_word::state(here.turn), permission::standing);
    a.all[0].begin_phase(200, 0);
    int waits = 0;
    run(jobs, [&] { waits += a.all[0].waits() ? 1 : 0; });
    EXPECT_LT(waits, 20);  // steps in which a lease was renewed
    for (int i = 0; i < 1000; ++i) jobs.step();
    EXPECT_EQ(turn_word::state(here.turn), permission::standing);
    EXPECT_EQ(a.agent.counted().refused_fences + a.agent.counted().voided + a.agent.counted().silences, 0U);
    EXPECT_EQ(jobs.daemon().counted().dropped_answers, 0U);
}

/// Two that each fill the storage never move at once.
bool takes_turns_alone(policy::rule by) {
    return by != policy::rule::interfere && by != policy::rule::delay;
}

class agents_of_two_jobs : public testing::TestWithParam<policy::rule> {};

TEST_P(agents_of_two_jobs, take_turns_and_are_all_served) {
    for (unsigned seed = 1; seed <= 10; ++seed) {
        simulated_jobs jobs(by(GetParam()), seed);
        jobs.longest_flight_s = seed % 2 == 0 ? 0.005 : 0;
        simulated_node& a = jobs.add("A", "n1", 3);
        simulated_node& b = jobs.add("B", "n2", 2);
        for (int i = 0; i < 500; ++i) jobs.step();
        for (simulated_process& one : a.all) one.begin_phase(2000, 0);
        for (unsigned i = 0; i < 100 * seed; ++i) jobs.step();
        for (simulated_process& one : b.all) one.begin_phase(300, 0);
        run(jobs, [&] {
            if (takes_turns_alone(GetParam())) expect_one_mover({&a}, {&b}, jobs.now_s);
        });
        EXPECT_EQ(jobs.daemon().counted().overdue_stops, 0U);
        EXPECT_EQ(jobs.daemon().counted().stalled_holders, 0U);
        EXPECT_EQ(a.shared.observe(0, 0, 1).unasked, 0);
    }
}

INSTANTIATE_TEST_SUITE_P(under, agents_of_two_jobs,
                         testing::Values(policy::rule::interfere, policy::rule::fcfs, policy::rule::interrupt,
                                         policy::rule::delay, policy::rule::fair_share, policy::rule::set_10,
                                         policy::rule::dynamic),
                         [](const auto& one) {
                             std::string name = policy::name_of(one.param);
                             std::erase(name, '-');
                             return name;
                         });

TEST(agents, give_no_turn_back_under_a_call_that_begins_as_its_phase_ends) {
    int ended = 0;
    for (unsigned seed = 1; seed <= 10; ++seed) {
        simulated_jobs jobs(by(policy::rule::fcfs), seed);
        simulated_node& a = jobs.add("A", "n1", 1);
        simulated_node& b = jobs.add("B", "n2", 1);
        for (int i = 0; i < 500; ++i) jobs.step();
        // Pauses of ten looks, after which a phase is over.
        jobs.behind_look = [&](simulated_node& one) {
            if (one.has_ended() && jobs.chance(0.1)) one.all[0].begin_phase(3, 0);
            one.all[0].begin_call();
        };
        for (int i = 0; i < 5000; ++i) {
            jobs.step();
            expect_one_mover({&a}, {&b}, jobs.now_s);
        }
        ended += static_cast<int>(a.agent.counted().phases + b.agent.counted().phases);
    }
    EXPECT_GT(ended, 1000);
}

// One job of the user has lost its turn since it moved nothing: the others have 50 ms to show that they do.
TEST(agents, of_a_user_of_whom_one_job_has_stalled_keep_a_turn_whose_first_calls_take_long) {
    simulated_jobs jobs(by(policy::rule::fcfs), 1);
    simulated_node& stalls = jobs.add("stalls", "n1", 1);
    simulated_node& other = jobs.add("other", "n2", 1);
    process_part& of_stalled = stalls.shared.shared().slots[0].at[0];
    of_stalled.waiting = 1;
    for (int i = 0; i < 500; ++i) jobs.step();
    other.all[0].begin_phase(10, 0);
    while (jobs.daemon().counted().stalled_holders == 0 && jobs.now_s < 20) jobs.step();
    ASSERT_EQ(jobs.daemon().counted().stalled_holders, 1U);
    of_stalled.waiting = 0;
    for (int i = 0; i < 6000; ++i) jobs.step();
    simulated_node& late = jobs.add("late", "n3", 1);
    for (int i = 0; i < 500; ++i) jobs.step();
    late.all[0].begin_phase(10, 0);
    while (!late.is_moving() && jobs.now_s < 40) jobs.step();
    late.slow_until_s = jobs.now_s + 0.2;
    for (int i = 0; i < 60; ++i) jobs.step();
    EXPECT_TRUE(late.is_moving());
    other.all[0].begin_phase(5, 0);
    run(jobs, [] {});
    EXPECT_EQ(jobs.daemon().counted().stalled_holders, 1U);
    EXPECT_EQ(late.agent.counted().voided, 0U);
}

TEST(agents, stop_the_nodes_of_a_job_at_the_same_round) {
    int interrupted = 0;
    for (unsigned seed = 1; seed <= 30; ++seed) {
        simulated_jobs jobs(by(policy::rule::interrupt), seed);
        simulated_node& a1 = jobs.add("A", "n1", 1);
        simulated_node& a2 = jobs.add("A", "n2", 1);
        simulated_node& b = jobs.add("B", "n3", 1);
        for (int i = 0; i < 500; ++i) jobs.step();
        a1.all[0].exchanges_with(a2.all[0]);
        a2.all[0].exchanges_with(a1.all[0]);
        a1.all[0].begin_phase(1000, 5);
        a2.all[0].begin_phase(1000, 5);
        for (unsigned i = 0; i < 50 + seed; ++i) jobs.step();
        b.all[0].begin_phase(100, 0);
        bool stood = false;
        run(jobs, [&] {
            expect_one_mover({&a1, &a2}, {&b}, jobs.now_s);
            if (!b.is_moving()) return;
            stood = true;
            EXPECT_EQ(a1.all[0].done(), a2.all[0].done()) << "seed " << seed << " at " << jobs.now_s;
        });
        interrupted += stood ? 1 : 0;
    }
    EXPECT_EQ(interrupted, 30);
}

/// B comes while the messages of A's end are under way, so that A is asked to stop what it has given back.
void begin_again_though_a_recall_crossed_the_release(int nodes_of_a) {
    int crossed = 0;
    for (unsigned seed = 1; seed <= 60; ++seed) {
        simulated_jobs jobs(by(policy::rule::interrupt), seed);
        jobs.longest_flight_s = 0.005;
        std::vector<simulated_node*> of_a;
        for (int i = 1; i <= nodes_of_a; ++i) of_a.push_back(&jobs.add("A", "n" + std::to_string(i), 1));
        simulated_node& b = jobs.add("B", "b", 1);
        jobs.hears = [&](simulated_node&, const from_coordinator& what) {
            crossed += std::holds_alternative<voided>(what) ? 1 : 0;
        };
        for (int i = 0; i < 1000; ++i) jobs.step();
        for (simulated_node* const one : of_a) one->all[0].begin_phase(20, 0);
        const auto ended = [&] { return std::ranges::all_of(of_a, [](auto* one) { return one->has_ended(); }); };
        while (!ended()) jobs.step();
        for (unsigned i = 0; i < 5 + seed % 12; ++i) jobs.step();
        b.all[0].begin_phase(10, 0);
        for (int i = 0; i < 300; ++i) jobs.step();
        for (simulated_node* const one : of_a) one->all[0].begin_phase(20, 0);
        run(
            jobs, [] {}, 3);
        for (int i = 0; i < 300; ++i) jobs.step();
        for (simulated_node* const one : of_a) EXPECT_EQ(one->agent.counted().voided, 0U) << "seed " << seed;
    }
    EXPECT_GT(crossed, 0);
}

TEST(agents, begin_their_next_phase_though_a_recall_crossed_their_release) {
    begin_again_though_a_recall_crossed_the_release(1);
}

TEST(agents, of_one_job_begin_their_next_phase_though_a_recall_crossed_all_their_releases) {
    begin_again_though_a_recall_crossed_the_release(2);
}

TEST(agents, let_io_go_on_when_the_coordinator_dies_and_take_turns_again_with_the_next_one) {
    for (unsigned seed = 1; seed <= 10; ++seed) {
        simulated_jobs jobs(by(policy::rule::fcfs), seed);
        simulated_node& a = jobs.add("A", "n1", 1);
        simulated_node& b = jobs.add("B", "n2", 1);
        for (int i = 0; i < 500; ++i) jobs.step();
        a.all[0].begin_phase(20'000, 0);
        b.all[0].begin_phase(1000, 0);
        for (int i = 0; i < 200; ++i) jobs.step();
        jobs.kill_daemon();
        EXPECT_TRUE(b.all[0].waits());
        for (int i = 0; i < 1100; ++i) jobs.step();
        EXPECT_FALSE(b.all[0].waits());
        const int64_t unasked = b.shared.observe(0, 0, 1).unasked;
        EXPECT_GT(unasked, 0);
        jobs.start_daemon();
        for (int i = 0; i < 500; ++i) jobs.step();
        run(jobs, [&] { expect_one_mover({&a}, {&b}, jobs.now_s); });
        EXPECT_EQ(b.agent.counted().silences, 1U);
    }
}

/// A has the turn, and B comes: the daemon is stopped for 2 s, so many steps behind that. `slow`: for 1.5 s of that
/// time, calls of A do not end, and its caches are not clean.
void stop_daemon_in_a_stop(int steps, bool slow, int calls) {
    simulated_jobs jobs(by(policy::rule::interrupt), static_cast<unsigned>(steps));
    simulated_node& a1 = jobs.add("A", "n1", 2);
    simulated_node& a2 = jobs.add("A", "n2", 1);
    simulated_node& b = jobs.add("B", "n3", 1);
    for (int i = 0; i < 1000; ++i) jobs.step();
    for (simulated_process& one : a1.all) one.begin_phase(calls, 0);
    a2.all[0].begin_phase(calls, 0);
    for (int i = 0; i < 50; ++i) jobs.step();
    b.all[0].begin_phase(100, 0);
    for (int i = 0; i < steps; ++i) jobs.step();
    if (slow) a1.slow_until_s = jobs.now_s + 1.5;
    jobs.stop_daemon();
    for (int i = 0; i < 2000; ++i) jobs.step();
    jobs.continue_daemon();
    run(jobs, [] {});
    // The last ones say that they have ended.
    for (int i = 0; i < 1000; ++i) jobs.step();
    const counts& counted = jobs.daemon().counted();
    EXPECT_EQ(counted.overdue_stops + counted.stalled_holders, 0U) << steps << " steps";
    EXPECT_GT(counted.recalls, 0U) << steps << " steps";
}

TEST(agents, stop_all_the_same_when_the_daemon_was_stopped_meanwhile) {
    for (int steps = 2; steps <= 20; ++steps)
        for (const bool slow : {false, true}) stop_daemon_in_a_stop(steps, slow, 20'000);
}

// Those that have ended their phase meanwhile have nothing to show.
TEST(agents, stop_all_the_same_when_their_phase_ended_while_the_daemon_was_stopped) {
    for (int steps = 2; steps <= 20; ++steps)
        for (const bool slow : {false, true}) stop_daemon_in_a_stop(steps, slow, 500);
}

TEST(agents, have_the_time_that_a_call_needs_which_began_as_their_standing_turn_was_called_back) {
    simulated_jobs jobs(by(policy::rule::fcfs), 1);
    simulated_node& a = jobs.add("A", "n1", 1);
    a.all[0].begin_phase(2000, 0);
    run(jobs, [] {});
    for (int i = 0; i < 1000; ++i) jobs.step();
    bool has_begun = false;
    jobs.hears = [&](simulated_node& one, const from_coordinator& what) {
        if (&one != &a || has_begun || !std::holds_alternative<recall>(what)) return;
        has_begun = true;
        process_part& part = a.shared.shared().slots[0].at[0];
        a.all[0].begin_phase(1, 0);
        a.slow_until_s = jobs.now_s + 6.5;
        part.moved.fetch_add(20'000'000'000);
        part.under_way = 1;
    };
    jobs.add("B", "n2", 1);
    for (int i = 0; i < 7000; ++i) jobs.step();
    ASSERT_TRUE(has_begun);
    EXPECT_TRUE(a.has_ended());
    EXPECT_EQ(jobs.daemon().counted().overdue_stops, 0U);
    EXPECT_EQ(a.agent.counted().voided, 0U);
}

TEST(agents, keep_their_lease_over_a_short_break_of_the_connection) {
    simulated_jobs jobs(by(policy::rule::fcfs), 1);
    simulated_node& a = jobs.add("A", "n1", 1);
    simulated_node& b = jobs.add("B", "n2", 1);
    for (int i = 0; i < 500; ++i) jobs.step();
    a.all[0].begin_phase(3000, 0);
    b.all[0].begin_phase(100, 0);
    for (int i = 0; i < 200; ++i) jobs.step();
    jobs.cut(a);
    for (int i = 0; i < 100; ++i) jobs.step();
    jobs.connect(a);
    run(jobs, [&] { expect_one_mover({&a}, {&b}, jobs.now_s); });
    EXPECT_EQ(a.agent.counted().voided, 0U);
    EXPECT_EQ(a.shared.observe(0, 0, 1).unasked, 0);
}

TEST(agents, are_waited_for_when_they_come_back_into_a_stop) {
    for (unsigned seed = 1; seed <= 20; ++seed) {
        simulated_jobs jobs(by(policy::rule::interrupt), seed);
        jobs.longest_flight_s = 0.003;
        simulated_node& a = jobs.add("A", "n1", 2);
        simulated_node& b = jobs.add("B", "n2", 1);
        for (int i = 0; i < 1000; ++i) jobs.step();
        for (simulated_process& one : a.all) one.begin_phase(500, 0);
        for (int i = 0; i < 100; ++i) jobs.step();
        a.slow_until_s = jobs.now_s + 1.5;
        b.all[0].begin_phase(100, 0);
        for (unsigned i = 0; i < 2 + seed; ++i) jobs.step();
        jobs.cut(a);
        for (unsigned i = 0; i < 20 * seed; ++i) jobs.step();
        jobs.connect(a);
        run(jobs, [&] { expect_one_mover({&a}, {&b}, jobs.now_s); });
        for (int i = 0; i < 1000; ++i) jobs.step();
        const counts& counted = jobs.daemon().counted();
        EXPECT_EQ(counted.overdue_stops + counted.stalled_holders, 0U) << "seed " << seed;
        EXPECT_GT(counted.recalls, 0U) << "seed " << seed;
    }
}

TEST(agents, do_not_use_a_lease_whose_coordinator_they_lost_beside_the_next_holder) {
    for (unsigned seed = 1; seed <= 20; ++seed) {
        simulated_jobs jobs(by(policy::rule::fcfs), seed);
        simulated_node& a = jobs.add("A", "n1", 1);
        simulated_node& b = jobs.add("B", "n2", 1);
        for (int i = 0; i < 500; ++i) jobs.step();
        a.all[0].begin_phase(10'000, 0);
        for (unsigned i = 0; i < 200 + 13 * seed; ++i) jobs.step();
        b.all[0].begin_phase(10'000, 0);
        jobs.cut(a);
        a.slow_until_s = jobs.now_s + 0.45;  // so that its lease is not used up when the turn passes on
        int of_b = 0;
        for (int i = 0; i < 1100; ++i) {
            jobs.step();
            if (a.shared.observe(0, 0, 1).unasked > 0) break;
            expect_one_mover({&a}, {&b}, jobs.now_s);
            of_b += b.is_moving() ? 1 : 0;
        }
        EXPECT_GT(of_b, 100) << "the lost holder's turn passed on";
    }
}

}  // namespace
}  // namespace halcyon::coordinate
