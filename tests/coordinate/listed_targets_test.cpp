// Applications that list the storage targets of their phases.
#include <numeric>
#include <utility>

#include "coordinate/conversation.hpp"

namespace halcyon::coordinate {
namespace {

inform phase_on(std::vector<uint32_t> targets, uint64_t number = 1) {
    inform what = phase_of(number);
    what.targets = std::move(targets);
    return what;
}

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

}  // namespace
}  // namespace halcyon::coordinate
