// How long agents leave a coordinator alone that has refused them.
#include "coordinate/agent/refused_pause.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace halcyon::coordinate {
namespace {

constexpr double named_s = 10;
constexpr double waits_s[] = {10, 20, 40, 80, 160, 300, 300};

TEST(refused_pause, grows_with_each_refusal_and_is_never_shorter_than_what_was_named) {
    refused_pause of("A");
    for (const double least_s : waits_s) {
        const double pause_s = of.next(named_s);
        EXPECT_GE(pause_s, least_s);
        EXPECT_LT(pause_s, least_s * (1 + refused_pause::most_spread));
    }
    of.over();
    EXPECT_LT(of.next(named_s), 2 * named_s);
}

TEST(refused_pause, brings_agents_back_at_different_times) {
    constexpr int agents = 1000, slots = 10;
    std::vector<refused_pause> all;
    for (int i = 0; i < agents; ++i) all.emplace_back("job\nnode" + std::to_string(i) + "\n/scratch");
    for (const double least_s : waits_s) {
        std::vector<int> back(slots);
        for (refused_pause& one : all) {
            const double part = (one.next(named_s) / least_s - 1) / refused_pause::most_spread;
            ++back[static_cast<size_t>(std::clamp(part, 0.0, 0.999) * slots)];
        }
        // In none of ten equal parts of the time come back twice as many as if all were as many.
        EXPECT_LT(std::ranges::max(back), 2 * agents / slots);
        EXPECT_GT(std::ranges::min(back), 0);
    }
}

TEST(refused_pause, is_the_same_for_the_same_agent) {
    refused_pause one("A"), again("A"), other("B");
    for (int i = 0; i < 3; ++i) {
        const double pause_s = one.next(named_s);
        EXPECT_EQ(pause_s, again.next(named_s));
        EXPECT_NE(pause_s, other.next(named_s));
    }
}

}  // namespace
}  // namespace halcyon::coordinate
