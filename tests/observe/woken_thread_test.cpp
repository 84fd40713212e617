// A thread of ours that sleeps while there is nothing to do, and ends when that takes long.
#include "calls/state/woken_thread.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <chrono>

namespace halcyon::calls {
namespace {

struct counted_work {
    std::atomic<int> done{0};
    std::atomic<int> todo{0};
    std::atomic<int64_t> again_ns{woken_thread::only_woken};
    woken_thread thread;

    ~counted_work() {
        wait_until([&] { return thread.has_ended(); });
    }

    static int64_t work(void* of) {
        auto& here = *static_cast<counted_work*>(of);
        ++here.done;
        here.todo = 0;
        return here.again_ns;
    }
    void bring_work() {
        todo = 1;
        EXPECT_TRUE(thread.wake(work, this));
    }
    template <class Condition>
    static void wait_until(Condition holds) {
        const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(60);
        while (!holds()) {
            ASSERT_LT(std::chrono::steady_clock::now(), limit);
            sched_yield();
        }
    }
};

TEST(woken_thread, does_what_it_is_woken_for_and_no_more) {
    counted_work of;
    for (int i = 0; i < 1000; ++i) {
        of.bring_work();
        counted_work::wait_until([&] { return of.todo == 0; });
    }
    EXPECT_LE(of.done, 1001);
    EXPECT_GE(of.done, 1000);
}

TEST(woken_thread, comes_again_though_nobody_wakes_it_when_it_wants_to) {
    counted_work of;
    of.again_ns = 1'000'000;
    of.bring_work();
    counted_work::wait_until([&] { return of.done >= 5; });
    of.again_ns = woken_thread::only_woken;
}

TEST(woken_thread, begins_again_after_it_has_ended) {
    counted_work of;
    of.bring_work();
    counted_work::wait_until([&] { return of.thread.has_ended(); });
    of.bring_work();
    counted_work::wait_until([&] { return of.done == 2; });
}

}  // namespace
}  // namespace halcyon::calls
