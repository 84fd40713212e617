#include "offload/model/boxes.hpp"

#include <gtest/gtest.h>

#include <random>

namespace halcyon::offload {
namespace {

constexpr int64_t side = 6;  ///< of the square that the boxes lie in

box random_box(std::mt19937& random) {
    box b;
    for (int d = 0; d < 2; ++d) {
        const int64_t from = std::uniform_int_distribution<int64_t>(0, side - 1)(random);
        b.start.push_back(from);
        b.count.push_back(std::uniform_int_distribution<int64_t>(1, side - from)(random));
    }
    return b;
}

/// How many of the boxes hold each element.
std::vector<int> cover(const std::vector<box>& boxes) {
    std::vector<int> times(side * side);
    for (const box& b : boxes)
        for (int64_t y = b.start[0]; y < b.start[0] + b.count[0]; ++y)
            for (int64_t x = b.start[1]; x < b.start[1] + b.count[1]; ++x) ++times[static_cast<size_t>(y * side + x)];
    return times;
}

TEST(boxes, an_overlap_is_found_exactly_when_an_element_is_held_twice) {
    std::mt19937 random(7);
    int overlapping = 0;
    for (int round = 0; round < 2000; ++round) {
        std::vector<box> boxes;
        for (int i = 0; i < 1 + round % 4; ++i) boxes.push_back(random_box(random));
        const auto times = cover(boxes);
        const bool twice = std::any_of(times.begin(), times.end(), [](int n) { return n > 1; });
        const auto found = find_overlap(boxes);
        ASSERT_EQ(found.has_value(), twice) << "round " << round;
        if (found) {
            EXPECT_TRUE(overlap(boxes[found->first], boxes[found->second]));
            EXPECT_NE(found->first, found->second);
        }
        overlapping += twice ? 1 : 0;
    }
    EXPECT_GT(overlapping, 100);
    EXPECT_LT(overlapping, 1900);
}

TEST(boxes, what_none_covers_is_found_exactly) {
    std::mt19937 random(13);
    int with_holes = 0;
    for (int round = 0; round < 2000; ++round) {
        const box of = random_box(random);
        std::vector<box> boxes;
        for (int i = 0; i < round % 9; ++i) boxes.push_back(random_box(random));
        const auto times = cover(boxes), wanted = cover({of});
        int64_t none = 0;
        for (size_t i = 0; i < times.size(); ++i) none += wanted[i] > 0 && times[i] == 0 ? 1 : 0;
        const uncovered_part found = find_uncovered(of, boxes);
        ASSERT_EQ(found.elements, none) << "round " << round;
        if (none == 0) continue;
        const auto hole = cover({found.large});
        ASSERT_GT(found.large.count.count(), 0);
        for (size_t i = 0; i < hole.size(); ++i) ASSERT_TRUE(hole[i] == 0 || (wanted[i] > 0 && times[i] == 0));
        ++with_holes;
    }
    EXPECT_GT(with_holes, 100);
    EXPECT_LT(with_holes, 1900);
}

TEST(boxes, a_hole_is_named_in_its_full_length) {
    const box whole{{0, 0}, {6, 6}};
    const std::vector<box> rows{{{0, 0}, {2, 4}}, {{2, 0}, {2, 4}}, {{4, 0}, {2, 5}}};
    const uncovered_part found = find_uncovered(whole, rows);
    EXPECT_EQ(found.elements, 10);
    EXPECT_EQ(found.large, (box{{0, 4}, {4, 2}}));
}

TEST(boxes, a_box_of_no_dimensions_is_covered_by_another) {
    EXPECT_EQ(find_uncovered(box{}, std::vector<box>{}).elements, 1);
    EXPECT_EQ(find_uncovered(box{}, std::vector<box>{box{}}).elements, 0);
}

TEST(boxes, what_is_left_after_subtraction_is_the_rest_and_each_element_once) {
    std::mt19937 random(11);
    for (int round = 0; round < 2000; ++round) {
        const box from = random_box(random), hole = random_box(random);
        std::vector<box> left;
        subtract(from, hole, left);
        const auto of_from = cover({from}), of_hole = cover({hole}), of_left = cover(left);
        for (size_t i = 0; i < of_left.size(); ++i)
            ASSERT_EQ(of_left[i], of_from[i] > 0 && of_hole[i] == 0 ? 1 : 0) << "round " << round;
    }
}

}  // namespace
}  // namespace halcyon::offload
