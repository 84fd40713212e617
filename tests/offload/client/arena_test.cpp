#include "offload/client/arena.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "offload/segment/segment.hpp"

namespace halcyon::offload {
namespace {

constexpr uint64_t unit = block_alignment;

TEST(an_arena, gives_blocks_of_iterations_from_below_and_those_that_stay_from_above) {
    arena a(10 * unit, 10);
    EXPECT_EQ(a.take(2 * unit), 0U);
    EXPECT_EQ(a.take(3 * unit, arena::side::above), 7 * unit);
    EXPECT_EQ(a.take(unit), 2 * unit);
    EXPECT_EQ(a.free_bytes(), 4 * unit);
}

TEST(an_arena, has_no_room_for_more_than_its_largest_free_piece) {
    arena a(6 * unit, 6);
    const auto first = a.take(2 * unit);
    ASSERT_TRUE(a.take(2 * unit));
    ASSERT_TRUE(first);
    a.give_back(*first, 2 * unit);
    EXPECT_EQ(a.free_bytes(), 4 * unit);
    EXPECT_EQ(a.take(3 * unit), std::nullopt) << "the free pieces are apart";
    EXPECT_EQ(a.take(3 * unit, arena::side::above), std::nullopt);
    EXPECT_EQ(a.free_bytes(), 4 * unit) << "a refusal took something";
    EXPECT_EQ(a.take(2 * unit), 0U);
}

TEST(an_arena, merges_a_piece_with_both_neighbours) {
    arena a(3 * unit, 3);
    for (uint64_t i = 0; i < 3; ++i) ASSERT_EQ(a.take(unit), i * unit);
    a.give_back(0, unit);
    a.give_back(2 * unit, unit);
    a.give_back(unit, unit);
    EXPECT_EQ(a.take(3 * unit), 0U);
}

TEST(an_arena, takes_an_empty_block_for_one_unit) {
    arena a(2 * unit, 2);
    EXPECT_EQ(a.take(0), 0U);
    EXPECT_EQ(a.take(0), unit);
    EXPECT_EQ(a.take(0), std::nullopt);
    a.give_back(0, 0);
    EXPECT_EQ(a.free_bytes(), unit);
}

TEST(an_arena, never_gives_a_byte_twice_and_is_whole_again_at_the_end) {
    std::mt19937 random(7);
    arena a(64 * unit, 64);
    std::map<uint64_t, uint64_t> taken;  // offset → bytes
    uint64_t held = 0;
    for (int step = 0; step < 20'000; ++step) {
        if (random() % 2 == 0) {
            const uint64_t bytes = (1 + random() % 9) * unit;
            const auto at = a.take(bytes, random() % 4 == 0 ? arena::side::above : arena::side::below);
            if (!at) continue;
            ASSERT_LE(*at + bytes, a.size());
            const auto next = taken.lower_bound(*at);
            ASSERT_TRUE(next == taken.end() || *at + bytes <= next->first);
            ASSERT_TRUE(next == taken.begin() || std::prev(next)->first + std::prev(next)->second <= *at);
            taken[*at] = bytes;
            held += bytes;
        } else if (!taken.empty()) {
            const auto which = std::next(taken.begin(), static_cast<ptrdiff_t>(random() % taken.size()));
            a.give_back(which->first, which->second);
            held -= which->second;
            taken.erase(which);
        }
        ASSERT_EQ(a.free_bytes(), a.size() - held);
    }
    for (const auto& [offset, bytes] : taken) a.give_back(offset, bytes);
    EXPECT_EQ(a.take(64 * unit), 0U);
}

}  // namespace
}  // namespace halcyon::offload
