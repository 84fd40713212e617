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
    std::vector<uint64_t> scratch(records.size());
    std::vector<unsigned char> planes(largest_planes(records.size()));
    planes.resize(encode_columns(records, unit, scratch, planes.data()));
    return planes;
}

bool same(const std::vector<call_record>& a, const std::vector<call_record>& b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(call_record)) == 0;
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

TEST(chunk_coding, times_are_kept_to_their_unit) {
    std::mt19937_64 random(9);
    auto records = usual_records(100, random);
    for (auto& record : records) record.duration += 1;
    std::vector<call_record> back(records.size());
    ASSERT_TRUE(decode_columns(planes_of(records, 2), 2, back));
    for (size_t i = 0; i < records.size(); ++i) {
        EXPECT_LT(records[i].duration - back[i].duration, 2);
        EXPECT_GE(records[i].duration, back[i].duration);
    }
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
