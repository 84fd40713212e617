#include "base/timer_queue.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace halcyon {
namespace {

/// Timers that write their letter.
class timers : public ::testing::Test {
  protected:
    timer_queue::timer letter(char c) {
        return queue_.add([this, c] { fired_ += c; });
    }
    std::string fired_at(int64_t now_ns) {
        fired_.clear();
        queue_.run_due(now_ns);
        return fired_;
    }
    timer_queue queue_;
    std::string fired_;
};

TEST_F(timers, fire_once_in_the_order_of_their_times) {
    const auto a = letter('a'), b = letter('b'), c = letter('c');
    EXPECT_EQ(queue_.next_ns(), std::nullopt) << "made is not set";
    queue_.set(b, 20);
    queue_.set(a, 10);
    queue_.set(c, 20);
    EXPECT_EQ(queue_.next_ns(), 10);
    EXPECT_EQ(fired_at(9), "");
    EXPECT_EQ(fired_at(10), "a");
    EXPECT_EQ(fired_at(100), "bc") << "of two for the same time, the one set first";
    EXPECT_EQ(fired_at(100), "");
    EXPECT_FALSE(queue_.is_set(a));
}

TEST_F(timers, can_be_set_anew_unset_and_removed) {
    const auto a = letter('a'), b = letter('b'), c = letter('c');
    for (const auto t : {a, b, c}) queue_.set(t, 10);
    queue_.set(a, 30);
    queue_.unset(b);
    queue_.remove(c);
    EXPECT_EQ(fired_at(20), "");
    EXPECT_EQ(fired_at(30), "a");
    queue_.set(c, 40);
    EXPECT_EQ(fired_at(50), "") << "it is gone";
    const auto d = letter('d');
    queue_.set(c, 60);
    EXPECT_FALSE(queue_.is_set(d)) << "who has its place now is another timer";
}

TEST_F(timers, may_remove_themselves_and_others_while_they_fire) {
    timer_queue::timer a{}, b{};
    a = queue_.add([&] {
        fired_ += 'a';
        queue_.remove(a);
        queue_.remove(b);
        // Many, so that the timers move in memory.
        for (int i = 0; i < 100; ++i) letter('x');
    });
    b = letter('b');
    const auto c = letter('c');
    for (const auto t : {a, b, c}) queue_.set(t, 10);
    EXPECT_EQ(fired_at(10), "ac");
}

TEST_F(timers, that_always_set_themselves_for_long_ago_do_not_keep_others_waiting) {
    timer_queue::timer a{};
    a = queue_.add([&] {
        fired_ += 'a';
        queue_.set(a, 0);
    });
    const auto b = letter('b');
    queue_.set(a, 0);
    queue_.set(b, 5);
    EXPECT_EQ(fired_at(10), "ab");
    EXPECT_EQ(fired_at(10), "a");
}

TEST_F(timers, agree_with_a_sorted_list_whatever_is_done) {
    for (uint32_t seed = 0; seed < 200; ++seed) {
        std::mt19937 random(seed);
        timer_queue queue;
        std::vector<timer_queue::timer> handles;
        std::vector<size_t> fired, expected;
        std::map<size_t, std::pair<int64_t, int>> set;  // timer: when, and in which order it was set
        for (int step = 0; step < 200; ++step) {
            if (handles.size() < 20) handles.push_back(queue.add([&fired, i = handles.size()] { fired.push_back(i); }));
            const size_t i = random() % handles.size();
            const int64_t when = random() % 100;
            switch (random() % 4) {
                case 0:
                    queue.unset(handles[i]);
                    set.erase(i);
                    break;
                case 1: {
                    std::vector<std::pair<std::pair<int64_t, int>, size_t>> due;
                    for (const auto& [timer, at] : set) {
                        if (at.first <= when) due.emplace_back(at, timer);
                    }
                    std::ranges::sort(due);
                    for (const auto& [at, timer] : due) {
                        expected.push_back(timer);
                        set.erase(timer);
                    }
                    queue.run_due(when);
                    break;
                }
                default:
                    queue.set(handles[i], when);
                    set[i] = {when, step};
            }
            ASSERT_EQ(fired, expected) << "seed " << seed;
            const auto first = std::ranges::min_element(set, {}, [](const auto& s) { return s.second; });
            ASSERT_EQ(queue.next_ns(), set.empty() ? std::nullopt : std::optional(first->second.first));
        }
    }
}

}  // namespace
}  // namespace halcyon
