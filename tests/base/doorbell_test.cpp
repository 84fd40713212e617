#include "base/doorbell.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "base/clock.hpp"

namespace {

TEST(doorbell, wakes_nobody_when_the_consumer_is_awake) {
    halcyon::doorbell bell;
    EXPECT_FALSE(bell.ring());
}

TEST(doorbell, a_ring_between_prepare_and_sleep_is_not_lost) {
    halcyon::doorbell bell;
    bell.prepare();
    EXPECT_TRUE(bell.ring());
    const int64_t begin = halcyon::monotonic_ns();
    bell.sleep(60'000'000'000);
    EXPECT_LT(halcyon::monotonic_ns() - begin, 30'000'000'000);
}

TEST(doorbell, sleep_ends_after_its_time) {
    halcyon::doorbell bell;
    bell.prepare();
    bell.sleep(1'000'000);
    EXPECT_FALSE(bell.ring()) << "the consumer must count as awake after its sleep";
}

TEST(doorbell, no_piece_of_work_is_left_lying) {
    constexpr int pieces = 20'000;
    halcyon::doorbell bell;
    std::atomic<int> work{0};
    std::thread consumer([&] {
        int done = 0;
        while (done < pieces) {
            if (const int n = work.exchange(0); n > 0) {
                done += n;
                continue;
            }
            bell.prepare();
            if (work.load() > 0)
                bell.cancel();
            else
                bell.sleep(-1);  // a lost wake-up would hang here, and the test's limit would end it
        }
    });
    for (int i = 0; i < pieces; ++i) {
        work.fetch_add(1);
        bell.ring();
    }
    consumer.join();
    EXPECT_EQ(work.load(), 0);
}

}  // namespace
