// What a coordinator that has just been started believes of those that come back to it.
#include <algorithm>

#include "coordinate/conversation.hpp"

namespace halcyon::coordinate {
namespace {

constexpr uint64_t of_before = uint64_t{1} << 32U;  ///< epoch 1

settings relearns(policy::rule rule) {
    settings how = conversation::quick(rule);
    how.relearn_s = settings{}.relearn_s;
    return how;
}

inform shows(uint64_t lease) {
    inform what = phase_of(1);
    what.lease = what.fence = lease;
    return what;
}

class relearning : public testing::TestWithParam<policy::rule> {};
INSTANTIATE_TEST_SUITE_P(under, relearning, testing::Values(policy::rule::fcfs, policy::rule::interrupt),
                         [](const auto& info) { return std::string(policy::name_of(info.param)); });

TEST_P(relearning, lets_who_moved_go_on_though_others_came_back_first) {
    conversation c(relearns(GetParam()), 2);
    c.join("B", 1001);
    c.say("B", phase_of(1));
    c.now_s = 0.1;
    c.join("A", 1000);
    c.say("A", shows(of_before + 7));
    c.now_s = 0.2;
    c.join("C", 1002);
    c.say("C", phase_of(1));
    EXPECT_TRUE(c.has_turn("A"));
    c.pass(3, {"A", "B", "C"}, fast);
    EXPECT_TRUE(c.has_turn("A"));
    EXPECT_EQ(c.told.counted().recalls, 0U);
    c.say("A", release{1});
    EXPECT_FALSE(c.has_turn("A"));
    EXPECT_TRUE(c.has_turn("B") || c.has_turn("C"));
}

TEST(relearning_dynamic, stops_nobody_whose_turn_nobody_could_have_yet) {
    conversation c(relearns(policy::rule::dynamic), 2);
    c.join("A", 1000);
    inform mine = shows(of_before + 7);
    mine.left_s = mine.alone_s = 100;
    c.say("A", mine);
    c.join("B", 1001);
    c.say("B", phase_of(1));
    EXPECT_TRUE(c.has_turn("A"));
    c.pass(relearns(policy::rule::dynamic).relearn_s + 0.5, {"A", "B"}, 1000);
    EXPECT_EQ(c.of("A").turn, turn_stage::recalled) << "afterwards the shorter one is let pass";
}

TEST_P(relearning, waits_for_holders_whose_agents_try_four_times_a_second) {
    conversation c(relearns(GetParam()), 2);
    c.join("B", 1001);
    c.say("B", phase_of(1));
    c.pass(0.5, {"B"});  // the first try of A's agent came just before the start, the second failed
    c.join("A", 1000);
    c.say("A", shows(of_before + 7));
    EXPECT_TRUE(c.has_turn("A"));
    EXPECT_FALSE(c.has_turn("B"));
}

TEST_P(relearning, believes_in_one_holder_of_a_storage) {
    conversation c(relearns(GetParam()), 2);
    c.join("A", 1000);
    c.say("A", shows(of_before + 7));
    c.join("L", 1001);
    c.say("L", shows(of_before + 8));
    EXPECT_TRUE(c.has_turn("A"));
    EXPECT_FALSE(c.has_turn("L"));
    EXPECT_EQ(c.told.counted().dropped_leases, 1U);
}

TEST_P(relearning, believes_in_holders_of_other_storage_targets) {
    conversation c(relearns(GetParam()), 2);
    for (const uint32_t i : {1, 2}) {
        const std::string who = i == 1 ? "A" : "B";
        c.join(who, 1000 + i);
        inform what = shows(of_before + i);
        what.targets = {i};
        c.say(who, what);
        EXPECT_TRUE(c.has_turn(who));
    }
}

TEST_P(relearning, ends_and_then_nobody_takes_the_turn_with_an_invented_lease) {
    conversation c(relearns(GetParam()), 2);
    c.pass(1);
    c.join("A", 1000);
    const connection_id liar = c.connect("L", 1002);
    c.say("L", conversation::registration_of("L"));
    c.say("A", stopped{c.lease["A"]});
    // Nobody moves at this moment.
    c.told.received(liar, shows(of_before + 7), c.now_s);
    c.say("A", phase_of(1));
    EXPECT_EQ(c.told.counted().dropped_leases, 1U);
    EXPECT_NE(c.of("L").lease, of_before + 7);
    EXPECT_EQ(c.told.state().applications.size(), 2U);
}

}  // namespace
}  // namespace halcyon::coordinate
