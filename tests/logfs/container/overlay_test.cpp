#include "logfs/container/reading/overlay.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "logfs/container/reading/conflicts.hpp"

namespace halcyon::logfs {
namespace {

/// Pieces of several writers, which are numbered by rank.
class overlays : public ::testing::Test {
  protected:
    void add_writers(uint32_t count) {
        for (uint32_t i = 0; i < count; ++i) {
            const uint32_t number = table_.add("hostdir.0/index.node." + std::to_string(i) + ".1");
            table_[number].rank = static_cast<int32_t>(number);
            table_[number].clock = number;
        }
    }

    static piece moment(int64_t start, int64_t end, int64_t time_ns, uint32_t dropping) {
        piece made;
        made.start = start;
        made.end = end;
        made.physical = next_physical_ += 1'000'000;
        made.time_ns = time_ns;
        made.dropping = dropping;
        return made;
    }

    /// An extent whose bytes were written one every `ns_a_byte`.
    piece line(int64_t start, int64_t end, int64_t first_ns, int64_t ns_a_byte, uint32_t dropping) {
        piece made = moment(start, end, first_ns, dropping);
        const int64_t length = end - start;
        lines_.push_back(std::make_unique<run>(
            run{start, length, 0, 1, made.physical, first_ns, first_ns + ns_a_byte * length, 0, 0}));
        made.line = lines_.back().get();
        return made;
    }

    bool resolve(const std::vector<piece>& pieces) {
        over_.pieces().clear();
        return over_.pieces().append(pieces) && over_.resolve();
    }

    /// The later one of two pieces at a position; by rank at the same time.
    static bool is_over(const piece& a, const piece& b, int64_t position) {
        const int64_t time_a = a.time_at(position);
        const int64_t time_b = b.time_at(position);
        return time_a != time_b ? time_a > time_b : a.dropping > b.dropping;
    }

    void expect_latest_of_each_byte(const std::vector<piece>& pieces, int64_t begin, int64_t end) {
        int64_t before = begin;
        for (const piece& each : over_.pieces()) {
            ASSERT_LT(each.start, each.end);
            ASSERT_LE(before, each.start);
            before = each.end;
        }
        ASSERT_LE(before, end);
        const piece* shown = over_.pieces().begin();
        for (int64_t at = begin; at < end; ++at) {
            const piece* latest = nullptr;
            for (const piece& each : pieces) {
                if (each.start > at || each.end <= at) continue;
                if (latest == nullptr || is_over(each, *latest, at)) latest = &each;
            }
            while (shown != over_.pieces().end() && shown->end <= at) ++shown;
            const bool is_shown = shown != over_.pieces().end() && shown->start <= at;
            ASSERT_EQ(is_shown, latest != nullptr) << at;
            if (latest == nullptr) continue;
            ASSERT_EQ(shown->dropping, latest->dropping) << at;
            ASSERT_EQ(shown->physical + (at - shown->start), latest->physical + (at - latest->start)) << at;
            ASSERT_EQ(shown->is_hole, latest->is_hole) << at;
        }
    }

    memory_source memory_{kernel_files()};
    dropping_table table_{memory_};
    overlay over_{memory_, table_};
    std::vector<std::unique_ptr<run>> lines_;
    static inline int64_t next_physical_ = 0;
};

TEST_F(overlays, of_moments_the_latest_of_each_byte_is_left) {
    add_writers(200);
    for (uint64_t seed = 1; seed <= 60; ++seed) {
        std::mt19937_64 random(seed);
        std::vector<piece> pieces;
        const size_t count = random() % 200;
        for (size_t i = 0; i < count; ++i) {
            const auto start = static_cast<int64_t>(random() % 500);
            const int64_t end = start + 1 + static_cast<int64_t>(random() % (seed % 2 == 0 ? 300 : 20));
            pieces.push_back(moment(start, end, static_cast<int64_t>(random() % 50), static_cast<uint32_t>(i)));
            pieces.back().is_hole = random() % 9 == 0;
        }
        ASSERT_TRUE(resolve(pieces));
        ASSERT_NO_FATAL_FAILURE(expect_latest_of_each_byte(pieces, 0, 1000)) << seed;
    }
}

TEST_F(overlays, of_lines_the_latest_of_each_byte_is_left_on_both_sides_of_each_crossing) {
    add_writers(60);
    for (uint64_t seed = 1; seed <= 100; ++seed) {
        std::mt19937_64 random(seed);
        std::vector<piece> pieces;
        lines_.clear();
        const size_t count = 2 + random() % 50;
        for (size_t i = 0; i < count; ++i) {
            const auto start = static_cast<int64_t>(random() % 300);
            const int64_t end = start + 2 + static_cast<int64_t>(random() % 400);
            const auto first_ns = static_cast<int64_t>(random() % 2000);
            const auto number = static_cast<uint32_t>(i);
            pieces.push_back(random() % 4 == 0
                                 ? moment(start, end, first_ns, number)
                                 : line(start, end, first_ns, 1 + static_cast<int64_t>(random() % 9), number));
        }
        ASSERT_TRUE(resolve(pieces));
        ASSERT_NO_FATAL_FAILURE(expect_latest_of_each_byte(pieces, 0, 800)) << seed;
    }
}

/// Bytes are those of one writer in each reader's eyes, whatever else that looks at.
TEST_F(overlays, every_part_of_a_range_reads_as_the_whole_does) {
    add_writers(12);
    for (uint64_t seed = 1; seed <= 40; ++seed) {
        std::mt19937_64 random(seed);
        std::vector<piece> pieces;
        lines_.clear();
        for (uint32_t i = 0; i < 12; ++i) {
            const auto start = static_cast<int64_t>(random() % 100);
            piece made = line(start, start + 900, static_cast<int64_t>(random() % 100), 0, i);
            // Slopes of a fraction of a nanosecond, which times in whole nanoseconds follow in steps.
            lines_.back()->last_ns = lines_.back()->first_ns + static_cast<int64_t>(random() % 300);
            pieces.push_back(made);
        }
        ASSERT_TRUE(resolve(pieces));
        const std::vector<piece> whole(over_.pieces().begin(), over_.pieces().end());
        for (int part = 0; part < 30; ++part) {
            const auto begin = static_cast<int64_t>(100 + random() % 700);
            const int64_t end = begin + 1 + static_cast<int64_t>(random() % 90);
            std::vector<piece> clipped;
            for (piece each : pieces) {
                each.clip(begin, end);
                clipped.push_back(each);
            }
            std::shuffle(clipped.begin(), clipped.end(), random);
            ASSERT_TRUE(resolve(clipped));
            const piece* shown = over_.pieces().begin();
            auto expected = whole.begin();
            for (int64_t at = begin; at < end; ++at) {
                while (shown->end <= at) ++shown;
                while (expected->end <= at) ++expected;
                ASSERT_EQ(shown->dropping, expected->dropping) << seed << ", byte " << at;
                ASSERT_EQ(shown->physical - shown->start, expected->physical - expected->start) << seed;
            }
        }
    }
}

TEST_F(overlays, takes_few_steps_however_pieces_lie_over_each_other) {
    add_writers(3);
    std::mt19937_64 random(1);
    std::vector<piece> pieces;
    constexpr int64_t count = 200000;
    for (int64_t i = 0; i < count; ++i) {
        // Each over half of all others.
        const auto start = static_cast<int64_t>(random() % count);
        pieces.push_back(moment(start, start + count, static_cast<int64_t>(random() >> 2), 1));
    }
    ASSERT_TRUE(resolve(pieces));
    EXPECT_LT(over_.pieces().size(), static_cast<size_t>(2 * count));
    for (size_t i = 1; i < over_.pieces().size(); ++i) ASSERT_LE(over_.pieces()[i - 1].end, over_.pieces()[i].start);
}

TEST_F(overlays, a_writers_later_bytes_of_the_same_time_count) {
    add_writers(1);
    const piece earlier = moment(0, 10, 5, 0);
    const piece later = moment(3, 6, 5, 0);
    for (const std::vector<piece>& pieces : {std::vector<piece>{earlier, later}, std::vector<piece>{later, earlier}}) {
        ASSERT_TRUE(resolve(pieces));
        ASSERT_EQ(over_.pieces().size(), 3U);
        EXPECT_EQ(over_.pieces()[1].physical, later.physical);
    }
}

TEST_F(overlays, are_one_segment_where_data_go_on) {
    add_writers(2);
    piece first = moment(10, 20, 1, 0);
    piece second = moment(20, 30, 2, 0);
    second.physical = first.physical + 10;
    piece third = moment(30, 40, 3, 1);
    third.physical = first.physical + 20;
    page_array<segment> out(memory_);
    ASSERT_TRUE(append_segments(std::vector<piece>{first, second, third}, 5, 50, out));
    const std::vector<segment> expected{
        {5, 5, segment::hole, 0}, {10, 20, first.physical, 0}, {30, 10, third.physical, 1}, {40, 10, segment::hole, 0}};
    EXPECT_EQ(std::vector<segment>(out.begin(), out.end()), expected);
}

class doubts : public overlays {
  protected:
    std::vector<conflict> find(const std::vector<piece>& pieces) {
        over_.pieces().clear();
        EXPECT_TRUE(over_.pieces().append(pieces));
        table_.settle_epochs();
        conflict_finder finder(memory_, table_);
        page_array<conflict> found(memory_);
        EXPECT_TRUE(finder.resolve(over_, found));
        return {found.begin(), found.end()};
    }
    static int64_t bytes_of(const std::vector<conflict>& found) {
        int64_t bytes = 0;
        for (const conflict& each : found) bytes += each.length;
        return bytes;
    }
};

/// A moment and a line that crosses it: only around the crossing nobody knows.
TEST_F(doubts, begin_and_end_within_an_extent) {
    add_writers(2);
    table_[0].clock_bound_ns = table_[1].clock_bound_ns = 2000;
    const auto found = find({line(0, 1000, 0, 1000, 0), moment(0, 1000, 500'000, 1)});
    EXPECT_EQ(bytes_of(found), 9);
    EXPECT_EQ(found.front().start, 496);
    EXPECT_EQ(found.front().shown, 1U);
    EXPECT_EQ(found.back().start + found.back().length, 505);
    EXPECT_EQ(found.back().shown, 0U);
}

TEST_F(doubts, with_several_writers_are_counted_once_and_all) {
    add_writers(4);
    for (uint32_t i = 0; i < 4; ++i) table_[i].clock_bound_ns = 10;
    // The first two end where the third goes on.
    const auto found = find({moment(0, 10, 95, 0), moment(0, 15, 94, 1), moment(0, 40, 93, 2), moment(0, 100, 100, 3)});
    EXPECT_EQ(bytes_of(found), 40);
    for (const conflict& each : found) EXPECT_EQ(each.shown, 3U);
    // Hidden by one that is certain: what they are to each other does not matter.
    EXPECT_EQ(bytes_of(find({moment(0, 10, 95, 0), moment(0, 10, 94, 1), moment(0, 100, 200, 3)})), 0);
}

TEST_F(doubts, are_none_between_writes_of_one_writer_or_between_holes) {
    add_writers(2);
    table_[0].clock_bound_ns = table_[1].clock_bound_ns = 1000;
    EXPECT_EQ(bytes_of(find({moment(0, 10, 5, 0), moment(0, 10, 6, 0)})), 0);
    piece one = moment(0, 10, 5, 0);
    piece other = moment(0, 10, 6, 1);
    EXPECT_EQ(bytes_of(find({one, other})), 10);
    one.is_hole = true;
    EXPECT_EQ(bytes_of(find({one, other})), 10);
    other.is_hole = true;
    EXPECT_EQ(bytes_of(find({one, other})), 0);
}

TEST_F(doubts, are_none_over_an_epoch_of_the_group_of_both) {
    add_writers(3);
    for (uint32_t i = 0; i < 3; ++i) table_[i].clock_bound_ns = 1000;
    table_[0].group = table_[1].group = 7;
    ASSERT_TRUE(table_.note_epoch(7, 50));
    ASSERT_TRUE(table_.note_epoch(7, 50));
    EXPECT_EQ(bytes_of(find({moment(0, 10, 49, 0), moment(0, 10, 51, 1)})), 0);
    EXPECT_EQ(bytes_of(find({moment(0, 10, 51, 0), moment(0, 10, 52, 1)})), 10);
    EXPECT_EQ(bytes_of(find({moment(0, 10, 49, 0), moment(0, 10, 51, 2)})), 10);
}

TEST_F(doubts, whatever_a_header_claims_do_not_overflow) {
    add_writers(2);
    table_[0].clock_bound_ns = table_[1].clock_bound_ns = INT64_MAX;
    piece one = moment(0, 10, 0, 0);
    one.error_exponent = 62;
    piece other = moment(0, 10, INT64_MAX, 1);
    other.error_exponent = 62;
    EXPECT_EQ(bytes_of(find({one, other})), 0);
    other.time_ns = int64_t{1} << 61;
    EXPECT_EQ(bytes_of(find({one, other})), 10);
}

/// A file that three writers wrote over and over.
TEST_F(doubts, are_found_in_few_steps) {
    add_writers(3);
    for (uint32_t i = 0; i < 3; ++i) table_[i].clock_bound_ns = 5;
    std::mt19937_64 random(1);
    std::vector<piece> pieces;
    constexpr int64_t count = 100000;
    for (int64_t i = 0; i < count; ++i) {
        const auto start = static_cast<int64_t>(random() % count);
        pieces.push_back(moment(start, start + count, i * 2, static_cast<uint32_t>(random() % 3)));
    }
    const auto found = find(pieces);
    EXPECT_GT(bytes_of(found), 0);
    int64_t before = 0;
    for (const conflict& each : found) {
        ASSERT_LE(before, each.start);
        before = each.start + each.length;
    }
}

}  // namespace
}  // namespace halcyon::logfs
