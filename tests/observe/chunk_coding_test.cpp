#include "observe/trace/chunk_coding.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <tuple>
#include <vector>

#include "observe/trace/trace_format.hpp"
#include "observe/written_trace.hpp"

namespace halcyon::observe::trace {
namespace {

using calls::call_record;

/// One of the two ways to write a chunk.
struct way {
    const char* name;
    std::vector<unsigned char> (*encode)(const std::vector<call_record>& records, uint32_t unit);
    bool (*decode)(std::span<const unsigned char> coded, uint32_t unit, std::vector<call_record>& records);
};

bit_model model;

const way planes = {"planes",
                    [](const std::vector<call_record>& records, uint32_t unit) {
                        std::vector<uint64_t> scratch(scratch_for(records.size()));
                        std::vector<unsigned char> out(largest_planes(records.size()));
                        plane_ends ends;
                        out.resize(encode_columns(records, unit, scratch, out.data(), ends));
                        return out;
                    },
                    [](std::span<const unsigned char> coded, uint32_t unit, std::vector<call_record>& records) {
                        std::vector<uint64_t> scratch(scratch_for(records.size()));
                        return decode_columns(format_version, coded, unit, scratch, records);
                    }};

const way as_bits = {"bits",
                     [](const std::vector<call_record>& records, uint32_t unit) {
                         std::vector<uint64_t> scratch(scratch_for(records.size()));
                         std::vector<unsigned char> out(2 * largest_planes(records.size()));
                         out.resize(encode_bits(records, unit, scratch, model, out));
                         return out;
                     },
                     [](std::span<const unsigned char> coded, uint32_t unit, std::vector<call_record>& records) {
                         std::vector<uint64_t> scratch(scratch_for(records.size()));
                         return decode_bits(format_version, coded, unit, scratch, model, records);
                     }};

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

class chunk_coding : public testing::TestWithParam<std::tuple<way, generator>> {
  protected:
    way way_ = std::get<0>(GetParam());
    std::vector<call_record> records(size_t count, std::mt19937_64& random) {
        return std::get<1>(GetParam())(count, random);
    }
};

TEST_P(chunk_coding, gives_back_what_went_in) {
    std::mt19937_64 random(7);
    for (const size_t count : {size_t{1}, size_t{2}, size_t{17}, size_t{500}, size_t{4096}}) {
        for (int round = 0; round < (count > 1000 ? 1 : 4); ++round) {
            const auto exact = records(count, random);
            std::vector<call_record> back(count);
            ASSERT_TRUE(way_.decode(way_.encode(exact, 1), 1, back));
            ASSERT_TRUE(same(exact, back)) << count << " records, round " << round;
            ASSERT_TRUE(std::ranges::equal(exact, back, close_enough)) << count << " records, round " << round;
        }
    }
}

TEST_P(chunk_coding, refuses_what_is_too_long) {
    std::mt19937_64 random(8);
    const auto exact = records(20, random);
    auto longer = way_.encode(exact, 1);
    longer.push_back(0);
    std::vector<call_record> back(exact.size());
    EXPECT_FALSE(way_.decode(longer, 1, back));
}

TEST_P(chunk_coding, takes_anything_for_an_answer) {
    std::mt19937_64 random(11);
    std::vector<call_record> back(50);
    auto coded = way_.encode(records(back.size(), random), 1);
    for (int round = 0; round < 100; ++round) {
        auto damaged = coded;
        damaged[random() % damaged.size()] = static_cast<unsigned char>(random());
        way_.decode(damaged, 1, back);  // sanitizers watch
        damaged.resize(random() % damaged.size());
        way_.decode(damaged, 1, back);
    }
    EXPECT_TRUE(way_.decode(coded, 1, back));  // nothing is left over from what failed
}

// A loop's contexts follow one another, and what follows is what is expected.
TEST(chunk_coding_of_contexts, a_loop_costs_next_to_nothing) {
    std::mt19937_64 random(12);
    std::vector<call_record> records = usual_records(4096, random);
    const auto bytes_of = [&] { return as_bits.encode(records, 1).size(); };
    const size_t without = bytes_of();
    uint32_t calls[3] = {};
    for (call_record& record : records) record.context = 0x9E3779B1u * (1 + calls[record.thread]++ % 5);
    EXPECT_LT(bytes_of(), without + 64);
    for (call_record& record : records) record.context = static_cast<uint32_t>(random());
    EXPECT_GT(bytes_of(), without + 4 * records.size());
}

std::string name_of(const testing::TestParamInfo<std::tuple<way, generator>>& tested) {
    const char* kinds[] = {"usual", "nested", "extreme"};
    return std::string(std::get<0>(tested.param).name) + "_" + kinds[tested.index % std::size(kinds)];
}

INSTANTIATE_TEST_SUITE_P(ways, chunk_coding,
                         testing::Combine(testing::Values(planes, as_bits),
                                          testing::Values(&usual_records, &nested_records, &extreme_records)),
                         name_of);

TEST(chunk_coding_planes, of_another_length_are_refused) {
    std::mt19937_64 random(8);
    const auto records = usual_records(20, random);
    const auto coded = planes.encode(records, 1);
    std::vector<call_record> back(records.size());
    for (size_t length = 0; length < coded.size(); ++length) {
        ASSERT_FALSE(planes.decode(std::span(coded).first(length), 1, back)) << length;
    }
}

TEST(chunk_coding_bits, that_do_not_fit_are_not_written) {
    std::mt19937_64 random(12);
    const auto records = usual_records(100, random);
    const size_t needed = as_bits.encode(records, 1).size();
    std::vector<uint64_t> scratch(scratch_for(records.size()));
    std::vector<unsigned char> out(needed + 1, 0xEE);
    EXPECT_EQ(encode_bits(records, 1, scratch, model, std::span(out).first(needed - 1)), 0U);
    EXPECT_EQ(out[needed - 1], 0xEE);
    EXPECT_EQ(encode_bits(records, 1, scratch, model, std::span(out).first(needed)), needed);
    EXPECT_EQ(out[needed], 0xEE);
}

TEST(chunk_coding, short_times_are_kept_to_their_unit) {
    std::mt19937_64 random(9);
    auto records = usual_records(100, random);
    int64_t end = 1'000'000;
    for (auto& record : records) {
        record.duration = 1 + 2 * static_cast<int64_t>(random() % 32);
        record.start = end + 2 * static_cast<int64_t>(random() % 16);
        end = record.start + record.duration - 1;
    }
    for (const way& way : {planes, as_bits}) {
        std::vector<call_record> back(records.size());
        ASSERT_TRUE(way.decode(way.encode(records, 2), 2, back));
        for (size_t i = 0; i < records.size(); ++i) {
            EXPECT_EQ(records[i].duration - back[i].duration, 1);
            EXPECT_EQ(records[i].start, back[i].start);
        }
    }
}

TEST(chunk_coding, errors_of_times_do_not_add_up) {
    std::vector<call_record> records(4096, calls::call_record{});
    int64_t at = 0;
    for (auto& record : records) record.start = at += 999'999;
    std::vector<call_record> back(records.size());
    ASSERT_TRUE(planes.decode(planes.encode(records, 1), 1, back));
    EXPECT_LE(distance(records.back().start, back.back().start), largest_error);
}

TEST(chunk_coding, a_call_and_the_transfer_it_is_keep_the_same_times) {
    std::mt19937_64 random(13);
    const auto records = nested_records(400, random);
    std::vector<call_record> back(records.size());
    ASSERT_TRUE(planes.decode(planes.encode(records, 1), 1, back));
    size_t found = 0;
    for (size_t i = 1; i < records.size(); ++i) {
        if (records[i - 1].parent != records[i].number || records[i - 1].start != records[i].start) continue;
        ++found;
        EXPECT_EQ(back[i - 1].start, back[i].start);
        EXPECT_EQ(back[i - 1].duration, back[i].duration);
    }
    EXPECT_GT(found, 20U);
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
    const auto coded = planes.encode(records, 2);
    const auto zeros = static_cast<size_t>(std::ranges::count(coded, 0));
    EXPECT_LT(coded.size() - zeros, records.size() * 5);  // only the times are left
    EXPECT_LT(as_bits.encode(records, 2).size(), records.size() * 2);
}

}  // namespace
}  // namespace halcyon::observe::trace
