// What the levels of a program know of its accesses, as a forecast.
#include "coordinate/client/known_accesses.hpp"

#include <gtest/gtest.h>

namespace halcyon::tests {
namespace {

using namespace halcyon::coordinate;

TEST(known_accesses, of_the_outermost_level_count) {
    known_accesses all;
    all.add({.bytes = 1000, .alone_s = 2}, 0);
    all.add({.bytes = 10, .what = operation::read, .alone_s = 1, .period_s = 60}, 0);
    EXPECT_EQ(all.forecast(0, 0).bytes_left, 1000);
    EXPECT_EQ(all.forecast(0, 0).left_ns, 2'000'000'000);
    EXPECT_EQ(all.forecast(0, 0).next_in_ns, 60'000'000'000);  // only the inner one knows
    EXPECT_EQ(all.forecast(0, 0).next_bytes, 1000);
    EXPECT_EQ(all.what(), operation::read);  // what happens now
    all.remove_last();
    EXPECT_EQ(all.what(), operation::write);
    EXPECT_FALSE(all.knows_next());
}

TEST(known_accesses, shrink_with_what_has_moved_since_they_were_told) {
    known_accesses all;
    all.add({.bytes = 1000, .alone_s = 2}, 5000);
    EXPECT_EQ(all.forecast(5250, 0).bytes_left, 750);
    EXPECT_EQ(all.forecast(5250, 0).left_ns, 1'500'000'000);
    EXPECT_EQ(all.forecast(9000, 0).bytes_left, 0);
}

TEST(known_accesses, count_files_as_the_layer_does_where_bytes_are_not_known) {
    known_accesses all;
    all.add({.files = 10}, 0);
    EXPECT_EQ(all.forecast(0, 0).bytes_left, 40960);
    all.remove_last();
    all.add({.files = INT64_MAX}, 0);
    EXPECT_GT(all.forecast(0, 0).bytes_left, int64_t{1} << 58U);
}

TEST(known_accesses, tell_when_the_next_phase_begins) {
    known_accesses all;
    all.add({.bytes = 1000, .alone_s = 2, .period_s = 10}, 0);
    const phase_forecast after = all.after(1000, 4);
    EXPECT_EQ(after.next_in_ns, 6'000'000'000);
    EXPECT_EQ(after.next_bytes, 1000);
    EXPECT_EQ(after.next_alone_ns, 2'000'000'000);
    EXPECT_EQ(after.bytes_left, 0);
    EXPECT_EQ(all.after(1000, 40).next_in_ns, 0);  // late
}

TEST(known_accesses, are_about_the_targets_of_the_outermost_level_that_knows_them) {
    const auto targets = [](const known_accesses& of) {
        return std::vector<uint32_t>(of.targets().begin(), of.targets().end());
    };
    known_accesses all;
    EXPECT_EQ(targets(all), std::vector<uint32_t>());
    all.add({.bytes = 1000}, 0);
    all.add({.targets = {3, 5}}, 0);
    all.add({.targets = {7}}, 0);
    EXPECT_EQ(targets(all), (std::vector<uint32_t>{3, 5}));
    all.remove_last();
    all.remove_last();
    EXPECT_EQ(targets(all), std::vector<uint32_t>());
    all.add({.uses_all_targets = true}, 0);
    all.add({.targets = {7}}, 0);
    EXPECT_EQ(targets(all), std::vector<uint32_t>()) << "more than can be told, but known";
}

TEST(known_accesses, are_none_where_nothing_was_told) {
    EXPECT_EQ(known_accesses().forecast(5, 5), phase_forecast{});
}

}  // namespace
}  // namespace halcyon::tests
