#include "logfs/container/writing/run_builder.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace halcyon::logfs {
namespace {

struct one_write {
    int64_t start;
    int64_t length;
    int64_t time_ns;
    int64_t physical = 0;
};

/// The runs of writes whose data lie one behind the other.
std::vector<run> runs_of(std::vector<one_write>& writes) {
    run_builder builder;
    std::vector<run> runs;
    run complete;
    int64_t physical = 0;
    for (one_write& each : writes) {
        each.physical = physical;
        physical += each.length;
        if (builder.add(each.start, each.length, each.physical, each.time_ns, complete)) runs.push_back(complete);
    }
    run last[2];
    const size_t count = builder.finish(last);
    runs.insert(runs.end(), last, last + count);
    return runs;
}

/// Each byte of each write is in one run, where it was written, with a time that is as close as the run says; and times
/// of runs grow, none beyond its last write.
void expect_same_writes(const std::vector<one_write>& writes, const std::vector<run>& runs) {
    size_t next = 0;
    int64_t into = 0;  // the write
    int64_t before_ns = 0;
    for (const run& each : runs) {
        ASSERT_GT(each.first_ns, before_ns);
        before_ns = each.last_ns;
        for (int64_t i = 0; i < each.count; ++i) {
            for (int64_t at = 0; at < each.length;) {
                ASSERT_LT(next, writes.size());
                const one_write& write = writes[next];
                ASSERT_EQ(write.start + into, each.start_of(i) + at);
                ASSERT_EQ(write.physical + into, each.physical + i * each.length + at);
                const int64_t part = std::min(write.length - into, each.length - at);
                const int64_t time_ns = each.is_pattern()
                                            ? each.time_of(i)
                                            : each.first_ns + run::share(each.span_ns(), at + part, each.length);
                ASSERT_GE(time_ns, write.time_ns - each.error_ns()) << next;
                ASSERT_LE(time_ns, write.time_ns + each.error_ns()) << next;
                at += part;
                into += part;
                if (into == write.length) ++next, into = 0;
            }
        }
        ASSERT_LE(each.last_ns, writes[next - 1].time_ns);
    }
    ASSERT_EQ(next, writes.size());
}

std::vector<run> checked(std::vector<one_write> writes) {
    std::vector<run> runs = runs_of(writes);
    expect_same_writes(writes, runs);
    return runs;
}

TEST(run_builder, writes_one_behind_the_other_are_one_extent) {
    std::vector<one_write> writes;
    int64_t at = 500;
    for (int64_t i = 0; i < 1000; ++i) {
        writes.push_back({at, 1 + i % 7, 1000 + i * 1000});
        at += 1 + i % 7;
    }
    const auto runs = checked(writes);
    ASSERT_EQ(runs.size(), 1U);
    EXPECT_EQ(runs[0].count, 1);
    EXPECT_EQ(runs[0].length, at - 500);
}

TEST(run_builder, strided_writes_are_one_pattern) {
    std::vector<one_write> writes;
    for (int64_t i = 0; i < 50000; ++i) writes.push_back({i * 1024, 256, 1000 + i * 700});
    const auto runs = checked(writes);
    ASSERT_EQ(runs.size(), 1U);
    EXPECT_EQ(runs[0].count, 50000);
    EXPECT_EQ(runs[0].stride, 1024);
    EXPECT_EQ(runs[0].length, 256);
}

TEST(run_builder, elements_of_several_writes_make_a_pattern) {
    std::vector<one_write> writes;
    int64_t time_ns = 0;
    for (int64_t i = 0; i < 1000; ++i) {
        for (int64_t piece = 0; piece < 12; ++piece) {
            time_ns += 900;
            writes.push_back({i * 200000 + piece * 4000, 4000, time_ns});
        }
    }
    const auto runs = checked(writes);
    ASSERT_EQ(runs.size(), 1U);
    EXPECT_EQ(runs[0].length, 48000);
    EXPECT_EQ(runs[0].count, 1000);
}

TEST(run_builder, patterns_go_downwards_and_stay_in_place_too) {
    std::vector<one_write> writes;
    for (int64_t i = 0; i < 100; ++i) writes.push_back({100000 - i * 300, 100, 1000 + i * 700});
    for (int64_t i = 0; i < 100; ++i) writes.push_back({0, 64, 100000 + i * 700});
    const auto runs = checked(writes);
    ASSERT_EQ(runs.size(), 2U);
    EXPECT_EQ(runs[0].stride, -300);
    EXPECT_EQ(runs[0].count, 100);
    EXPECT_EQ(runs[1].stride, 0);
    EXPECT_EQ(runs[1].count, 100);
}

TEST(run_builder, writes_that_overlap_the_one_before_are_no_pattern) {
    std::vector<one_write> writes;
    for (int64_t i = 0; i < 10; ++i) writes.push_back({i * 50, 100, 1000 + i * 700});
    const auto runs = checked(writes);
    EXPECT_EQ(runs.size(), 10U);
}

TEST(run_builder, a_long_pause_begins_a_new_run) {
    std::vector<one_write> writes;
    for (int64_t i = 0; i < 100; ++i) writes.push_back({i * 1024, 256, 1000 + i * 700 + (i >= 50 ? 5'000'000'000 : 0)});
    EXPECT_EQ(checked(writes).size(), 2U);
    writes.clear();
    for (int64_t i = 0; i < 100; ++i) writes.push_back({i * 256, 256, 1000 + i * 700 + (i >= 60 ? 5'000'000'000 : 0)});
    EXPECT_EQ(checked(writes).size(), 2U);
}

TEST(run_builder, slow_writes_whose_times_vary_still_make_long_patterns) {
    std::mt19937_64 random(1);
    std::vector<one_write> writes;
    int64_t time_ns = 0;
    for (int64_t i = 0; i < 10000; ++i) {
        time_ns += 500'000 + static_cast<int64_t>(random() % 1'000'000);
        writes.push_back({i * 1024, 256, time_ns});
    }
    const auto runs = checked(writes);
    EXPECT_LT(runs.size(), 400U);
}

TEST(run_builder, finish_ends_the_times_of_what_was_written) {
    run_builder builder;
    run complete;
    for (int64_t i = 0; i < 10; ++i) EXPECT_FALSE(builder.add(i * 100, 10, i * 10, 1000 + i, complete));
    run last[2];
    ASSERT_EQ(builder.finish(last), 1U);
    EXPECT_EQ(last[0].count, 10);
    EXPECT_LE(last[0].last_ns, 1009);
    EXPECT_EQ(builder.finish(last), 0U);
    EXPECT_EQ(builder.count(), 0);
    EXPECT_EQ(builder.open()[0], run{});
    EXPECT_EQ(builder.open()[1], run{});
}

TEST(run_builder, any_writes_are_kept_whatever_their_order) {
    for (uint64_t seed = 1; seed <= 200; ++seed) {
        std::mt19937_64 random(seed);
        std::vector<one_write> writes;
        int64_t time_ns = 1;
        int64_t start = 10000;
        const int64_t stride = static_cast<int64_t>(random() % 500);
        for (int i = 0; i < 500; ++i) {
            const uint64_t pause = random() % 100;
            time_ns += 1 + static_cast<int64_t>(pause == 0 ? random() % 100'000'000 : random() % 3000);
            const int64_t length = random() % 4 == 0 ? static_cast<int64_t>(random() % 100) + 1 : 64;
            switch (random() % 8) {
                case 0:
                    start = static_cast<int64_t>(random() % 100000);
                    break;
                case 1:
                case 2:
                    start = writes.empty() ? start : writes.back().start + writes.back().length;
                    break;
                default:
                    start += stride;
            }
            writes.push_back({start, length, time_ns});
        }
        checked(writes);
        if (::testing::Test::HasFailure()) FAIL() << "seed " << seed;
    }
}

}  // namespace
}  // namespace halcyon::logfs
