#include "base/own_counter.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <thread>
#include <vector>

namespace halcyon {
namespace {

TEST(own_counter, gives_what_was_there_before) {
    std::atomic<int64_t> bytes = 5;
    EXPECT_EQ(add_to_own<int64_t>(bytes, 4096), 5);
    EXPECT_EQ(add_to_own<int64_t>(bytes, -4101), 4101);
    EXPECT_EQ(bytes, 0);
    std::atomic<uint32_t> calls = 1;
    EXPECT_EQ(add_to_own(calls, ~uint32_t{0}), 1U);
    EXPECT_EQ(calls, 0U);
}

TEST(own_counter, loses_nothing_when_threads_come_and_go) {
    constexpr int threads = 4, each = 200'000;
    std::atomic<uint32_t> counter = 0;
    for (int round = 0; round < 3; ++round) {
        add_to_own(counter, uint32_t{1});  // perhaps as the only one
        std::vector<std::jthread> all;
        for (int i = 0; i < threads; ++i)
            all.emplace_back([&] {
                for (int k = 0; k < each; ++k) add_to_own(counter, uint32_t{1});
            });
    }
    EXPECT_EQ(counter, 3U * (threads * each + 1));
}

}  // namespace
}  // namespace halcyon
