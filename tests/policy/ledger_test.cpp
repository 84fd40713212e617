#include "policy/ledger.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace halcyon::policy {
namespace {

TEST(ledger, halves_what_was_used_every_half_life) {
    ledger some(10);
    some.charge(7, 4, 100);
    EXPECT_DOUBLE_EQ(some.used_s(7, 100), 4);
    EXPECT_DOUBLE_EQ(some.used_s(7, 110), 2);
    some.charge(7, 1, 120);
    EXPECT_DOUBLE_EQ(some.used_s(7, 120), 2);
    EXPECT_EQ(some.used_s(8, 120), 0);
}

TEST(ledger, ignores_times_that_make_no_sense_and_clocks_that_go_back) {
    ledger some(10);
    some.charge(1, std::nan(""), 0);
    some.charge(1, -3, 0);
    some.charge(1, 3, std::nan(""));
    EXPECT_EQ(some.used_s(1, 0), 0);
    some.charge(1, 3, 50);
    EXPECT_DOUBLE_EQ(some.used_s(1, 40), 3);
}

}  // namespace
}  // namespace halcyon::policy
