// What has moved of calls whose bytes are counted when they begin.
#include "coordinate/estimates/begun_bytes.hpp"

#include <gtest/gtest.h>

namespace halcyon::coordinate {
namespace {

constexpr int64_t round_bytes = 16'000'000;
constexpr double heartbeat_s = 0.25, rest_s = 0.23;
constexpr double round_s = 5 * heartbeat_s + rest_s;

/// Adds up what is known.
class adding {
  public:
    std::optional<begun_bytes::moved> add(int64_t bytes, double seconds, bool under_way) {
        const auto known = counted_.add(bytes, seconds, under_way);
        if (known) bytes_ += known->bytes, seconds_ += known->seconds;
        return known;
    }
    /// Reports in which nothing begins and a call is under way.
    void wait() {
        for (int i = 0; i < 5; ++i) EXPECT_FALSE(add(0, heartbeat_s, true)) << i;
    }
    [[nodiscard]] int64_t bytes() const { return bytes_; }
    [[nodiscard]] double seconds() const { return seconds_; }

  private:
    begun_bytes counted_;
    int64_t bytes_ = 0;
    double seconds_ = 0;
};

TEST(begun_bytes, know_the_speed_of_rounds_that_follow_one_another_with_all_their_bytes_at_once) {
    adding all;
    EXPECT_FALSE(all.add(round_bytes, 0.0006, true));
    all.wait();
    EXPECT_FALSE(all.add(round_bytes, rest_s, true)) << "when these end is not known yet";
    for (int round = 0; round < 3; ++round) {
        all.wait();
        const auto known = all.add(round_bytes, rest_s, true);
        ASSERT_TRUE(known);
        EXPECT_EQ(known->bytes, round_bytes);
        EXPECT_NEAR(known->seconds, round_s, 1e-9) << "the first one, too";
    }
    all.wait();
    EXPECT_TRUE(all.add(0, rest_s, false));
    EXPECT_EQ(all.bytes(), 5 * round_bytes);
    EXPECT_NEAR(all.seconds(), 5 * round_s, 0.001) << "all the time that it took";
}

TEST(begun_bytes, know_of_one_round_when_it_is_over) {
    adding all;
    EXPECT_FALSE(all.add(round_bytes, 0.0006, true));
    all.wait();
    EXPECT_TRUE(all.add(0, rest_s, false));
    EXPECT_EQ(all.bytes(), round_bytes);
    EXPECT_NEAR(all.seconds(), round_s, 0.001);
}

TEST(begun_bytes, know_the_speed_of_many_calls_under_way_that_others_replace) {
    adding all;
    EXPECT_FALSE(all.add(round_bytes, 0.0006, true));
    EXPECT_FALSE(all.add(1'000'000, 0.1, true));
    for (int i = 0; i < 10; ++i) {
        const auto known = all.add(1'000'000, 0.1, true);
        ASSERT_TRUE(known);
        EXPECT_NEAR(known->bytes_per_s(), 10e6, 1);
    }
}

}  // namespace
}  // namespace halcyon::coordinate
