// How long a process waits for its agent.
#include "coordinate/client/patience.hpp"

#include <gtest/gtest.h>

namespace halcyon::coordinate {
namespace {

TEST(patience, is_two_heartbeats_at_least_as_that_of_agents) {
    EXPECT_EQ(patience_ms("1"), 500);
    EXPECT_EQ(patience_ms("499"), 500);
    EXPECT_EQ(patience_ms("501"), 501);
}

TEST(patience, is_ten_minutes_at_most_and_a_second_where_it_makes_no_sense) {
    EXPECT_EQ(patience_ms("600001"), 600'000);
    for (const char* const set : {"", "0", "-7", "long"}) EXPECT_EQ(patience_ms(set), 1000) << set;
}

}  // namespace
}  // namespace halcyon::coordinate
