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

TEST(doorbell, leaves_a_consumer_that_dozes_alone_unless_rung_in_earnest) {
    halcyon::doorbell bell;
    bell.prepare();
    EXPECT_TRUE(bell.ring_unless_dozing()) << "it sleeps until somebody rings";
    bell.prepare(true);
    EXPECT_FALSE(bell.ring_unless_dozing());
    EXPECT_TRUE(bell.ring());
    EXPECT_FALSE(bell.ring_unless_dozing()) << "it is awake";
}

TEST(doorbell, wakes_a_consumer_that_dozes) {
    halcyon::doorbell bell;
    std::atomic<bool> woken{false};
    bell.prepare(true);
    std::thread consumer([&] {
        bell.sleep(60'000'000'000);
        woken.store(true);
    });
    bell.ring();
    const int64_t begin = halcyon::monotonic_ns();
    consumer.join();
    EXPECT_TRUE(woken.load());
    EXPECT_LT(halcyon::monotonic_ns() - begin, 30'000'000'000);
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
