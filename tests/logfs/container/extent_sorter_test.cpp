#include "logfs/container/reading/extent_sorter.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <random>
#include <tuple>
#include <vector>

#include "logfs/container/files/file_calls.hpp"

namespace halcyon::logfs {
namespace {

auto place_of(const extent& of) {
    return std::tuple(of.start, of.time_ns, of.physical);
}

/// So many that begin in `range` behind `low`; every hundredth elsewhere.
std::vector<extent> extents_in(int64_t low, int64_t range, size_t count) {
    std::mt19937_64 random(3);
    std::vector<extent> all(count);
    for (size_t i = 0; i < count; ++i) {
        const bool is_far = i % 100 == 99;
        all[i].start = is_far ? static_cast<int64_t>(random() >> 1)
                              : low + static_cast<int64_t>(random() % static_cast<uint64_t>(range));
        all[i].time_ns = static_cast<int64_t>(random() % 7);
        all[i].physical = static_cast<int64_t>(i);
        all[i].dropping = static_cast<uint32_t>(i);
    }
    return all;
}

/// All of them, and then a part, with what was kept of the first time.
void expect_sorted(memory_source& memory, const std::vector<extent>& all) {
    extent_sorter sorter(memory);
    for (const size_t count : {all.size(), all.size() / 2}) {
        std::vector<extent> sorted(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count));
        std::vector<extent> expected = sorted;
        std::sort(expected.begin(), expected.end(),
                  [](const extent& a, const extent& b) { return place_of(a) < place_of(b); });
        sorter.sort(sorted);
        for (size_t i = 0; i < count; ++i) {
            ASSERT_EQ(place_of(sorted[i]), place_of(expected[i])) << i << " of " << count;
            ASSERT_EQ(sorted[i].dropping, expected[i].dropping);
        }
    }
}

TEST(extent_sorter, puts_extents_in_order_wherever_they_lie) {
    memory_source memory(kernel_files());
    for (const size_t count : {size_t{0}, size_t{1}, size_t{2}, size_t{99}, size_t{300}, size_t{5000}}) {
        expect_sorted(memory, extents_in(0, int64_t{1} << 38, count));
        expect_sorted(memory, extents_in(int64_t{1} << 60, 1000, count));
        expect_sorted(memory, extents_in(INT64_MAX - 5, 5, count));
        expect_sorted(memory, extents_in(12345, 1, count));
        // Close to each other, so that numbers tell them apart.
        std::vector<extent> close = extents_in(777, 1 << 20, count);
        std::erase_if(close, [](const extent& each) { return each.start > 1 << 21; });
        expect_sorted(memory, close);
    }
}

TEST(extent_sorter, needs_no_memory) {
    memory_source memory(kernel_files(), 0);
    expect_sorted(memory, extents_in(0, 1 << 20, 5000));
    EXPECT_EQ(memory.peak(), 0U);
}

TEST(extent_sorter, gives_its_memory_back) {
    memory_source memory(kernel_files());
    std::vector<extent> all = extents_in(0, 1 << 20, 99);
    all.resize(5000);
    for (size_t i = 0; i < all.size(); ++i) all[i].start = static_cast<int64_t>(i * 7919 % 5000);
    extent_sorter sorter(memory);
    sorter.sort(all);
    EXPECT_GT(memory.used(), 0U);
    EXPECT_LE(memory.used(), 5000U * 64);
    sorter.release();
    EXPECT_EQ(memory.used(), 0U);
}

}  // namespace
}  // namespace halcyon::logfs
