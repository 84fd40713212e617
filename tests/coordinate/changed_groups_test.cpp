// What a decision has changed, for the log.
#include "coordinate/coordinator/changed_groups.hpp"

#include <gtest/gtest.h>

namespace halcyon::coordinate {
namespace {

using list = std::vector<uint32_t>;
using ids = std::vector<uint64_t>;

policy::application waiting(uint64_t id, const list& targets) {
    policy::application made;
    made.id = id;
    made.state = policy::movement::waiting;
    made.arrived_s = -static_cast<double>(id);  // the latest one came first
    made.targets = targets;
    return made;
}

TEST(changed_groups, come_in_the_order_of_the_changes_and_the_changed_ones_first) {
    std::vector<policy::application> seen{waiting(1, {1}),    waiting(2, {7}), waiting(3, {3}), waiting(4, {1, 2}),
                                          waiting(5, {2, 9}), waiting(6, {7}), waiting(7, {8})};
    seen.push_back(waiting(8, {3, 8}));
    seen.back().state = policy::movement::expected;  // it joins nobody
    const ids granted{6, 1}, recalled{7, 4};
    changed_groups changed;
    for (int twice = 0; twice < 2; ++twice) {
        const auto found = changed.find(seen, granted, recalled);
        ASSERT_EQ(found.size(), 3U) << "nothing of 3 has changed";
        std::vector<ids> members;
        ids first, moves, stops;
        for (const changed_groups::group& one : found) {
            first.push_back(one.first_id);
            members.emplace_back();
            for (const changed_groups::member& each : one.members) {
                members.back().push_back(each.of->id);
                if (each.rank != changed_groups::unchanged) (each.moves ? moves : stops).push_back(each.of->id);
            }
        }
        EXPECT_EQ(first, (ids{2, 1, 7}));
        EXPECT_EQ(members, (std::vector<ids>{{6, 2}, {4, 1, 5}, {7}}));
        EXPECT_EQ(moves, (ids{6, 1}));
        EXPECT_EQ(stops, (ids{4, 7}));
    }
}

/// Work that grows with the square of their number does not come to an end in time.
TEST(changed_groups, of_thousands_are_found) {
    constexpr uint32_t count = 200'000;
    std::vector<policy::application> seen;
    ids all;
    for (uint32_t i = 0; i < count; ++i) {
        all.push_back(i + 1);
        seen.push_back(waiting(all.back(), {i, i + 1}));
    }
    changed_groups changed;
    const auto found = changed.find(seen, all, {});
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].members.size(), count);
    for (policy::application& one : seen) one.targets.pop_back();
    EXPECT_EQ(changed.find(seen, {}, all).size(), count);
}

}  // namespace
}  // namespace halcyon::coordinate
