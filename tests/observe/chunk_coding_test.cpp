#include "observe/trace/chunk_coding.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

#include "observe/written_trace.hpp"

namespace halcyon::observe::trace {
namespace {

using calls::call_record;

std::vector<unsigned char> planes_of(const std::vector<call_record>& records, uint32_t unit) {
    std::vector<uint64_t> scratch(2 * records.size());
    std::vector<unsigned char> planes(largest_planes(records.size()));
    planes.resize(encode_columns(records, unit, scratch, planes.data()));
    return planes;
}

/// All but the times.
bool same(std::vector<call_record> a, std::vector<call_record> b) {
    for (auto* records : {&a, &b}) {
        for (call_record& record : *records) record.start = record.duration = record.wait = 0;
    }
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(call_record)) == 0;
}

/// Around the end of the numbers, too.
uint64_t distance(int64_t a, int64_t b) {
    const uint64_t forth = static_cast<uint64_t>(a) - static_cast<uint64_t>(b);
    return std::min(forth, 0 - forth);
}

constexpr uint64_t largest_error = 512;

bool close_enough(const call_record& exact, const call_record& kept) {
    const auto relative = [](int64_t value, int64_t other) {
        return distance(value, other) <= std::min(largest_error, distance(value, 0) / 64);
    };
    return distance(exact.start, kept.start) <= largest_error && relative(exact.duration, kept.duration) &&
           relative(exact.wait, kept.wait);
}

using generator = std::vector<call_record> (*)(size_t, std::mt19937_64&);

class chunk_coding : public testing::TestWithParam<generator> {};

TEST_P(chunk_coding, gives_back_what_went_in) {
    std::mt19937_64 random(7);
    for (const size_t count : {size_t{1}, size_t{2}, size_t{17}, size_t{500}, size_t{4096}}) {
        for (int round = 0; round < 10; ++round) {
            const auto records = GetParam()(count, random);
            const auto planes = planes_of(records, 1);
            std::vector<call_record> back(count);
            ASSERT_TRUE(decode_columns(planes, 1, back));
            ASSERT_TRUE(same(records, back)) << count << " records, round " << round;
            ASSERT_TRUE(std::ranges::equal(records, back, close_enough)) << count << " records, round " << round;
        }
    }
}

TEST_P(chunk_coding, refuses_planes_of_another_length) {
    std::mt19937_64 random(8);
    const auto records = GetParam()(20, random);
    const auto planes = planes_of(records, 1);
    std::vector<call_record> back(records.size());
    for (size_t length = 0; length < planes.size(); ++length) {
        ASSERT_FALSE(decode_columns(std::span(planes).first(length), 1, back)) << length;
    }
    auto longer = planes;
    longer.push_back(0);
    EXPECT_FALSE(decode_columns(longer, 1, back));
}

INSTANTIATE_TEST_SUITE_P(kinds, chunk_coding, testing::Values(&usual_records, &extreme_records));

TEST(chunk_coding, short_times_are_kept_to_their_unit) {
    std::mt19937_64 random(9);
    auto records = usual_records(100, random);
    int64_t end = 1'000'000;
    for (auto& record : records) {
        record.duration = 1 + 2 * static_cast<int64_t>(random() % 32);
        record.start = end + 2 * static_cast<int64_t>(random() % 16);
        end = record.start + record.duration - 1;
    }
    std::vector<call_record> back(records.size());
    ASSERT_TRUE(decode_columns(planes_of(records, 2), 2, back));
    for (size_t i = 0; i < records.size(); ++i) {
        EXPECT_EQ(records[i].duration - back[i].duration, 1);
        EXPECT_EQ(records[i].start, back[i].start);
    }
}

TEST(chunk_coding, errors_of_times_do_not_add_up) {
    std::vector<call_record> records(4096, calls::call_record{});
    int64_t at = 0;
    for (auto& record : records) record.start = at += 999'999;
    std::vector<call_record> back(records.size());
    ASSERT_TRUE(decode_columns(planes_of(records, 1), 1, back));
    EXPECT_LE(distance(records.back().start, back.back().start), largest_error);
}

TEST(chunk_coding, regular_calls_become_zeros) {
    std::mt19937_64 random(10);
    std::vector<call_record> records = usual_records(4096, random);
    for (size_t i = 0; i < records.size(); ++i) {
        records[i].thread = 0;
        records[i].number = static_cast<uint32_t>(i + 1);
        records[i].file = 1;
        records[i].function = 5;
        records[i].bytes = records[i].moved = records[i].result = 4096;
    }
    const auto planes = planes_of(records, 2);
    const auto zeros = static_cast<size_t>(std::ranges::count(planes, 0));
    EXPECT_LT(planes.size() - zeros, records.size() * 5);  // only the times are left
}

}  // namespace
}  // namespace halcyon::observe::trace
