#include "policy/groups.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <vector>

namespace halcyon::policy {
namespace {

using list = std::vector<uint32_t>;

TEST(target_groups, join_those_that_share_a_target_over_others_too) {
    target_groups groups;
    groups.clear();
    groups.add(list{1, 2});
    groups.add(list{5});
    groups.add(list{3});
    groups.add(list{2, 3});
    EXPECT_EQ(groups.group_of(0), groups.group_of(2));
    EXPECT_EQ(groups.group_of(0), groups.group_of(3));
    EXPECT_NE(groups.group_of(0), groups.group_of(1));
    EXPECT_EQ(groups.group_at(list{9, 5}), groups.group_of(1));
    EXPECT_EQ(groups.group_at(list{9}), target_groups::nobody);
}

TEST(target_groups, are_one_where_somebody_uses_all_targets) {
    target_groups groups;
    groups.clear();
    groups.add(list{1});
    groups.add(list{2});
    groups.add({});
    groups.add(list{3});
    for (uint32_t i = 0; i < 4; ++i) EXPECT_EQ(groups.group_of(i), 0U);
    EXPECT_EQ(groups.group_at(list{77}), 0U);
    groups.clear();
    EXPECT_EQ(groups.group_at(list{1}), target_groups::nobody);
}

TEST(target_groups, are_those_of_a_search_over_all_pairs) {
    std::mt19937_64 random(3);
    target_groups groups;
    for (int k = 0; k < 300; ++k) {
        groups.clear();
        std::vector<list> targets(1 + random() % 60);
        for (list& one : targets) {
            for (size_t i = 0; i < 1 + random() % 3; ++i)
                one.push_back(static_cast<uint32_t>(random() % 200 * 1000003));
            groups.add(one);
        }
        // Smallest reachable number, by spreading it until nothing changes.
        std::vector<uint32_t> least(targets.size());
        for (uint32_t i = 0; i < least.size(); ++i) least[i] = i;
        for (bool changed = true; changed;) {
            changed = false;
            std::map<uint32_t, uint32_t> at;
            for (uint32_t i = 0; i < least.size(); ++i) {
                for (const uint32_t target : targets[i])
                    at[target] = std::min(at.try_emplace(target, least[i]).first->second, least[i]);
            }
            for (uint32_t i = 0; i < least.size(); ++i) {
                for (const uint32_t target : targets[i]) {
                    changed = changed || at[target] < least[i];
                    least[i] = std::min(least[i], at[target]);
                }
            }
        }
        for (uint32_t i = 0; i < least.size(); ++i) ASSERT_EQ(groups.group_of(i), least[i]);
    }
}

}  // namespace
}  // namespace halcyon::policy
