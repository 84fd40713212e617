// What the agent of a node says and shows, step by step.
#include "coordinate/agent/turn_agent.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "coordinate/page/rounds.hpp"

namespace halcyon::coordinate {
namespace {

using transcript = std::vector<std::string>;

const char* name_of(permission of) {
    constexpr const char* names[] = {"closed", "unasked", "allowed", "standing", "waiting", "hold", "stop"};
    return names[static_cast<int>(of)];
}

class turn_agents : public testing::Test {
  protected:
    turn_agents() {
        job.job = "A";
        job.node = "n1";
        job.secret = "0123456789abcdef";
        agent.emplace(turn_agent::settings{.job = job}, now_s);
        node.processes = 2;
    }

    /// Lets it do what there is, and writes down what it says and shows.
    void advance(double later_s = 0) {
        now_s += later_s;
        do {
            agent->observed(node);
            last = agent->advance(now_s);
            if (last.page) {
                std::string line = std::string("page ") + name_of(last.page->to);
                if (last.page->stop_round != 0) line += " before round " + std::to_string(last.page->stop_round);
                if (last.page->bytes) line += ", " + std::to_string(*last.page->bytes) + " bytes";
                said.push_back(line);
                if (last.page->bytes) node.pool = *last.page->bytes;
                if (last.page->to == permission::hold && at_hold) at_hold();
            }
            for (const to_coordinator& message : last.messages)
                if (!std::holds_alternative<heartbeat>(message) || heartbeats)
                    said.push_back(std::visit([](const auto& m) { return line_of(m); }, message));
            if (last.clean_caches) said.emplace_back("clean caches");
        } while (last.look_again);
    }
    void hear(const from_coordinator& message) {
        agent->received(message, now_s);
        advance();
    }
    transcript look() { return std::exchange(said, {}); }

    void join() {
        agent->connected(now_s);
        advance();
        hear(registered{1, 0.25, 0.2, 1});
        look();
    }
    /// A phase that moves under a lease.
    void begin(uint64_t lease = 7, int64_t bytes = 1000) {
        node.waiting = 1;
        node.begun = 1;
        advance();
        hear(grant{1, lease, bytes, 100});
        node.waiting = 0;
        node.under_way = 1;
        advance();
        look();
    }

    template <class Message>
    static std::string line_of(const Message& m) {
        std::string text(Message::type);
        if constexpr (requires { m.phase; }) text += " phase " + std::to_string(m.phase);
        if constexpr (requires { m.lease; })
            if (m.lease != 0) text += " lease " + std::to_string(m.lease);
        if constexpr (requires { m.bytes_moved; })
            if (m.bytes_moved != 0) text += " moved " + std::to_string(m.bytes_moved);
        if constexpr (requires { m.round; })
            if (m.round != 0) text += " round " + std::to_string(m.round);
        if constexpr (requires { m.in_s; })
            if (m.probability == 0) text += " nothing";
        if constexpr (requires { m.processes; }) text += " processes " + std::to_string(m.processes);
        return text;
    }

    double now_s = 1000;
    registration job;
    std::optional<turn_agent> agent;
    node_state node;
    agent_effects last;
    transcript said;
    bool heartbeats = false;
    std::function<void()> at_hold;
};

TEST_F(turn_agents, hold_everybody_back_until_they_know_more) {
    advance();
    EXPECT_EQ(look(), transcript{"page waiting"});
    agent->connected(now_s);
    advance();
    EXPECT_EQ(look(), transcript{"register processes 2"});
}

TEST_F(turn_agents, let_calls_wait_for_as_long_as_the_coordinator_and_a_stop_take_and_longer) {
    agent->connected(now_s);
    advance();
    EXPECT_FALSE(last.longest_wait_s);
    hear(registered{1, 0.25, 0.2, 1});  // of a coordinator that does not say it
    EXPECT_FALSE(last.longest_wait_s);
    hear(registered{1, 0.25, 0.2, 1, 60, 5});
    EXPECT_EQ(last.longest_wait_s, 60 + 5 + turn_agent::late_turn_s);
    advance();
    EXPECT_FALSE(last.longest_wait_s);
}

TEST_F(turn_agents, register_once_more_when_there_are_more_processes) {
    join();
    node.processes = 3;
    advance();
    advance();
    EXPECT_EQ(look(), transcript{"register processes 3"});
    hear(standing{5, 2000, 90});
    hear(registered{1, 0.25, 0.2, 1});
    EXPECT_EQ(look(), transcript{"page standing, 2000 bytes"});
}

TEST_F(turn_agents, ask_when_a_phase_begins_and_release_when_it_pauses) {
    join();
    node.waiting = 1;
    node.begun = 1;
    advance();
    EXPECT_EQ(look(), transcript{"inform phase 1"});
    hear(grant{1, 7, 1000, 100});
    EXPECT_EQ(look(), transcript{"page allowed, 1000 bytes"});
    node.waiting = 0;
    node.under_way = 1;
    advance();
    node.under_way = 0;
    node.moved = 400;
    advance();
    advance(0.005);
    EXPECT_EQ(look(), transcript{});
    advance(0.006);
    EXPECT_EQ(look(), (transcript{"page waiting", "progress phase 1 lease 7 moved 400", "release phase 1"}));
}

TEST_F(turn_agents, show_the_lease_of_a_standing_turn_when_a_phase_begins) {
    join();
    hear(standing{5, 2000, 90});
    EXPECT_EQ(look(), transcript{"page standing, 2000 bytes"});
    node.under_way = 1;
    node.begun = 1;
    advance();
    EXPECT_EQ(look(), (transcript{"page allowed", "inform phase 1 lease 5"}));
}

TEST_F(turn_agents, tell_progress_at_each_heartbeat_and_when_half_of_the_lease_is_used) {
    join();
    begin();
    node.moved = 300;
    node.pool = 700;
    advance(0.1);
    EXPECT_EQ(look(), transcript{});
    advance(0.15);
    EXPECT_EQ(look(), transcript{"progress phase 1 lease 7 moved 300"});
    node.moved = 550;
    node.pool = 450;
    advance(0.01);
    advance(0.01);
    EXPECT_EQ(look(), transcript{"progress phase 1 lease 7 moved 250"});
    hear(grant{1, 7, 1000, 101});
    EXPECT_EQ(look(), transcript{"page allowed, 1000 bytes"});
}

TEST_F(turn_agents, ask_again_when_processes_hold_the_lease_without_moving_it) {
    join();
    begin();
    node.moved = 100;
    node.pool = 0;
    node.waiting = 1;
    advance(0.02);
    EXPECT_EQ(look(), (transcript{"progress phase 1 lease 7 moved 100", "inform phase 1 lease 7 moved 100"}));
    advance(0.001);
    EXPECT_EQ(look(), transcript{});
    advance(0.02);
    EXPECT_EQ(look(), transcript{"inform phase 1 lease 7 moved 100"});
}

TEST_F(turn_agents, answer_a_recall_with_the_highest_round_that_was_begun_before_the_hold) {
    join();
    begin();
    node.round = rounds::of(3, 4);
    at_hold = [&] { node.round = rounds::of(3, 5); };  // it began before it saw the hold
    hear(recall{7});
    const std::string round = std::to_string(rounds::of(3, 5)), next = std::to_string(rounds::of(3, 6));
    EXPECT_EQ(look(), (transcript{"page hold", "page stop before round " + next, "stopping lease 7 round " + round}));
    hear(recall{7});
    EXPECT_EQ(look(), transcript{"stopping lease 7 round " + round});
}

TEST_F(turn_agents, say_that_they_stopped_when_nothing_is_under_way_and_the_caches_are_clean) {
    join();
    begin();
    hear(recall{7});
    look();
    hear(stop{7, 1});
    node.moved = 500;
    advance(0.01);
    EXPECT_EQ(look(), transcript{});  // a call is under way
    node.under_way = 0;
    advance(0.001);
    EXPECT_EQ(look(), transcript{"clean caches"});
    advance(0.5);
    EXPECT_EQ(look(), transcript{"progress phase 1 lease 7 moved 500"});
    agent->caches_clean();
    advance();
    EXPECT_EQ(look(), (transcript{"page waiting", "progress phase 1 lease 7", "stopped lease 7"}));
    advance();
    EXPECT_EQ(look(), transcript{"release phase 1"});
}

TEST_F(turn_agents, stay_in_the_phase_that_was_stopped_until_it_is_their_turn_again) {
    join();
    begin();
    hear(recall{7});
    hear(stop{7, 1});
    node.under_way = 0;
    node.waiting = 1;
    node.moved = 10;
    advance();
    agent->caches_clean();
    advance();
    look();
    advance(0.1);
    EXPECT_EQ(look(), transcript{});
    EXPECT_TRUE(agent->waits());
    hear(grant{1, 8, 1000, 102});
    EXPECT_EQ(look(), transcript{"page allowed, 1000 bytes"});
}

TEST_F(turn_agents, clean_no_caches_that_nothing_was_written_into) {
    join();
    hear(standing{5, 2000, 90});
    look();
    hear(recall{5});
    hear(stop{5, 1});
    EXPECT_EQ(look(), (transcript{"page hold", "page stop before round 1", "stopping lease 5", "page waiting",
                                  "stopped lease 5"}));
}

TEST_F(turn_agents, wait_for_an_aggregator_that_may_begin_a_round_below_the_stop_but_not_for_ever) {
    join();
    begin();
    node.round = rounds::of(1, 1);
    hear(recall{7});
    hear(stop{7, rounds::of(1, 5)});
    look();
    node.moved = 1;
    node.under_way = 0;
    node.behind = 1;
    node.waiting = 1;  // another one has come to the stop
    for (int i = 0; i < 10; ++i) advance(0.01);
    EXPECT_EQ(look(), transcript{});
    for (int i = 0; i < 15; ++i) advance(0.01);
    EXPECT_EQ(agent->counted().stops_behind, 1U);
    EXPECT_EQ(look(), transcript{"clean caches"});
}

TEST_F(turn_agents, wait_for_an_aggregator_though_other_nodes_took_long_to_tell_their_round) {
    join();
    begin();
    node.round = rounds::of(1, 1);
    node.under_way = 0;
    node.moved = 1;
    advance();
    hear(recall{7});
    node.behind = node.waiting = 1;  // held back before a round that another node has begun
    for (int i = 0; i < 50; ++i) {
        agent->received(heartbeat{}, now_s);
        advance(0.01);
    }
    look();
    hear(stop{7, rounds::of(1, 3)});
    EXPECT_EQ(look(), (transcript{"page stop before round 4294967299"}));
    EXPECT_EQ(agent->counted().stops_behind, 0U);
}

TEST_F(turn_agents, refuse_a_grant_with_a_lower_fence_than_they_have_seen) {
    join();
    node.waiting = 1;
    advance();
    hear(standing{5, 10, 200});
    look();
    hear(grant{1, 9, 1000, 199});
    EXPECT_EQ(look(), transcript{});
    EXPECT_EQ(agent->counted().refused_fences, 1U);
    hear(grant{1, 9, 1000, 201});
    EXPECT_EQ(look(), transcript{"page allowed, 1000 bytes"});
}

/// Its clock was set back, or it is one that was replaced: it would be heard for ever, and its grants refused.
TEST_F(turn_agents, leave_a_coordinator_of_an_epoch_before_one_that_they_have_seen) {
    join();
    begin();
    hear(grant{1, 7, 1000, (uint64_t{5} << 32U) + 1});
    agent->disconnected(now_s);
    agent->connected(now_s);
    for (int second = 0; second < 3; ++second) {
        agent->received(registered{1, 0.25, 0.2, 4}, now_s);
        advance();
        EXPECT_TRUE(last.close);
        advance(0.5);
    }
    EXPECT_FALSE(agent->is_registered());
    EXPECT_EQ(agent->counted().refused_fences, 3U);
    EXPECT_EQ(agent->counted().silences, 1U);
    look();
    hear(registered{1, 0.25, 0.2, 5});
    EXPECT_TRUE(agent->is_registered());
}

TEST_F(turn_agents, clean_caches_once_more_when_the_last_time_did_not_come_to_its_end) {
    join();
    begin();
    node.moved = 500;
    node.under_way = 0;
    hear(recall{7});
    hear(stop{7, 1});
    advance(0.001);
    look();
    hear(voided{7, "did not stop in time"});
    node.waiting = 1;
    advance();
    hear(grant{2, 8, 1000, 101});
    node.waiting = 0;
    hear(recall{8});
    hear(stop{8, 1});
    advance(0.001);
    const transcript told = look();
    EXPECT_EQ(std::count(told.begin(), told.end(), "clean caches"), 1);
    EXPECT_EQ(std::count(told.begin(), told.end(), "stopped lease 8"), 0);
}

TEST_F(turn_agents, take_no_grant_of_a_phase_that_is_over) {
    join();
    begin();
    node.under_way = 0;
    advance(0.02);
    look();
    hear(grant{1, 9, 1000, 300});
    EXPECT_EQ(look(), transcript{});
    EXPECT_EQ(agent->counted().stale_grants, 1U);
}

TEST_F(turn_agents, ask_again_when_a_forecast_says_something_else) {
    join();
    node.waiting = 1;
    node.begun = 1;
    node.forecasts = now_s - 1;
    node.bytes_left = 1000;
    node.left_s = 2;
    advance();
    look();
    advance(0.02);
    EXPECT_EQ(look(), transcript{});
    node.forecasts = now_s;
    node.bytes_left = 1200;
    advance(0.02);
    EXPECT_EQ(look(), transcript{}) << "it is not off by a quarter";
    node.bytes_left = 4000;
    advance(0.02);
    EXPECT_EQ(look(), transcript{"inform phase 1"});
    advance(0.02);
    EXPECT_EQ(look(), transcript{});
}

TEST_F(turn_agents, take_back_what_is_expected_no_more) {
    join();
    node.next_probability = 0.8;
    node.next_in_s = 5;
    advance();
    EXPECT_EQ(look(), transcript{"expect"});
    node.next_probability = 0;
    advance(0.5);
    EXPECT_EQ(look(), transcript{"expect nothing"});
    advance(0.1);
    EXPECT_EQ(look(), transcript{});
}

TEST_F(turn_agents, are_alone_under_a_lease_while_nobody_else_moves) {
    join();
    EXPECT_TRUE(last.others_move) << "nobody knows";
    begin();
    EXPECT_FALSE(last.others_move);
    hear(company{6, 1});
    EXPECT_FALSE(last.others_move) << "of a lease that is over";
    hear(company{7, 2});
    EXPECT_TRUE(last.others_move);
    hear(grant{1, 7, 1000, 101});
    EXPECT_TRUE(last.others_move) << "more bytes tell nothing of others";
    hear(company{7, 0});
    EXPECT_FALSE(last.others_move);
    hear(company{7, 1});
    hear(grant{1, 8, 1000, 102});
    EXPECT_FALSE(last.others_move) << "another turn";
}

TEST(phase_history, keeps_the_speed_alone_in_a_long_time_beside_others) {
    phase_history of;
    of.moved(1000, 1, true);
    for (int i = 0; i < 1000; ++i) of.moved(100, 1, false);
    EXPECT_EQ(of.bytes_per_s_alone(), 1000);
    for (int i = 0; i < 1000; ++i) of.moved(100, 1, true);
    EXPECT_LT(of.bytes_per_s_alone(), 110) << "alone, the storage has become slower";
}

TEST(phase_history, knows_the_speed_alone_of_calls_that_take_longer_than_the_time_between_reports) {
    phase_history of;
    double reported_s = 0;
    for (int i = 0; i < 200; ++i) {  // two writers whose calls take 90 ms, one 1 ms behind the other
        reported_s += of.moved(1'000'000, 0.021, true, 2).seconds;
        reported_s += of.moved(1'000'000, 0.069, true, 2).seconds;
    }
    EXPECT_GT(reported_s, 10);
    EXPECT_NEAR(of.bytes_per_s_alone(), 2e6 / 0.09, 0.15 * 2e6 / 0.09);
}

TEST(phase_history, knows_the_speed_of_a_phase_of_few_calls_when_none_is_under_way) {
    phase_history of;
    EXPECT_EQ(of.moved(1'000'000, 0.05, true, 1).seconds, 0);
    EXPECT_NEAR(of.moved(0, 0.05, true, 0).bytes_per_s(), 1e7, 1);
}

TEST(phase_history, tells_times_beside_others_apart) {
    phase_history of;
    of.moved(1'000'000, 0.1, true, 1);
    of.moved(1'000'000, 0.1, true, 1);
    const auto beside = of.moved(1'000'000, 0.5, false, 0);
    EXPECT_EQ(beside.seconds, 0.5);
    EXPECT_NEAR(beside.bytes_per_s(), 2e6, 1) << "of no time in which it was alone";
}

TEST_F(turn_agents, let_io_go_on_after_a_second_of_silence_and_not_again_until_they_hear_something) {
    join();
    node.waiting = 1;
    advance();
    look();
    advance(0.9);
    EXPECT_EQ(look(), transcript{});
    advance(0.2);
    EXPECT_EQ(look(), transcript{"page unasked"});
    node.waiting = 0;
    node.under_way = 1;
    node.unasked = 50;
    advance(0.3);
    EXPECT_EQ(look(), transcript{"progress phase 1 moved 50"});
    hear(heartbeat{});
    EXPECT_EQ(look(), transcript{"page waiting"});
    EXPECT_EQ(agent->counted().silences, 1U);
}

TEST_F(turn_agents, tell_once_what_moved_unasked_though_the_account_is_behind_for_a_moment) {
    join();
    node.begun = 1;
    node.waiting = 1;
    int64_t told = 0;
    for (const int64_t unasked : {100, 100, 40, 100, 130}) {
        node.unasked = unasked;
        agent->received(heartbeat{}, now_s);
        advance(0.3);
        for (const to_coordinator& message : last.messages)
            if (const auto* const one = std::get_if<progress>(&message); one != nullptr && one->lease == 0)
                told += one->bytes_moved;
    }
    EXPECT_EQ(told, 130);
}

TEST_F(turn_agents, show_a_lease_behind_a_second_of_silence_and_use_it_only_with_the_next_grant) {
    join();
    begin();
    agent->disconnected(now_s);
    advance(1.1);
    EXPECT_EQ(look(), transcript{"page unasked"});
    agent->connected(now_s);
    advance();
    hear(registered{1, 0.25, 0.2, 2});
    EXPECT_EQ(look(), (transcript{"register processes 2", "page waiting", "inform phase 1 lease 7",
                                  "progress phase 1 lease 7"}));
    hear(grant{1, 7, 1000, 200});
    EXPECT_EQ(look(), transcript{"page allowed, 1000 bytes"});
}

TEST_F(turn_agents, do_not_use_a_lease_for_longer_than_a_second_of_silence_however_patient_they_are) {
    agent.emplace(turn_agent::settings{.job = job, .patience_s = 20}, now_s);
    join();
    begin();
    advance(0.9);
    look();
    advance(0.2);
    EXPECT_EQ(look().back(), "page waiting");
}

TEST_F(turn_agents, do_not_take_the_words_of_one_that_has_not_registered_them_for_an_answer) {
    node.waiting = 1;
    agent->connected(now_s);
    advance();
    look();
    for (int i = 0; i < 4; ++i) {
        now_s += 0.3;
        EXPECT_FALSE(agent->received(heartbeat{}, now_s));
        EXPECT_FALSE(agent->received(error_report{"no such message"}, now_s));
        advance();
    }
    EXPECT_EQ(look(), transcript{"page unasked"});
    EXPECT_TRUE(agent->received(registered{1, 0.25, 0.2, 1}, now_s));
    advance();
    EXPECT_EQ(look().front(), "page waiting");
}

TEST_F(turn_agents, do_not_take_a_refusal_for_an_answer) {
    node.waiting = 1;
    for (int i = 0; i < 4; ++i) {
        agent->connected(now_s);
        advance();
        hear(refused{"no"});
        EXPECT_TRUE(last.close);
        agent->disconnected(now_s);
        advance(0.3);
    }
    EXPECT_EQ(look().back(), "page unasked");
}

TEST_F(turn_agents, keep_why_they_were_refused_and_forget_it_as_trouble_once_they_are_registered) {
    agent->connected(now_s);
    advance();
    hear(refused{"too many connections"});
    agent->disconnected(now_s);
    EXPECT_EQ(agent->trouble(), "too many connections");
    EXPECT_EQ(agent->counted().refusals, 1U);
    EXPECT_EQ(agent->counted().lost_connections, 0U);  // it is counted once
    join();
    EXPECT_EQ(agent->trouble(), "");
    EXPECT_EQ(agent->last_reason(), "too many connections");
}

TEST_F(turn_agents, do_not_count_daemons_that_stand_by_as_faults) {
    agent->connected(now_s);
    advance();
    hear(refused{"this daemon stands by: no daemon leads at present", 0});
    EXPECT_TRUE(last.close);
    agent->disconnected(now_s);
    EXPECT_EQ(agent->counted(), agent_counts{});
    EXPECT_EQ(agent->last_reason(), "");
    EXPECT_EQ(agent->trouble(), "this daemon stands by: no daemon leads at present");
}

TEST_F(turn_agents, count_what_the_coordinator_did_not_understand_and_what_could_not_be_written) {
    agent->connected(now_s);
    advance();
    agent->not_sent("register.account: 300 bytes");
    EXPECT_EQ(agent->trouble(), "register.account: 300 bytes");
    join();
    hear(error_report{"inform.phase: 0"});
    EXPECT_EQ(agent->counted().unsent, 1U);
    EXPECT_EQ(agent->counted().errors, 1U);
    EXPECT_EQ(agent->last_reason(), "inform.phase: 0");
    EXPECT_EQ(agent->trouble(), "");  // it has its turns all the same
}

TEST_F(turn_agents, show_the_lease_of_their_phase_when_they_come_back) {
    join();
    begin();
    agent->disconnected(now_s);
    advance(0.2);
    EXPECT_EQ(look(), transcript{});  // the lease holds
    agent->connected(now_s);
    advance();
    hear(registered{1, 0.25, 0.2, 2});
    EXPECT_EQ(look(), (transcript{"register processes 2", "inform phase 1 lease 7"}));
}

TEST_F(turn_agents, forget_a_standing_turn_when_they_come_back) {
    join();
    hear(standing{5, 2000, 90});
    look();
    agent->disconnected(now_s);
    agent->connected(now_s);
    advance();
    hear(registered{1, 0.25, 0.2, 2});
    EXPECT_EQ(look(), (transcript{"register processes 2", "page waiting"}));
}

TEST_F(turn_agents, ask_anew_when_their_lease_is_void) {
    join();
    begin();
    hear(voided{7, "stalled"});
    EXPECT_EQ(look(), (transcript{"page waiting", "inform phase 2"}));
    EXPECT_EQ(agent->counted().voided, 1U);
}

TEST_F(turn_agents, give_back_a_quiet_turn_at_once_and_one_that_moves_not) {
    join();
    begin();
    agent->give_back_if_quiet();
    advance();
    EXPECT_EQ(look(), transcript{});
    node.under_way = 0;
    advance(0.001);
    agent->give_back_if_quiet();
    advance();
    EXPECT_EQ(look(), (transcript{"page waiting", "progress phase 1 lease 7", "release phase 1"}));
    EXPECT_EQ(agent->counted().handed_back, 1U);
}

TEST_F(turn_agents, say_something_at_each_heartbeat) {
    join();
    heartbeats = true;
    for (int i = 0; i < 6; ++i) advance(0.125);
    EXPECT_EQ(look(), transcript(3, "heartbeat"));
}

TEST_F(turn_agents, tell_when_the_next_phase_is_expected_once) {
    join();
    node.next_probability = 0.8;
    node.next_in_s = 10;
    advance();
    node.next_in_s = 9.9;
    advance(0.1);
    EXPECT_EQ(look(), transcript{"expect"});
    node.next_in_s = 5;
    advance(0.1);
    EXPECT_EQ(look(), transcript{"expect"});
}

TEST_F(turn_agents, write_the_turn_anew_when_a_process_has_replaced_it) {
    join();
    agent->page_was_replaced();
    advance();
    EXPECT_EQ(look(), transcript{"page waiting"});
}

}  // namespace
}  // namespace halcyon::coordinate
