#include "logfs/container/reading/size_history.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace halcyon::logfs {
namespace {

/// Added in any order, what remains is what has an effect.
TEST(size_history, keeps_what_no_later_change_replaces) {
    for (const auto kind : {size_history::kind::cut, size_history::kind::reach}) {
        for (uint64_t seed = 1; seed <= 50; ++seed) {
            std::mt19937_64 random(seed);
            memory_source memory(kernel_files());
            dropping_table table(memory);
            table.add("a");
            size_history history(memory, table, kind);
            std::vector<size_history::change> all;
            for (int64_t i = 0; i < 40; ++i) all.push_back({static_cast<int64_t>(random() % 100), i, 0});
            std::shuffle(all.begin(), all.end(), random);
            for (const auto& each : all) ASSERT_TRUE(history.add(each));
            const auto is_kept = [&](const size_history::change& one) {
                return std::none_of(all.begin(), all.end(), [&](const size_history::change& other) {
                    const bool replaces =
                        kind == size_history::kind::cut ? other.size <= one.size : other.size >= one.size;
                    return other.time_ns > one.time_ns && replaces;
                });
            };
            const auto expected = std::count_if(all.begin(), all.end(), is_kept);
            ASSERT_EQ(static_cast<int64_t>(history.size()), expected) << seed;
            int64_t before = -1;
            for (const auto& each : history) {
                EXPECT_TRUE(is_kept(each));
                EXPECT_GT(each.time_ns, before);
                before = each.time_ns;
            }
            EXPECT_EQ(history.latest().time_ns, 39);
        }
    }
}

}  // namespace
}  // namespace halcyon::logfs
