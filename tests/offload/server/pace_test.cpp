// When a server writes, whether it compresses, and how it waits: transfer slots, compression when idle, dozing.

#include <gtest/gtest.h>

#include "base/turn.hpp"
#include "offload/server/doze.hpp"
#include "offload/server/idle_compression.hpp"
#include "offload/server/iteration_pace.hpp"
#include "offload/server/transfer_slots.hpp"

namespace halcyon::offload {
namespace {

TEST(dozing, is_short_beside_an_iteration) {
    constexpr int64_t second = 1'000'000'000;
    EXPECT_EQ(doze_ns(second, second, second / 4), second / 4 / 64);
    EXPECT_EQ(doze_ns(second, second, 100 * second), 10'000'000);
    EXPECT_EQ(doze_ns(second, second, 1'000), 100'000) << "no more often than it can look";
}

TEST(dozing, waits_for_what_is_due_alone) {
    EXPECT_EQ(doze_ns(5'000, 1'000, 0), 0) << "no iteration has been measured";
    EXPECT_GT(doze_ns(5'000, 1'000, 2'000), 0) << "late, but by no whole iteration";
    EXPECT_EQ(doze_ns(5'001, 1'000, 2'000), 0) << "the simulation does something else";
}

/// What a server does with an iteration that becomes complete at `now_ns`.
int64_t delay_of(const transfer_slots& slots, iteration_pace& pace, int64_t now_ns) {
    pace.complete(now_ns);
    return slots.delay_ns(pace.estimate_ns());
}

TEST(transfer_slots, divide_an_iteration_among_the_servers) {
    for (int server = 0; server < 4; ++server) {
        iteration_pace pace;
        const transfer_slots slots(server, 4);
        EXPECT_EQ(delay_of(slots, pace, 1'000), 0) << "no iteration has been measured";
        EXPECT_EQ(delay_of(slots, pace, 1'800), server * 200);
    }
}

TEST(transfer_slots, follow_the_length_of_iterations) {
    iteration_pace pace;
    const transfer_slots slots(1, 2);
    delay_of(slots, pace, 1'000);
    EXPECT_EQ(delay_of(slots, pace, 2'000), 500);
    EXPECT_EQ(delay_of(slots, pace, 4'000), 650) << "0.7 of 1000 and 0.3 of 2000, halved";
    int64_t now = 4'000;
    for (int i = 0; i < 30; ++i) delay_of(slots, pace, now += 2'000);
    EXPECT_NEAR(static_cast<double>(pace.estimate_ns()), 2'000, 10);
}

TEST(no_turns, delay_nothing_however_long_iterations_are) {
    EXPECT_EQ(no_turns().delay_ns(1'000), 0);
}

TEST(compression_when_idle, begins_below_a_quarter_and_ends_above_seven_tenths) {
    idle_compression idle;
    EXPECT_FALSE(idle.on());
    EXPECT_EQ(idle.observe(10, 100, false), true);
    EXPECT_EQ(idle.observe(60, 100, false), std::nullopt) << "between the two it stays as it is";
    EXPECT_TRUE(idle.on());
    EXPECT_EQ(idle.observe(200, 100, false), false);
    EXPECT_FALSE(idle.on());
}

TEST(compression_when_idle, ends_when_a_client_waits_and_holds_for_four_files) {
    idle_compression idle;
    ASSERT_EQ(idle.observe(10, 100, false), true);
    EXPECT_EQ(idle.observe(10, 100, true), false);
    for (int file = 0; file < 4; ++file) EXPECT_EQ(idle.observe(10, 100, false), std::nullopt) << file;
    EXPECT_EQ(idle.observe(10, 100, false), true);
}

TEST(compression_when_idle, decides_nothing_before_an_iteration_was_measured) {
    idle_compression idle;
    EXPECT_EQ(idle.observe(10, 0, true), std::nullopt);
    EXPECT_EQ(idle.observe(10, 100, false), true) << "what was seen without a length counted";
}

}  // namespace
}  // namespace halcyon::offload
