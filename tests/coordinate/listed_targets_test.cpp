// Applications that list the storage targets of their phases.
#include <numeric>

#include "coordinate/conversation.hpp"

namespace halcyon::coordinate {
namespace {

std::vector<uint32_t> from_to(uint32_t first, uint32_t last) {
    std::vector<uint32_t> made(last - first + 1);
    std::iota(made.begin(), made.end(), first);
    return made;
}

/// On two nodes, of a user who may list 100 targets.
conversation two_nodes() {
    settings how = conversation::quick(policy::rule::fcfs);
    how.per_user.targets = 100;
    conversation c(how);
    c.connect("A1");
    c.connect("A2");
    c.say("A1", conversation::registration_of("A", "n1"));
    c.say("A2", conversation::registration_of("A", "n2"));
    return c;
}

TEST(listed_targets, of_an_application_count_once_however_often_they_are_told) {
    conversation c = two_nodes();
    c.say("A1", phase_on(from_to(1, 60)));
    c.say("A1", phase_on(from_to(1, 60)));
    c.say("A2", phase_on(from_to(31, 100)));
    c.say("A2", phase_on({7, 7, 7}));
    EXPECT_EQ(c.told.counted().dropped_targets, 0U);
    c.join("B");
    c.say("B", phase_on({101}));
    EXPECT_EQ(c.told.counted().dropped_targets, 1U) << "the user lists 100 already";
    EXPECT_FALSE(c.has_turn("B"));
}

/// A, B, C and D have registered, and none of them has a turn.
conversation four() {
    conversation c(conversation::quick(policy::rule::fcfs));
    for (const char* const who : {"A", "B", "C", "D"}) c.join(who);
    c.say("A", stopped{c.lease["A"]});
    return c;
}

TEST(listed_targets, tell_those_that_wait_who_has_the_turn_at_their_storage) {
    conversation c = four();
    c.say("A", phase_on({1, 5}));
    c.say("B", phase_on({2}));
    ASSERT_TRUE(c.has_turn("A") && c.has_turn("B"));
    c.look();
    c.say("C", phase_on({2, 3}));
    EXPECT_EQ(c.look().back(), "C <- wait phase 1 behind B");
    c.say("D", phase_on({}));
    EXPECT_EQ(c.look().back(), "D <- wait phase 1 behind A behind B");
}

TEST(listed_targets, tell_of_those_that_use_all_targets_to_everybody_who_waits) {
    conversation c = four();
    c.say("A", phase_on({}));
    c.look();
    c.say("B", phase_on({2}));
    EXPECT_EQ(c.look().back(), "B <- wait phase 1 behind A");
}

TEST(listed_targets, tell_of_eight_that_have_the_turn) {
    conversation c = four();
    for (uint32_t i = 10; i < 20; ++i) {
        const std::string name = "M" + std::to_string(i);
        c.join(name);
        c.say(name, phase_on({i, i + 100}));
        ASSERT_TRUE(c.has_turn(name));
    }
    c.look();
    c.say("C", phase_on(from_to(11, 30)));
    std::string expected = "C <- wait phase 1";
    for (int i = 11; i < 19; ++i) expected += " behind M" + std::to_string(i);
    EXPECT_EQ(c.look().back(), expected);
}

/// Its user's other application lost a turn, since it moved nothing.
TEST(listed_targets, of_an_idle_turn_on_probation_must_be_wanted_for_it_to_be_taken_away) {
    conversation c = holder_and_waiter();
    c.pass(4.8, {"A", "B"});
    ASSERT_TRUE(c.has_turn("B"));
    c.say("B", release{1});
    c.join("C", 1000);
    c.join("D", 1001);
    c.say("C", phase_on({1}));
    c.say("B", phase_on({2}, 2));
    c.say("D", phase_on({2}));
    ASSERT_TRUE(c.has_turn("C") && c.has_turn("B"));
    ASSERT_FALSE(c.has_turn("D"));
    c.pass(2, {"A", "B", "C", "D"});
    EXPECT_TRUE(c.has_turn("C")) << "D waits for other storage";
    EXPECT_EQ(c.told.counted().stalled_holders, 1U);
    c.join("E", 1001);
    c.say("E", phase_on({1}));
    c.say("E", phase_on({1}));  // so that something is decided
    EXPECT_TRUE(c.has_turn("E"));
    EXPECT_EQ(c.told.counted().stalled_holders, 2U);
}

}  // namespace
}  // namespace halcyon::coordinate
