// Storage targets of an application that has agents on several nodes.
#include <algorithm>

#include "coordinate/conversation.hpp"

namespace halcyon::coordinate {
namespace {

using transcript = std::vector<std::string>;

/// A, with agents on two nodes, and B.
conversation two_nodes_and_another_job() {
    conversation c(conversation::quick(policy::rule::fcfs));
    c.connect("A1");
    c.connect("A2");
    c.say("A1", conversation::registration_of("A", "n1"));
    c.say("A2", conversation::registration_of("A", "n2"));
    c.join("B");
    for (const char* const node : {"A1", "A2"}) c.say(node, stopped{c.lease["A1"]});  // of its standing turn
    return c;
}

TEST(targets_of_nodes, are_all_those_of_their_application) {
    conversation c = two_nodes_and_another_job();
    c.say("A1", phase_on({1, 2}));
    c.say("A2", phase_on({4}));
    c.join("C");
    c.say("B", phase_on({3, 4}));
    c.say("C", phase_on({0, 2}));
    EXPECT_TRUE(c.has_turn("A"));
    EXPECT_FALSE(c.has_turn("B"));
    EXPECT_FALSE(c.has_turn("C"));
    c.say("A2", release{1});
    EXPECT_FALSE(c.has_turn("B")) << "until the phase of the application is over, its targets only grow";
    c.say("A1", release{1});
    EXPECT_TRUE(c.has_turn("B"));
    EXPECT_TRUE(c.has_turn("C"));
}

TEST(targets_of_nodes, are_all_there_are_from_the_moment_on_at_which_one_node_does_not_know_its_own) {
    conversation c = two_nodes_and_another_job();
    c.say("A1", phase_on({1, 2}));
    c.say("A2", phase_on({}));
    c.say("A2", phase_on({4}));  // knows them too late
    c.say("B", phase_on({3}));
    EXPECT_TRUE(c.has_turn("A"));
    EXPECT_FALSE(c.has_turn("B"));
}

TEST(targets_of_nodes, are_given_up_by_a_later_application_when_an_earlier_one_comes_to_use_them) {
    conversation c = two_nodes_and_another_job();
    c.say("A1", phase_on({1, 2}));
    c.say("B", phase_on({3}));
    EXPECT_TRUE(c.has_turn("A"));
    EXPECT_TRUE(c.has_turn("B"));
    c.look();
    c.say("A2", phase_on({}));
    const transcript said = c.look();
    EXPECT_EQ(std::ranges::count_if(said, [](const std::string& one) { return one.starts_with("B <- recall"); }), 1)
        << testing::PrintToString(said);
}

}  // namespace
}  // namespace halcyon::coordinate
