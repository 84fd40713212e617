// Every order in which messages can arrive, connections break and time pass, within the bounds of each scenario: the
// whole graph of states is built. Nobody moves beside another one, and from every state the end can be reached, so
// there is no deadlock, and whoever asks is served if only messages go on to arrive.
#include <gtest/gtest.h>

#include <iostream>
#include <unordered_map>

#include "coordinate/explored_world.hpp"

namespace halcyon::coordinate {
namespace {

struct hash_of_digest {
    size_t operator()(const digest::value& of) const { return of.first; }
};

/// More than any scenario has: beyond, something goes on for ever.
constexpr size_t most_states = 1'500'000;

struct explored {
    size_t states = 0;
    size_t transitions = 0;
    size_t ends = 0;
    std::string violation;  ///< with the way to it
    std::string dead_end;   ///< likewise: a state from which there is no way on, or none to the end
};

class explorer {
  public:
    explored explore(const scenario& of) {
        stack_.clear();
        visit(world(of), 0, {});
        while (!stack_.empty() && found_.violation.empty()) {
            frame& top = stack_.back();
            if (top.next == top.actions.size()) {
                stack_.pop_back();
                continue;
            }
            const world::action which = top.actions[top.next++];
            const uint32_t from = top.index;
            // The last one needs no copy: nobody asks for that state any more.
            world next = top.next == top.actions.size() ? world(std::move(top.at)) : world(top.at);
            next.apply(which);
            ++found_.transitions;
            visit(std::move(next), from, which);
        }
        found_.states = known_.size();
        if (found_.violation.empty()) look_for_dead_ends();
        return found_;
    }

  private:
    struct frame {
        world at;
        uint32_t index = 0;
        std::vector<world::action> actions;
        size_t next = 0;
    };

    void visit(world at, uint32_t from, world::action by) {
        const auto [known, is_new] = known_.try_emplace(at.hash(), static_cast<uint32_t>(known_.size()));
        reached_from_.emplace_back(known->second, from);
        if (!is_new) return;
        parent_.push_back({from, by});
        if (known_.size() > most_states && found_.violation.empty())
            found_.violation = "too many states" + way_to(known->second) + "\n" + at.text();
        const std::string violation = at.violation();
        if (!violation.empty()) found_.violation = violation + way_to(known->second) + "\n" + at.text();
        if (at.done()) ends_.push_back(known->second);
        frame made{std::move(at), known->second, {}, 0};
        made.actions = made.at.possible();
        if (made.actions.empty() && !made.at.done() && found_.dead_end.empty())
            found_.dead_end = "nothing can happen" + way_to(known->second) + "\n" + made.at.text();
        stack_.push_back(std::move(made));
    }

    void look_for_dead_ends() {
        found_.ends = ends_.size();
        std::vector<std::vector<uint32_t>> before(known_.size());
        for (const auto& [to, from] : reached_from_) before[to].push_back(from);
        std::vector<char> leads_to_end(known_.size());
        std::vector<uint32_t> left = ends_;
        for (const uint32_t end : ends_) leads_to_end[end] = 1;
        while (!left.empty()) {
            const uint32_t one = left.back();
            left.pop_back();
            for (const uint32_t from : before[one])
                if (leads_to_end[from] == 0) leads_to_end[from] = 1, left.push_back(from);
        }
        for (uint32_t i = 0; i < leads_to_end.size() && found_.dead_end.empty(); ++i)
            if (leads_to_end[i] == 0) found_.dead_end = "no way to the end" + way_to(i);
    }

    std::string way_to(uint32_t index) const {
        std::vector<std::string> steps;
        for (; index != 0; index = parent_[index].first) steps.push_back(parent_[index].second.text());
        std::string way;
        for (; !steps.empty(); steps.pop_back()) way.append("\n  ").append(steps.back());
        return way;
    }

    std::unordered_map<digest::value, uint32_t, hash_of_digest> known_;
    std::vector<std::pair<uint32_t, world::action>> parent_;
    std::vector<std::pair<uint32_t, uint32_t>> reached_from_;
    std::vector<uint32_t> ends_;
    std::vector<frame> stack_;
    explored found_;
};

std::vector<step> phase_at(uint8_t storage, int rounds) {
    std::vector<step> made = {{step::kind::begin, storage}};
    for (int i = 0; i < rounds; ++i) made.push_back({step::kind::round, storage});
    made.push_back({step::kind::end, storage});
    return made;
}

std::vector<step> then(std::vector<step> first, const std::vector<step>& second) {
    first.insert(first.end(), second.begin(), second.end());
    return first;
}

explored explore(const scenario& of) {
    explored found = explorer().explore(of);
    std::cout << "           " << found.states << " states, " << found.transitions << " transitions, " << found.ends
              << " ends\n";
    return found;
}

void expect_sound(const scenario& of) {
    const explored found = explore(of);
    EXPECT_EQ(found.violation, "");
    EXPECT_EQ(found.dead_end, "");
    EXPECT_GT(found.ends, 0U);
}

scenario applications(policy::rule rule, std::vector<std::vector<step>> programs, std::vector<uint8_t> agents) {
    scenario of;
    of.rule = rule;
    of.programs = std::move(programs);
    of.agents = std::move(agents);
    return of;
}

TEST(exploration, of_two_applications_served_in_order) {
    scenario of = applications(policy::rule::fcfs, {then(phase_at(0, 1), phase_at(0, 1)), phase_at(0, 2)}, {1, 1});
    of.ticks = 4;
    expect_sound(of);
}

TEST(exploration, of_two_applications_whose_connections_break) {
    scenario of = applications(policy::rule::fcfs, {phase_at(0, 1), phase_at(0, 1)}, {1, 1});
    of.ticks = 2;
    of.disconnects = 1;
    expect_sound(of);
}

TEST(exploration, of_three_applications_served_in_order) {
    scenario of = applications(policy::rule::fcfs, {phase_at(0, 1), phase_at(0, 1), phase_at(0, 1)}, {1, 1, 1});
    of.disconnects = 1;
    expect_sound(of);
}

TEST(exploration, of_interruptions) {
    scenario of = applications(policy::rule::interrupt, {phase_at(0, 2), phase_at(0, 1)}, {1, 1});
    of.ticks = 1;
    of.disconnects = 1;
    expect_sound(of);
}

TEST(exploration, of_three_applications_that_interrupt_each_other) {
    expect_sound(applications(policy::rule::interrupt, {phase_at(0, 2), phase_at(0, 1), phase_at(0, 1)}, {1, 1, 1}));
}

TEST(exploration, of_collectives_that_are_interrupted) {
    scenario of = applications(policy::rule::interrupt, {phase_at(0, 2), phase_at(0, 1)}, {2, 1});
    of.ticks = 1;
    expect_sound(of);
}

TEST(exploration, of_a_collective_one_of_whose_agents_loses_its_connection) {
    scenario of = applications(policy::rule::interrupt, {phase_at(0, 1), phase_at(0, 1)}, {2, 1});
    of.disconnects = 1;
    of.first_to_lose = of.last_to_lose = 1;
    expect_sound(of);
}

TEST(exploration, of_a_coordinator_that_is_restarted) {
    scenario of = applications(policy::rule::fcfs, {phase_at(0, 1), phase_at(0, 1)}, {1, 1});
    of.restarts = 1;
    of.ticks = 1;
    expect_sound(of);
}

TEST(exploration, of_a_coordinator_that_is_restarted_under_interruptions) {
    scenario of = applications(policy::rule::interrupt, {phase_at(0, 1), phase_at(0, 1)}, {1, 1});
    of.restarts = 1;
    expect_sound(of);
}

TEST(exploration, of_an_application_that_comes_while_two_nodes_of_another_one_have_a_standing_turn) {
    scenario of = applications(policy::rule::fcfs, {phase_at(0, 1), phase_at(0, 1)}, {2, 1});
    of.first_late = 1;
    expect_sound(of);
}

/// A holds its turn at one storage when it needs the other one, B the other way round.
scenario two_storages(bool hand_back) {
    const auto nested = [](uint8_t outer, uint8_t inner) {
        return std::vector<step>{{step::kind::begin, outer}, {step::kind::round, outer}, {step::kind::begin, inner},
                                 {step::kind::round, inner}, {step::kind::end, inner},   {step::kind::round, outer},
                                 {step::kind::end, outer}};
    };
    scenario of = applications(policy::rule::fcfs, {nested(0, 1), nested(1, 0)}, {1, 1});
    of.storages = 2;
    of.hand_back = hand_back;
    of.stalled_s = 1000;  // nobody else resolves it
    return of;
}

TEST(exploration, of_two_coordinators_whose_turns_are_handed_back_before_waiting) {
    expect_sound(two_storages(true));
}

TEST(exploration, finds_the_deadlock_between_two_coordinators_whose_turns_are_kept_while_waiting) {
    const explored found = explore(two_storages(false));
    EXPECT_EQ(found.violation, "");
    EXPECT_NE(found.dead_end, "");
}

}  // namespace
}  // namespace halcyon::coordinate
