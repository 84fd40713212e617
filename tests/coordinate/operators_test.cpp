// What a coordinator tells administrators: its state, and why it decided as it did.
#include <algorithm>
#include <string>
#include <vector>

#include "coordinate/conversation.hpp"
#include "coordinate/coordinator/decision_log.hpp"
#include "coordinate/protocol/fields.hpp"
#include "coordinate/protocol/plain_text.hpp"

namespace halcyon::coordinate {
namespace {

TEST(operators, are_told_who_has_the_turn_and_what_was_refused) {
    conversation c(conversation::quick(policy::rule::fcfs));
    c.join("A", 1000);
    c.join("B", 1001);
    c.say("A", stopped{c.lease["A"]});
    c.say("A", phase_of(1));
    c.say("B", phase_of(1, 3));
    c.connect("thief", 1002);
    c.say("thief", conversation::registration_of("A"));
    c.connect("root", 0, true);
    c.say("root", top{});
    const load* total = nullptr;
    std::vector<application_line> lines;
    for (const auto& answer : c.answers["root"]) {
        if (const auto* const one = std::get_if<load>(&answer)) total = one;
        if (const auto* const one = std::get_if<application_line>(&answer)) lines.push_back(*one);
    }
    ASSERT_NE(total, nullptr);
    EXPECT_EQ(total->rule, "fcfs");
    EXPECT_EQ(total->moving, 1);
    EXPECT_EQ(total->waiting, 1);
    EXPECT_NE(std::ranges::find(total->counts, "refused_claims 1"), total->counts.end());
    ASSERT_EQ(lines.size(), 2U);
    EXPECT_EQ(lines[0].job + " " + lines[0].state, "A moving");
    EXPECT_EQ(lines[1].job + " " + lines[1].state, "B waiting");
    EXPECT_NEAR(lines[1].expected_wait_s, 1, 0.01);
}

TEST(operators, are_told_of_an_application_whose_agents_tell_of_more_bytes_than_any_message_can) {
    conversation c(conversation::quick(policy::rule::fcfs));
    for (const char* node : {"n1", "n2"}) {
        c.connect(node);
        c.say(node, conversation::registration_of("A", node));
        c.say(node, phase_of(1, 1, most_bytes));
    }
    c.connect("root", 0, true);
    c.say("root", top{});
    const auto* const line = std::get_if<application_line>(&c.answers["root"].at(1));
    ASSERT_NE(line, nullptr);
    EXPECT_EQ(line->bytes_left, most_bytes);
}

TEST(operators, are_explained_decisions_with_what_they_were_to_cost_and_what_they_did) {
    settings how = conversation::quick(policy::rule::dynamic);
    how.metric = policy::metric::sum_of_times;
    conversation c(how);
    c.join("A", 1000);
    c.join("B", 1001);
    c.say("A", stopped{c.lease["A"]});
    c.say("A", phase_of(1, 10));
    c.say("B", phase_of(1, 1));
    c.say("A", stopped{c.lease["A"]});  // A, asked to, or of its own: B is shorter
    c.connect("root", 0, true);
    c.say("root", explain{});
    std::vector<decided> decisions;
    for (const auto& answer : c.answers["root"])
        if (const auto* const one = std::get_if<decided>(&answer)) decisions.push_back(*one);
    ASSERT_GE(decisions.size(), 2U);
    const auto recalled = std::ranges::find_if(decisions, [](const decided& one) { return !one.stop.empty(); });
    ASSERT_NE(recalled, decisions.end());
    EXPECT_EQ(recalled->stop, (std::vector<std::string>{"A"}));
    ASSERT_EQ(recalled->ways.back(), "dynamic");
    // 1 + 11, and the interruption for both; one after the other would be 10 + 11.
    EXPECT_NEAR(recalled->costs.back(), 12 + 2 * how.bounds.interruption_s, 0.01);
    EXPECT_NEAR(recalled->costs[1], 21, 0.01);
    EXPECT_EQ(recalled->observed_cost, -1);
    EXPECT_EQ(recalled->jobs, (std::vector<std::string>{"A", "B"}));
    EXPECT_EQ(recalled->left_s, (std::vector<double>{10, 1}));
    EXPECT_EQ(recalled->demands, (std::vector<double>{1, 1}));
    EXPECT_EQ(recalled->unseen_share, 0);

    c.pass(1, {"B"}, 1000);
    c.say("B", release{1});
    c.pass(10, {"A"}, 1000);
    c.say("A", release{1});
    c.answers["root"].clear();
    c.say("root", explain{});
    int observed = 0;
    for (const auto& answer : c.answers["root"])
        if (const auto* const one = std::get_if<decided>(&answer); one != nullptr && !one->stop.empty()) {
            EXPECT_NEAR(one->observed_cost, 12, 0.1);
            ++observed;
        }
    EXPECT_GT(observed, 0);
}

/// The decision that has stopped somebody, as an administrator is told of it; a blank one: there is none.
decided explained_stop(conversation& c) {
    c.connect("root", 0, true);
    c.say("root", explain{});
    for (const from_coordinator& answer : c.answers["root"]) {
        const auto* const one = std::get_if<decided>(&answer);
        if (one != nullptr && !one->stop.empty()) return *one;
    }
    ADD_FAILURE() << "nobody was stopped";
    return {};
}

TEST(operators, are_explained_what_was_observed_by_the_watts_and_the_bounds_of_the_file) {
    settings how = conversation::quick(policy::rule::dynamic);
    how.metric = policy::metric::energy;
    how.watts_per_node = 250;
    how.most_nodes = 2;
    conversation c(how);
    registration large = conversation::registration_of("A");
    large.nodes = 1000;
    c.connect("A", 1000);
    c.say("A", large);
    c.join("B", 1001);
    c.say("A", stopped{c.lease["A"]});
    c.say("A", phase_of(1, 10));
    c.say("B", phase_of(1, 1));
    c.say("A", stopped{c.lease["A"]});
    c.pass(1, {"B"}, 1000);
    c.say("B", release{1});
    c.pass(10, {"A"}, 1000);
    c.say("A", release{1});
    const decided told = explained_stop(c);
    EXPECT_EQ(told.stop, (std::vector<std::string>{"A"}));
    // B's second at one node, then A's 11 at two; and the interruption for both.
    const double joules = 250 * (1 + 2 * 11);
    EXPECT_NEAR(told.costs.back(), joules + 250 * 3 * how.bounds.interruption_s, 1);
    EXPECT_NEAR(told.observed_cost, joules, 0.01 * joules);
}

TEST(operators, are_explained_decisions_about_applications_whose_phases_began_in_another_order_than_they_came) {
    conversation c(conversation::quick(policy::rule::dynamic));
    c.join("A", 1000);
    c.join("B", 1001);
    c.say("A", stopped{c.lease["A"]});
    c.say("B", phase_of(1, 10));
    c.say("A", phase_of(1, 1));
    const decided told = explained_stop(c);
    EXPECT_NE(told.text.find("of 2 that want"), std::string::npos);
    EXPECT_FALSE(told.costs.empty());
}

TEST(operators, are_explained_decisions_about_thousands_by_some_of_their_names) {
    decision_log log(4);
    decision_log::entry one;
    for (uint64_t i = 0; i < 5000; ++i) {
        one.move.push_back("job" + std::to_string(i));
        one.pending.push_back({i, 0});
    }
    log.add(one);
    const decision_log::entry& kept = log.entries().front();
    EXPECT_EQ(kept.move.capacity() + kept.pending.capacity(), decision_log::most_names);
    const decided told = log.latest(1, 0).front();
    EXPECT_TRUE(told.text.starts_with("job0, job1, job2 and 4997 more may move")) << told.text;
    EXPECT_EQ(told.move.size(), decision_log::most_names);
    EXPECT_EQ(told.observed_cost, -1);
}

TEST(operators, are_explained_decisions_about_jobs_with_long_names) {
    std::vector<std::string> names;
    for (int i = 0; i < 3; ++i) {
        names.push_back(std::to_string(i));
        while (names.back().size() + 2 <= longest_name) names.back() += "é";
    }
    decision_log log(4);
    for (int bytes = 0; bytes < 4; ++bytes) {  // wherever the text is cut
        decision_log::entry one;
        one.move = one.stop = {names[0] + std::string(static_cast<size_t>(bytes), 'x'), names[1], names[2]};
        log.add(one);
    }
    for (const decided& one : log.latest(4, 0)) {
        EXPECT_LE(one.text.size(), longest_reason);
        EXPECT_TRUE(is_plain_text(one.text));
    }
}

}  // namespace
}  // namespace halcyon::coordinate
