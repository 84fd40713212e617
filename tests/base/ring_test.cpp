#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <thread>

#include "base/spsc_ring.hpp"

namespace {

struct numbered {
    uint64_t number;
    uint64_t square;
};
using ring = halcyon::spsc_ring<numbered>;

/// A ring in memory of its own, as it lies in a segment.
class ring_memory {
  public:
    explicit ring_memory(uint64_t capacity)
        : bytes_(static_cast<std::byte*>(std::aligned_alloc(64, (ring::bytes_for(capacity) + 63) / 64 * 64))),
          ring_(new (bytes_.get()) ring) {}
    ring* get() { return ring_; }

  private:
    struct free_bytes {
        void operator()(std::byte* p) const { std::free(p); }
    };
    std::unique_ptr<std::byte, free_bytes> bytes_;
    ring* ring_;
};

TEST(ring, refuses_when_full_and_takes_again_after_a_pop) {
    ring_memory memory(4);
    ring::producer in(memory.get(), 4);
    ring::consumer out(memory.get(), 4);
    for (uint64_t i = 0; i < 4; ++i) EXPECT_TRUE(in.push({i, i * i}));
    EXPECT_FALSE(in.push({4, 16}));
    numbered n{};
    EXPECT_EQ(out.pop(n), ring::consumer::outcome::popped);
    EXPECT_EQ(n.number, 0U);
    EXPECT_TRUE(in.push({4, 16}));
    EXPECT_FALSE(in.push({5, 25}));
}

TEST(ring, is_empty_until_something_is_pushed) {
    ring_memory memory(2);
    ring::consumer out(memory.get(), 2);
    numbered n{};
    EXPECT_TRUE(out.empty());
    EXPECT_EQ(out.pop(n), ring::consumer::outcome::empty);
}

TEST(ring, delivers_everything_in_order_between_threads) {
    constexpr uint64_t count = 200'000;
    ring_memory memory(64);
    std::thread producer([&] {
        ring::producer in(memory.get(), 64);
        for (uint64_t i = 0; i < count;)
            if (in.push({i, i * i}))
                ++i;
            else
                std::this_thread::yield();
    });
    ring::consumer out(memory.get(), 64);
    numbered n{};
    for (uint64_t expected = 0; expected < count;) {
        if (out.pop(n) != ring::consumer::outcome::popped) {
            std::this_thread::yield();
            continue;
        }
        ASSERT_EQ(n.number, expected);
        ASSERT_EQ(n.square, expected * expected);
        ++expected;
    }
    producer.join();
}

TEST(ring, a_second_consumer_continues_where_the_first_stopped) {
    ring_memory memory(8);
    ring::producer in(memory.get(), 8);
    for (uint64_t i = 0; i < 5; ++i) ASSERT_TRUE(in.push({i, 0}));
    numbered n{};
    {
        ring::consumer first(memory.get(), 8);
        ASSERT_EQ(first.pop(n), ring::consumer::outcome::popped);
        ASSERT_EQ(first.pop(n), ring::consumer::outcome::popped);
    }
    ring::consumer second(memory.get(), 8);
    ASSERT_EQ(second.pop(n), ring::consumer::outcome::popped);
    EXPECT_EQ(n.number, 2U);
}

TEST(ring, calls_a_head_that_ran_ahead_corrupt) {
    ring_memory memory(4);
    ring::consumer out(memory.get(), 4);
    *reinterpret_cast<uint64_t*>(memory.get()) = 1000;  // head: the first word of the ring
    numbered n{};
    EXPECT_EQ(out.pop(n), ring::consumer::outcome::corrupt);
    EXPECT_TRUE(out.empty()) << "whoever sleeps until there is something would never sleep";
}

}  // namespace
