#include "logfs/container/reading/size_history.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace halcyon::logfs {
namespace {

/// Added in any order, some of them settled meanwhile: what remains is what has an effect.
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
            if (seed % 5 != 0) std::shuffle(all.begin(), all.end(), random);
            int64_t latest_ns = -1;
            for (const auto& each : all) {
                ASSERT_TRUE(history.add(each));
                latest_ns = std::max(latest_ns, each.time_ns);
                ASSERT_EQ(history.latest().time_ns, latest_ns);
                if (random() % 8 == 0) history.settle();
            }
            history.settle();
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
        }
    }
}

/// Two writers on nodes of their own that both make a file longer: what the second one did is known later.
TEST(size_history, takes_as_many_steps_as_there_are_changes) {
    memory_source memory(kernel_files());
    dropping_table table(memory);
    table.add("a");
    table.add("b");
    size_history history(memory, table, size_history::kind::cut);
    constexpr int64_t changes = 200000;
    for (uint32_t writer = 0; writer < 2; ++writer) {
        for (int64_t i = 0; i < changes; ++i) ASSERT_TRUE(history.add({2 * i + writer, 2 * i + writer, writer}));
    }
    history.settle();
    EXPECT_EQ(history.size(), static_cast<size_t>(2 * changes));
    EXPECT_EQ(history.begin()[1].dropping, 1U);
}

}  // namespace
}  // namespace halcyon::logfs
