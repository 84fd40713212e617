#include "calls/memory/memory_bound.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

namespace halcyon::calls {
namespace {

struct block {
    unsigned char* at;
    size_t bytes;
    unsigned char filled;

    [[nodiscard]] bool whole() const {
        for (size_t i = 0; i < bytes; ++i) {
            if (at[i] != filled) return false;
        }
        return true;
    }
};

TEST(memory_bound, blocks_keep_what_is_in_them) {
    std::mt19937_64 random(7);
    memory_bound memory(SIZE_MAX);
    std::vector<block> blocks;
    for (int step = 0; step < 20000; ++step) {
        const size_t bytes = size_t{1} << random() % 18 | (random() % 97);
        const size_t which = blocks.empty() ? 0 : random() % blocks.size();
        if (blocks.size() < 50) {
            auto* at = static_cast<unsigned char*>(memory.take(bytes));
            ASSERT_NE(at, nullptr);
            ASSERT_EQ(reinterpret_cast<uintptr_t>(at) % alignof(double), 0u);
            const auto filled = static_cast<unsigned char>(random());
            std::memset(at, filled, bytes);
            blocks.push_back({at, bytes, filled});
            continue;
        }
        block& chosen = blocks[which];
        ASSERT_TRUE(chosen.whole()) << "step " << step;
        auto* moved = static_cast<unsigned char*>(memory.resize(chosen.at, chosen.bytes, bytes));
        ASSERT_NE(moved, nullptr);
        chosen.at = moved;
        chosen.bytes = std::min(chosen.bytes, bytes);
        ASSERT_TRUE(chosen.whole()) << "step " << step;
        chosen.bytes = bytes;
        std::memset(moved, chosen.filled, bytes);
        if (step % 3 == 0) {
            memory.give_back(chosen.at, chosen.bytes);
            chosen = blocks.back();
            blocks.pop_back();
        }
    }
}

TEST(memory_bound, an_inner_bound_counts_in_the_outer_one) {
    memory_bound outer(10000);
    memory_bound inner(4000, outer);
    void* first = inner.take(3000);
    ASSERT_NE(first, nullptr);
    EXPECT_EQ(inner.used(), outer.used());
    EXPECT_GE(inner.used(), 3000u);
    EXPECT_EQ(inner.take(1500), nullptr);
    void* second = outer.take(6000);
    ASSERT_NE(second, nullptr);
    EXPECT_EQ(inner.take(900), nullptr) << "the outer one has no room";
    inner.give_back(first, 3000);
    outer.give_back(second, 6000);
    EXPECT_EQ(inner.used(), 0u);
    EXPECT_EQ(outer.used(), 0u);
    EXPECT_GE(outer.peak(), 9000u);
}

TEST(memory_bound, refused_growth_leaves_the_block_as_it_was) {
    memory_bound memory(200000);
    auto* at = static_cast<unsigned char*>(memory.take(100000));
    ASSERT_NE(at, nullptr);
    std::memset(at, 9, 100000);
    EXPECT_EQ(memory.resize(at, 100000, 300000), nullptr);
    EXPECT_TRUE((block{at, 100000, 9}.whole()));
    memory.give_back(at, 100000);
    EXPECT_EQ(memory.used(), 0u);
}

TEST(memory_bound, what_was_given_back_is_used_again) {
    memory_bound memory(SIZE_MAX);
    for (int round = 0; round < 100000; ++round) {
        for (const size_t bytes : {24u, 100u, 5000u, 40000u}) memory.give_back(memory.take(bytes), bytes);
    }
    EXPECT_EQ(memory.used(), 0u);
    EXPECT_LT(memory.peak(), 50000u);
}

}  // namespace
}  // namespace halcyon::calls
