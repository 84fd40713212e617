// Whose clients are read when there is more to read than time.
#include "coordinate/daemon/reading_turns.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace halcyon::coordinate {
namespace {

constexpr int64_t ms = 1'000'000;
constexpr uid_t flood = 1, other = 2;

TEST(reading_turns, of_a_user_end_with_its_part_of_the_pass_and_those_of_others_go_on) {
    reading_turns turns;
    turns.begin_pass();
    int read = 0;
    for (connection_id id = 1; id <= 100; ++id) {
        if (!turns.may_read(id, flood)) continue;
        turns.was_read(flood, ms);
        ++read;
    }
    EXPECT_EQ(read, 5);
    EXPECT_TRUE(turns.may_read(101, other));
    EXPECT_FALSE(turns.next()) << "until the next pass";
    EXPECT_TRUE(turns.waits(6));
    EXPECT_FALSE(turns.waits(5));
}

TEST(reading_turns, go_to_those_that_wait_before_others_of_their_user) {
    reading_turns turns;
    turns.begin_pass();
    turns.was_read(flood, 5 * ms);
    for (connection_id id = 1; id <= 8; ++id) EXPECT_FALSE(turns.may_read(id, flood));
    turns.forget(2);
    std::vector<connection_id> read;
    for (int pass = 0; pass < 3; ++pass) {
        turns.begin_pass();
        EXPECT_FALSE(turns.may_read(9, flood));
        while (const auto id = turns.next()) {
            read.push_back(*id);
            turns.was_read(flood, 2 * ms);
        }
    }
    EXPECT_EQ(read, (std::vector<connection_id>{1, 3, 4, 5, 6, 7, 8, 9}));
}

TEST(reading_turns, of_one_with_more_to_say_come_behind_those_of_its_user_that_wait) {
    reading_turns turns;
    turns.begin_pass();
    EXPECT_FALSE(turns.anybody_waits());
    ASSERT_TRUE(turns.may_read(1, flood));
    turns.was_read(flood, 2 * ms);
    EXPECT_EQ(turns.left_ns(flood), 3 * ms);
    turns.was_read(flood, 4 * ms);
    EXPECT_EQ(turns.left_ns(flood), 0);
    EXPECT_FALSE(turns.may_read(2, flood));
    turns.wait(1, flood);
    turns.wait(1, flood);
    turns.begin_pass();
    EXPECT_EQ(turns.left_ns(flood), reading_turns::of_user_ns);
    EXPECT_EQ(turns.next(), 2U);
    EXPECT_EQ(turns.next(), 1U);
    EXPECT_FALSE(turns.anybody_waits());
    EXPECT_FALSE(turns.next());
}

TEST(reading_turns, alternate_between_users_whose_clients_wait) {
    reading_turns turns;
    turns.begin_pass();
    for (const uid_t user : {flood, other}) turns.was_read(user, 5 * ms);
    for (connection_id id = 1; id <= 4; ++id) EXPECT_FALSE(turns.may_read(id, id <= 2 ? flood : other));
    turns.begin_pass();
    std::vector<connection_id> read;
    while (const auto id = turns.next()) read.push_back(*id);
    EXPECT_EQ(read, (std::vector<connection_id>{1, 3, 2, 4}));
}

}  // namespace
}  // namespace halcyon::coordinate
