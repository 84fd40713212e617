// The loop in which calls, pieces of files and phases of programs wait: why one goes on, in which order.
#include "coordinate/client/turn_waiting.hpp"

#include <gtest/gtest.h>

#include "coordinate/layer/called_layer.hpp"

namespace halcyon::tests {
namespace {

constexpr int64_t second = 1'000'000'000;

/// Goes on when it has come back from so many sleeps.
struct scripted_waiter {
    waiter_facts knows{};
    int sleeps_before_it_goes = 1 << 20;
    bool is_forked = false;
    int sleeps = 0;
    std::optional<passage> out_of_turn{};

    std::optional<passage> try_to_go(uint32_t word) const {
        if ((word & turn_word::holds) == 0) return passage::unasked;
        return sleeps < sleeps_before_it_goes ? std::nullopt : std::optional(passage::under_lease);
    }
    [[nodiscard]] waiter_facts facts(int64_t) const { return knows; }
    void go_out_of_turn(passage why) { out_of_turn = why; }
    void leave_for_wait(int64_t) {}
    bool come_back() {
        ++sleeps;
        return !is_forked;
    }
};

class turn_waiting_test : public layer_test {
  protected:
    turn_waiting_test()
        : layer_test({.mounts = {"/scratch"}, .patience_s = 0.02}), slot_(*claim_slot(page_.shared(), 1)) {
        page_.publish(0, permission::waiting, 0, {});
    }
    [[nodiscard]] turn_place place() { return {page_.shared(), page_.shared().file_system[0], slot_.at[0]}; }
    std::optional<passage> wait(scripted_waiter& one, bool sleeps = true) {
        return wait_for_turn(place(), one, sleeps);
    }

    process_slot& slot_;
};

TEST_F(turn_waiting_test, sleeps_until_it_may_go) {
    scripted_waiter one{.sleeps_before_it_goes = 3};
    EXPECT_EQ(wait(one), passage::under_lease);
    EXPECT_EQ(one.sleeps, 3);
    EXPECT_EQ(one.out_of_turn, std::nullopt);
}

TEST_F(turn_waiting_test, says_nothing_where_it_would_have_to_sleep_and_may_not) {
    scripted_waiter one;
    EXPECT_EQ(wait(one, false), std::nullopt);
    EXPECT_EQ(one.sleeps, 0);
}

TEST_F(turn_waiting_test, counts_one_reason_to_go_on_the_first_that_holds) {
    slot_.locks = 1;
    scripted_waiter one{.knows = {.waited_ns = 3600 * second, .is_needed = true}};
    EXPECT_EQ(wait(one), passage::needed);
    EXPECT_EQ(one.out_of_turn, passage::needed);
    one.knows.is_needed = false;
    EXPECT_EQ(wait(one), passage::starving);
    one.knows = {.has_starved = true};
    EXPECT_EQ(wait(one), passage::starving);
    one.knows = {};
    EXPECT_EQ(wait(one), passage::locked);
    EXPECT_EQ(one.out_of_turn, passage::locked);
    EXPECT_EQ(slot_.at[0].let_others, 1U);
    EXPECT_EQ(slot_.at[0].let_starving, 2U);
    EXPECT_EQ(slot_.at[0].let_locks, 1U);
    EXPECT_EQ(one.sleeps, 0);
}

TEST_F(turn_waiting_test, heeds_the_locks_of_one_process_only_where_only_these_count) {
    process_slot& other = *claim_slot(page_.shared(), 2);
    other.locks = 1;
    scripted_waiter one{.knows = {.locks_of = &slot_}, .sleeps_before_it_goes = 1};
    EXPECT_EQ(wait(one), passage::under_lease);
    one.knows.locks_of = &other;
    one.sleeps = 0;
    EXPECT_EQ(wait(one), passage::locked);
}

TEST_F(turn_waiting_test, goes_on_unasked_without_a_sleep_when_nobody_answers) {
    beat(-second);
    scripted_waiter one;
    EXPECT_EQ(wait(one, false), passage::unasked);
    EXPECT_EQ(one.out_of_turn, std::nullopt);
    EXPECT_EQ(slot_.at[0].let_silent, 1U);
    EXPECT_EQ(turn_word::state(page_.shared().file_system[0].turn), permission::closed);
}

TEST_F(turn_waiting_test, ends_at_once_in_a_child_that_was_forked_off_in_a_sleep) {
    scripted_waiter one{.sleeps_before_it_goes = 2, .is_forked = true};
    EXPECT_EQ(wait(one), passage::unasked);
    EXPECT_EQ(one.sleeps, 1);
}

}  // namespace
}  // namespace halcyon::tests
