#include "offload/server/pending_iterations.hpp"

#include <gtest/gtest.h>

namespace halcyon::offload {
namespace {

using numbers = std::vector<int64_t>;

TEST(pending_iterations, are_taken_from_the_first_and_put_back_before_the_others) {
    pending_iterations pending(2);
    for (int64_t i = 0; i < 5; ++i) pending.add(1, i);
    EXPECT_EQ(pending.take(1, 2), (numbers{0, 1}));
    EXPECT_EQ(pending.of(1), (numbers{2, 3, 4}));
    pending.put_back(1, numbers{1});
    EXPECT_EQ(pending.take(1, 9), (numbers{1, 2, 3, 4})) << "no more than there are";
    EXPECT_TRUE(pending.of(0).empty()) << "those of another store";
}

TEST(pending_iterations, are_none_when_no_store_has_any) {
    pending_iterations pending(2);
    EXPECT_TRUE(pending.empty());
    pending.add(1, 0);
    EXPECT_FALSE(pending.empty());
    EXPECT_EQ(pending.take(1), numbers{0});
    EXPECT_TRUE(pending.empty());
}

TEST(pending_iterations, remember_the_last_one_that_was_asked_for) {
    pending_iterations pending(1);
    EXPECT_LT(pending.wanted(0), 0);
    pending.want(0, 7);
    pending.want(0, 3);
    EXPECT_EQ(pending.wanted(0), 7);
}

}  // namespace
}  // namespace halcyon::offload
