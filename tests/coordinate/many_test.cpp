// Large numbers: of those that wait, of targets, of a job's nodes. Work that grows with their square does not come to
// an end within the time that this program may take.
#include <algorithm>
#include <array>
#include <cmath>

#include "coordinate/conversation.hpp"
#include "coordinate/coordinator/phases.hpp"
#include "coordinate/coordinator/turn_watch.hpp"
#include "coordinate/protocol/fields.hpp"
#include "policy/groups.hpp"
#include "policy/seen_positions.hpp"

namespace halcyon::coordinate {
namespace {

/// `count` applications that each have a phase and tell that they live.
class crowd {
  public:
    explicit crowd(const settings& how) : told(how, 1, 0) {}

    void add(uint32_t user, const inform& phase) {
        const connection_id id = ++last_;
        told.connected(id, user, false, now_s);
        told.received(id, conversation::registration_of("job" + std::to_string(id)), now_s);
        told.received(id, phase, now_s);
    }
    void pass(int heartbeats) {
        for (int i = 0; i < heartbeats; ++i) {
            now_s += 0.25;
            for (connection_id id = 1; id <= last_; ++id) told.received(id, heartbeat{}, now_s);
            told.advance(now_s);
        }
    }

    coordinator told;
    double now_s = 0;

  private:
    connection_id last_ = 0;
};

settings all_may_come() {
    settings how = conversation::quick(policy::rule::fcfs);
    how.per_user.applications = 1U << 20U;
    how.per_user.messages_at_once = how.per_user.messages_per_s = 1e12;
    how.bounds.starvation_s = 1e6;
    how.stalled_s = 1e6;
    return how;
}

TEST(many, wait_and_are_told_how_long) {
    crowd all(all_may_come());
    for (int i = 0; i < 4096; ++i) all.add(1000, phase_of(1, 1));
    for (int i = 0; i < 50; ++i) {
        all.pass(4);
        const snapshot now = all.told.state();
        ASSERT_EQ(now.applications.size(), 4096U);
        ASSERT_NEAR(now.applications.back().expected_wait_s, 4095, 60);
    }
}

TEST(many, use_disjoint_targets_that_are_listed_at_length) {
    settings how = all_may_come();
    crowd all(how);
    for (uint32_t i = 0; i < 64; ++i) {
        inform what = phase_of(1);
        for (uint32_t k = 0; k < most_targets; ++k) what.targets.push_back(i + 64 * k);
        all.add(1000 + i, what);
        all.pass(1);
    }
    const snapshot now = all.told.state();
    EXPECT_EQ(std::ranges::count(now.applications, turn_stage::held, &application_state::turn), 64);
}

TEST(many, targets_of_one_user_are_listed_up_to_a_limit) {
    settings how = all_may_come();
    how.per_user.targets = 100;
    crowd all(how);
    for (uint32_t i = 0; i < 3; ++i) {
        inform what = phase_of(1);
        for (uint32_t k = 0; k < 40; ++k) what.targets.push_back(1000 * i + k);
        all.add(1000, what);
    }
    all.pass(1);
    EXPECT_EQ(all.told.counted().dropped_targets, 1U);
    EXPECT_EQ(all.told.state().applications.back().turn, turn_stage::none) << "it uses what the others use, too";
}

TEST(many, that_list_targets_change_what_they_say_all_the_time) {
    settings how = all_may_come();
    how.bounds.alternatives = false;
    coordinator told(how, 1, 0);
    constexpr connection_id count = 8192;
    double now_s = 0;
    inform what = phase_of(1);
    what.targets = {1};
    for (connection_id id = 1; id <= count; ++id) {
        told.connected(id, 1000, false, now_s);
        told.received(id, conversation::registration_of("job" + std::to_string(id)), now_s);
        told.received(id, what, now_s);
    }
    for (int i = 0; i < 30; ++i)
        for (connection_id id = 1; id <= count; ++id) told.received(id, what, now_s);
    told.advance(now_s);
    EXPECT_EQ(told.counted().dropped_targets, 0U);
    EXPECT_EQ(told.state().applications.size(), count);
}

TEST(many, that_move_side_by_side_on_targets_of_their_own_tell_their_speeds) {
    settings how = all_may_come();
    how.bounds.alternatives = false;
    coordinator told(how, 1, 0);
    constexpr uint32_t count = 2048;
    constexpr int reports = 5;
    double now_s = 0;
    for (uint32_t id = 1; id <= count; ++id) {
        told.connected(id, 1000, false, now_s);
        told.received(id, conversation::registration_of("job" + std::to_string(id)), now_s);
        inform what = phase_of(1);
        what.targets = {id, id + count};  // no list lies before another one
        told.received(id, what, now_s);
    }
    std::map<connection_id, uint64_t> lease;
    for (const effects::outgoing& one : told.advance(now_s).messages)
        if (const auto* const g = std::get_if<grant>(&one.message)) lease[one.to] = g->lease;
    ASSERT_EQ(lease.size(), count);
    for (int i = 0; i < reports; ++i) {
        now_s += 0.25;
        for (const auto& [id, its] : lease) {
            progress what = moved_in(0.25, 1, its);
            what.speed = 1;
            told.received(id, what, now_s);
        }
        told.advance(now_s);
    }
    EXPECT_EQ(told.counted().bytes_moved, uint64_t{reports} * count);
    EXPECT_EQ(told.counted().unasked_progress + told.counted().dropped_progress, 0U);
}

TEST(many, that_have_targets_of_their_own_begin_and_end_together) {
    settings how = all_may_come();
    how.bounds.alternatives = false;
    coordinator told(how, 1, 0);
    constexpr uint32_t count = 6144, times = 30;
    const auto begin = [&](uint32_t id, uint64_t phase) {
        inform what = phase_of(phase);
        what.targets = {id, id + count};
        told.received(id, what, static_cast<double>(phase));
    };
    for (uint32_t id = 1; id <= count; ++id) {
        told.connected(id, 1000, false, 0);
        told.received(id, conversation::registration_of("job" + std::to_string(id)), 0);
        begin(id, 1);
    }
    for (uint64_t phase = 1; phase <= times; ++phase) {
        told.advance(static_cast<double>(phase));
        ASSERT_EQ(told.counted().grants, phase * count);
        for (uint32_t id = 1; id <= count; ++id) {
            told.received(id, release{phase}, static_cast<double>(phase));
            begin(id, phase + 1);
        }
    }
}

TEST(many, that_move_nothing_keep_their_turns_while_nobody_waits) {
    settings how = all_may_come();
    how.bounds.alternatives = false;
    how.stalled_s = 1;
    crowd all(how);
    constexpr uint32_t count = 8192;
    for (uint32_t i = 0; i < count; ++i) {
        inform what = phase_of(1);
        what.targets = {i, i + count};
        all.add(1000, what);
    }
    all.pass(60);
    const snapshot now = all.told.state();
    EXPECT_EQ(std::ranges::count(now.applications, turn_stage::held, &application_state::turn), count);
    EXPECT_EQ(all.told.counted().stalled_holders, 0U);
}

TEST(many, that_move_on_targets_of_their_own_stop_for_one_that_wants_all) {
    settings how = all_may_come();
    how.rule = policy::rule::interrupt;
    how.bounds.alternatives = false;
    how.per_user.connections = 1U << 20U;
    coordinator told(how, 1, 0);
    constexpr uint32_t count = 65'535;
    const auto begin = [&](connection_id id, std::vector<uint32_t> targets) {
        told.connected(id, 1000, false, 0);
        told.received(id, conversation::registration_of("job" + std::to_string(id)), 0);
        inform what = phase_of(1);
        what.targets = std::move(targets);
        told.received(id, what, 0);
    };
    for (uint32_t id = 1; id <= count; ++id) begin(id, {id});
    told.advance(0);
    ASSERT_EQ(told.counted().grants, count);
    begin(count + 1, {});
    told.advance(0);
    EXPECT_EQ(told.counted().recalls, count);
}

TEST(many, that_have_waited_for_too_long_move_together) {
    constexpr uint32_t count = 65'536, decisions = 200;
    std::vector<policy::application> all(count);
    for (uint32_t i = 0; i < count; ++i) {
        all[i].id = i + 1;
        all[i].state = policy::movement::moving;
        all[i].arrived_s = i;
        all[i].since_s = count;
        all[i].waited_s = 40;
        all[i].alone_s = all[i].left_s = 1;
    }
    policy::settings how;
    how.alternatives = false;
    policy::decider some;
    for (uint32_t i = 0; i < decisions; ++i) {
        const policy::decision& made =
            some.decide({all}, policy::rule::interfere, policy::metric::sum_of_times, count, how);
        ASSERT_EQ(made.move.size(), count);
    }
}

TEST(many, that_share_nothing_move_beside_one_that_waits_for_all_under_dynamic) {
    constexpr uint32_t count = 32'768, decisions = 40;
    std::vector<policy::application> all(count + 1);
    for (uint32_t i = 0; i < count; ++i) {
        all[i].id = i + 1;
        all[i].state = policy::movement::moving;
        all[i].arrived_s = i;
        all[i].since_s = count;
        all[i].alone_s = all[i].left_s = 1;
        all[i].targets = {i, i + count};
    }
    all[count].id = count + 1;
    all[count].state = policy::movement::waiting;
    all[count].arrived_s = all[count].since_s = count;
    all[count].alone_s = all[count].left_s = 1e6;
    policy::settings how;
    how.alternatives = false;
    policy::decider some;
    for (uint32_t i = 0; i < decisions; ++i) {
        const policy::decision& made =
            some.decide({all}, policy::rule::dynamic, policy::metric::sum_of_times, count, how);
        ASSERT_EQ(made.move.size(), count);
        ASSERT_TRUE(made.stop.empty());
    }
}

TEST(many, searches_of_few_and_of_more_applications_take_turns) {
    policy::seen_positions seen;
    policy::problem few, more;
    few.count = 8;
    more.count = 9;
    few.left_s.fill(1);
    more.left_s.fill(1);
    for (int i = 0; i < 100'000; ++i) {
        for (const policy::problem* const of : {&few, &more}) {
            seen.clear(*of);
            ASSERT_LT(seen.least_cost(3, of->left_s, 0), 0) << "nothing is known of it";
            seen.learn(3, of->left_s, 0, 5);
            ASSERT_EQ(seen.least_cost(3, of->left_s, 0), 5);
        }
    }
}

TEST(many, share_targets_each_with_the_next_one_and_are_decided_about_together) {
    constexpr uint32_t count = 65'536, decisions = 15;
    std::vector<policy::application> all(count);
    for (uint32_t i = 0; i < count; ++i) {
        all[i].id = i + 1;
        all[i].state = policy::movement::waiting;
        all[i].arrived_s = i;
        all[i].since_s = count;
        all[i].alone_s = all[i].left_s = 1;
        all[i].targets = {i, i + 1};
    }
    policy::settings how;
    how.alternatives = false;
    policy::decider some;
    for (uint32_t i = 0; i < decisions; ++i) {
        const policy::decision& made = some.decide({all}, policy::rule::fcfs, policy::metric::sum_of_times, count, how);
        ASSERT_EQ(made.groups.size(), 1U);
        ASSERT_EQ(made.move.size(), count / 2) << "every second one";
    }
}

TEST(many, targets_whose_numbers_are_alike_are_found) {
    policy::target_groups groups;
    for (int i = 0; i < 300; ++i) {
        groups.clear();
        for (uint32_t target = 0; target < 65'536; ++target) groups.add(std::array{target << 16U});
        ASSERT_EQ(groups.group_at(std::array{uint32_t{77} << 16U}), 77U);
        ASSERT_EQ(groups.group_at(std::array{uint32_t{77} << 16U | 1}), policy::target_groups::nobody);
    }
}

TEST(many, nodes_of_one_job_move_under_leases_of_a_fifth_of_a_second_and_are_not_closed) {
    settings how = conversation::quick(policy::rule::fcfs);
    conversation c(how);
    constexpr int nodes = 1000;
    constexpr int64_t moved_each = 10'000'000;  // in 0.1 s
    const auto name = [](int i) { return "n" + std::to_string(i); };
    for (int i = 0; i < nodes; ++i) {
        c.connect(name(i));
        c.say(name(i), conversation::registration_of("A", name(i)));
        c.now_s += 0.001;
    }
    for (int i = 0; i < nodes; ++i) {
        inform what = phase_of(1);
        what.lease = c.lease[name(i)];
        c.say(name(i), what);
    }
    for (int step = 0; step < 30; ++step) {
        c.now_s += 0.1;
        for (int i = 0; i < nodes; ++i) {
            progress what;
            what.lease = c.lease[name(i)];
            what.bytes_moved = moved_each;
            for (int repeat = 0; repeat < 3; ++repeat) c.say(name(i), heartbeat{});
            c.say(name(i), what);
        }
        c.lines.clear();
    }
    EXPECT_EQ(c.told.counted().refused_rate, 0U);
    EXPECT_NEAR(static_cast<double>(c.grants[name(nodes / 2)].back().bytes), 2 * moved_each, 1e5);
}

/// A job of many nodes, all in a phase, that has the turn.
class large_job {
  public:
    explicit large_job(uint64_t nodes) {
        peer one;
        one.id = 1;
        all.connect(one);
        all.admit(*all.find_peer(1), conversation::registration_of("A"), 0, [] { return true; });
        for (uint64_t i = 1; i < nodes; ++i) {
            agent other;
            other.id = its().agents.back().id + 1;
            other.connection = 1 + i;
            its().agents.push_back(other);
        }
        for (agent& each : its().agents) of.informed(all, its(), each, phase_of(1), now(), out);
        of.grant(all, its(), now(), out);
        lease = its().has.lease();
        arrived_s = its().arrived_s;
        account = its().account_key;
    }
    job& its() { return all.jobs().begin()->second; }
    [[nodiscard]] moment now() const { return {now_s, now_s}; }
    [[nodiscard]] double had_s() const { return of.had().accounts().used_s(account, now_s); }
    /// One node after the other.
    template <class Say>
    void each_says(double between_s, Say&& say) {
        for (agent& one : its().agents) {
            now_s += between_s;
            say(one);
        }
    }
    void end_phase(double between_s) {
        each_says(between_s, [&](agent& one) { of.released(all, its(), one, release{1}, now(), out); });
    }
    void stop(double between_s) {
        of.recall(all, its(), 0, now(), out);
        each_says(between_s, [&](agent& one) { of.answered(all, its(), one, stopping{lease, 1}, now(), out); });
        each_says(between_s, [&](agent& one) { of.stopped(all, its(), one, stopped{lease}, now(), out); });
    }

    const settings how = conversation::quick(policy::rule::fcfs);
    registry all{how};
    phases of{how, 1, {0, 0}};
    outbox out;
    users by_user{how.per_user};
    double now_s = 0;
    uint64_t lease = 0;
    double arrived_s = 0;
    uint32_t account = 0;
};

/// So large that work which grows with the square of its nodes does not come to an end.
class very_large_job : public testing::Test {
  protected:
    large_job a{131'072};
};

TEST_F(very_large_job, ends_its_phase_on_one_node_after_the_other) {
    a.end_phase(1e-6);
    EXPECT_FALSE(a.its().in_phase());
    EXPECT_FALSE(a.its().has.any());
    EXPECT_EQ(a.out.counted.dropped_releases, 0U);
}

TEST_F(very_large_job, stops_on_one_node_after_the_other) {
    a.stop(1e-6);
    EXPECT_TRUE(a.its().in_phase());
    EXPECT_FALSE(a.its().has.any());
    EXPECT_EQ(a.out.counted.dropped_answers, 0U);
}

TEST_F(very_large_job, loses_all_of_its_nodes_together) {
    a.by_user.register_application(a.its().user);
    for (agent& each : a.its().agents) {
        each.connection = 0;
        each.stale_by_heard_s = 1;
    }
    turn_watch(a.how).expire(a.all, a.of, a.by_user, {2, 2}, a.out);
    EXPECT_TRUE(a.all.jobs().empty());
    EXPECT_EQ(a.out.counted.lost_holders, 1U);
}

TEST(many, nodes_of_one_job_register) {
    const settings how = conversation::quick(policy::rule::fcfs);
    registry all(how);
    constexpr connection_id nodes = 131'072;
    const auto admit = [&](connection_id id) {
        return all
            .admit(*all.find_peer(id), conversation::registration_of("A", "n" + std::to_string(id)), 0,
                   [] { return true; })
            .how;
    };
    for (connection_id id = 1; id <= nodes; ++id) {
        peer one;
        one.id = id;
        all.connect(one);
        ASSERT_EQ(admit(id), id == 1 ? registry::admission::new_application : registry::admission::new_agent);
    }
    for (connection_id id = 1; id <= nodes; ++id) ASSERT_EQ(admit(id), registry::admission::same_agent);
    EXPECT_EQ(all.jobs().begin()->second.agents.size(), nodes);
}

TEST(many, nodes_of_one_job_have_a_turn_whose_time_and_cost_count_to_the_end) {
    for (const double between_s : {0.0007, 0.03, 0.5}) {
        SCOPED_TRACE(between_s);
        for (const bool stops : {false, true}) {
            SCOPED_TRACE(stops);
            large_job a(100);
            decision_log::entry about;
            about.pending.push_back({a.its().id, a.arrived_s});
            a.of.log().add(std::move(about));
            stops ? a.stop(between_s) : a.end_phase(between_s);
            EXPECT_NEAR(a.now_s, (stops ? 200 : 100) * between_s, 1e-9);
            // Half of it counts after a minute.
            const double decays = std::log(2.0) / 60, expected_s = (1 - std::exp(-decays * a.now_s)) / decays;
            EXPECT_NEAR(a.had_s(), expected_s, 0.02 * expected_s);
            const auto& logged = a.of.log().entries().front();
            EXPECT_EQ(logged.pending.size(), stops ? 1U : 0U);
            if (stops) continue;
            policy::application as;
            as.alone_s = a.its().worked_s;
            EXPECT_NEAR(logged.observed_cost, policy::cost_per_s(as, a.how.metric) * a.now_s, 1e-9);
        }
    }
}

TEST(many, nodes_of_one_job_that_report_are_looked_at_together_ten_times_a_second) {
    const settings how = conversation::quick(policy::rule::fcfs);
    registry all(how);
    phases of(how, 1, {0, 0});
    outbox out;
    constexpr uint64_t nodes = 200, reports = 200;
    constexpr double between_s = 0.01;
    for (connection_id id = 1; id <= nodes; ++id) {
        peer one;
        one.id = id;
        all.connect(one);
        all.admit(*all.find_peer(id), conversation::registration_of("A", "n" + std::to_string(id)), 0,
                  [] { return true; });
    }
    job& a = all.jobs().begin()->second;
    ASSERT_EQ(a.agents.size(), nodes);
    for (agent& each : a.agents) of.informed(all, a, each, phase_of(1), {0, 0}, out);
    of.grant(all, a, {0, 0}, out);
    for (uint64_t i = 1; i <= reports; ++i) {
        const double now_s = between_s * static_cast<double>(i);
        for (agent& each : a.agents)
            of.progressed(all, a, each, moved_in(between_s, 1'000'000, a.has.lease()), {now_s, now_s}, out);
    }
    const auto most = static_cast<uint64_t>(between_s * reports / job::between_looks_s) + 1;
    EXPECT_GT(a.looks(), most / 2);
    EXPECT_LE(a.looks(), most);
    EXPECT_NEAR(a.lately().bytes_per_s, a.bytes_per_s(), 0.01 * a.bytes_per_s());
    EXPECT_NEAR(a.lately().alone.bytes_per_s, nodes * 1e8, 0.01 * nodes * 1e8);
    EXPECT_EQ(a.lately().nodes, static_cast<int64_t>(nodes));
}

}  // namespace
}  // namespace halcyon::coordinate
