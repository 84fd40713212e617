#include "base/user_limits.hpp"

#include <gtest/gtest.h>

#include <random>

#include "base/token_bucket.hpp"

namespace halcyon {
namespace {

constexpr int64_t second_ns = 1'000'000'000;
using refusal = user_limits::refusal;

TEST(token_bucket, gives_a_burst_and_then_its_rate) {
    const rate_limit limit{10, 5};
    token_bucket bucket(limit, 0);
    for (int i = 0; i < 5; ++i) EXPECT_TRUE(bucket.take(limit, 1, 0));
    EXPECT_FALSE(bucket.take(limit, 1, 0));
    EXPECT_FALSE(bucket.take(limit, 1, second_ns / 20)) << "half a token is none";
    EXPECT_TRUE(bucket.take(limit, 1, second_ns / 10)) << "and what was refused cost nothing";
    EXPECT_TRUE(bucket.take(limit, 5, 100 * second_ns));
    EXPECT_FALSE(bucket.take(limit, 1, 100 * second_ns)) << "a long pause saves no more than the burst";
}

TEST(token_bucket, gives_nothing_for_a_clock_that_goes_back) {
    const rate_limit limit{10, 5};
    token_bucket bucket(limit, 10 * second_ns);
    EXPECT_TRUE(bucket.take(limit, 5, 10 * second_ns));
    EXPECT_FALSE(bucket.take(limit, 1, 0));
    EXPECT_FALSE(bucket.take(limit, 1, 10 * second_ns));
}

TEST(token_bucket, never_gives_more_than_burst_and_rate_allow) {
    const rate_limit limit{1000, 50};
    for (uint32_t seed = 0; seed < 20; ++seed) {
        std::mt19937 random(seed);
        token_bucket bucket(limit, 0);
        double taken = 0;
        int64_t now = 0;
        for (int i = 0; i < 10'000; ++i) {
            now += random() % 2'000'000;
            const auto wanted = static_cast<double>(random() % 7);
            if (bucket.take(limit, wanted, now)) taken += wanted;
            ASSERT_LE(taken, limit.burst + limit.per_s * static_cast<double>(now) * 1e-9 + 1e-6);
        }
    }
}

TEST(user_limits, messages_of_one_user_do_not_touch_another) {
    user_limits limits({.messages = {10, 3}});
    ASSERT_FALSE(limits.open(1, 0) || limits.open(2, 0));
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(limits.receive(1, 1, 0));
    for (int i = 0; i < 1000; ++i) EXPECT_FALSE(limits.receive(1, 1, 0));
    EXPECT_TRUE(limits.receive(2, 1, 0));
    EXPECT_EQ(limits.refused().refused_messages, 1000U);
    EXPECT_TRUE(limits.receive(1, 1, second_ns));
}

TEST(user_limits, all_connections_of_a_user_share_its_messages) {
    user_limits limits({.messages = {10, 3}});
    for (int i = 0; i < 5; ++i) ASSERT_FALSE(limits.open(1, 0));
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(limits.receive(1, 1, 0));
    limits.close(1);
    ASSERT_FALSE(limits.open(1, 0)) << "a new connection brings none";
    EXPECT_FALSE(limits.receive(1, 1, 0));
}

TEST(user_limits, bytes_are_limited_beside_messages) {
    user_limits limits({.messages = {10, 4}, .bytes = {100, 1000}});
    ASSERT_FALSE(limits.open(1, 0));
    EXPECT_TRUE(limits.receive(1, 900, 0));
    EXPECT_FALSE(limits.receive(1, 101, 0));
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(limits.receive(1, 10, 0)) << "a refused line costs no message either";
    EXPECT_FALSE(limits.receive(1, 10, 0)) << "four messages";
}

TEST(user_limits, connections_are_limited_in_number_and_rate) {
    user_limits limits({.most_connections = 2, .connections = {1, 5}});
    EXPECT_EQ(limits.open(1, 0), std::nullopt);
    EXPECT_EQ(limits.open(1, 0), std::nullopt);
    EXPECT_EQ(limits.open(1, 0), refusal::connections);
    limits.close(1);
    EXPECT_EQ(limits.connections(1), 1U);
    EXPECT_EQ(limits.open(1, 0), std::nullopt);
    EXPECT_EQ(limits.open(1, 0), refusal::connections);
    EXPECT_EQ(limits.open(1, 0), refusal::connection_rate) << "refused ones count";
    EXPECT_EQ(limits.refused().refused_connections, 2U);
    EXPECT_EQ(limits.refused().refused_connection_rate, 1U);
}

TEST(user_limits, many_users_take_no_more_than_the_bound) {
    user_limits limits({.most_users = 100});
    ASSERT_FALSE(limits.open(7, 0));
    for (uid_t user = 1000; user < 100'000; ++user) {
        ASSERT_FALSE(limits.open(user, 0));
        limits.close(user);
        ASSERT_LE(limits.users(), 100U);
    }
    EXPECT_EQ(limits.connections(7), 1U) << "one who is connected is not forgotten";
    EXPECT_EQ(limits.refused().forgotten_users, 99'000U - 99U);
}

TEST(user_limits, the_longest_absent_user_is_forgotten_first) {
    user_limits limits({.messages = {0, 1}, .most_users = 2});
    for (const uid_t user : {1U, 2U}) {
        ASSERT_FALSE(limits.open(user, 0));
        ASSERT_TRUE(limits.receive(user, 1, 0));
    }
    limits.close(2);
    limits.close(1);
    ASSERT_FALSE(limits.open(3, 0));
    ASSERT_FALSE(limits.open(1, 0));
    EXPECT_FALSE(limits.receive(1, 1, 0)) << "known: its message is spent";
}

TEST(user_limits, when_all_are_connected_a_newcomer_is_refused) {
    user_limits limits({.most_users = 2});
    ASSERT_FALSE(limits.open(1, 0) || limits.open(2, 0));
    EXPECT_EQ(limits.open(3, 0), refusal::users);
    EXPECT_EQ(limits.refused().refused_users, 1U);
    EXPECT_EQ(limits.open(1, 0), std::nullopt);
    limits.close(2);
    EXPECT_EQ(limits.open(3, 0), std::nullopt);
    EXPECT_EQ(limits.connections(2), 0U);
}

}  // namespace
}  // namespace halcyon
