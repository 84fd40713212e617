#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "logfs/container/files/file_calls.hpp"
#include "logfs/container/format/record_coding.hpp"
#include "logfs/container/reading/dropping_table.hpp"
#include "logfs/container/reading/extent_level.hpp"
#include "logfs/container/reading/merged_index.hpp"
#include "logfs/container/reading/overlay.hpp"
#include "logfs/container/reading/piece_collector.hpp"
#include "logfs/container/reading/run_level.hpp"

namespace halcyon::logfs {
namespace {

/// Whose byte lies at a position, and where in that writer's data.
struct owner {
    int64_t time_ns = -1;
    uint32_t dropping = 0;
    int64_t physical = segment::hole;
};

/// A merged index beside one owner for each byte. Droppings are numbered by rank.
class merged_file {
  public:
    merged_file(uint32_t writers, int64_t bytes) : owners_(static_cast<size_t>(bytes)), physical_(writers) {
        for (uint32_t i = 0; i < writers; ++i)
            table[table.add("hostdir.0/index.node." + std::to_string(i) + ".1")].rank = static_cast<int32_t>(i);
    }

    /// A run as a writer makes it, whose elements were written at these times.
    void add(uint32_t dropping, run what, int64_t first_ns, int64_t last_ns) {
        what.physical = physical_[dropping];
        physical_[dropping] += what.bytes();
        what.first_ns = first_ns;
        what.last_ns = last_ns;
        for (int64_t i = 0; i < what.count; ++i) {
            const int64_t time_ns = what.is_pattern() ? what.time_of(i) : last_ns;
            put(dropping, what.start_of(i), what.length, what.physical + i * what.length, time_ns);
        }
        size = std::max(size, what.high());
        ASSERT_TRUE(index.add(dropping, what));
    }
    void add_next(uint32_t dropping, const run& what) {
        add(dropping, what, now_ns, now_ns + what.count - 1);
        now_ns += what.count;
    }

    void add_hole(uint32_t dropping, int64_t start, int64_t length) {
        put(dropping, start, std::min(length, static_cast<int64_t>(owners_.size()) - start), segment::hole, now_ns);
        ASSERT_TRUE(index.add_hole(dropping, start, length, now_ns));
        ++now_ns;
    }

    void add_cut(uint32_t dropping, int64_t at) {
        put(dropping, at, static_cast<int64_t>(owners_.size()) - at, segment::hole, now_ns);
        ASSERT_TRUE(index.add_cut(dropping, at, now_ns));
        ++now_ns;
        size = at;
    }

    void expect_range(int64_t begin, int64_t end) {
        overlay_.pieces().clear();
        segments_.clear();
        piece_collector into(overlay_.pieces(), begin, end, SIZE_MAX);
        ASSERT_TRUE(index.collect(into));
        ASSERT_TRUE(overlay_.resolve());
        ASSERT_TRUE(append_segments(overlay_.pieces().all(), begin, end, segments_));
        int64_t at = begin;
        for (const segment& each : segments_) {
            ASSERT_EQ(each.start, at);
            ASSERT_GT(each.length, 0);
            for (; at < each.end(); ++at) {
                const owner& here = owners_[static_cast<size_t>(at)];
                ASSERT_EQ(each.is_hole(), here.physical == segment::hole) << at;
                if (each.is_hole()) continue;
                ASSERT_EQ(each.dropping, here.dropping) << at;
                ASSERT_EQ(each.physical + (at - each.start), here.physical) << at;
            }
        }
        ASSERT_EQ(at, end);
    }

    /// Nothing lies between a position and where something begins next, unless it began before.
    void expect_next_start(int64_t position) {
        if (owners_[static_cast<size_t>(position)].time_ns >= 0) return;
        const int64_t next = std::min(index.next_start(position), static_cast<int64_t>(owners_.size()));
        for (int64_t at = position; at < next; ++at)
            ASSERT_EQ(owners_[static_cast<size_t>(at)].physical, segment::hole) << at;
        if (next < static_cast<int64_t>(owners_.size())) {
            ASSERT_GE(owners_[static_cast<size_t>(next)].time_ns, 0) << next;
        }
    }

  private:
    void put(uint32_t dropping, int64_t start, int64_t length, int64_t physical, int64_t time_ns) {
        for (int64_t at = start; at < start + length; ++at) {
            owner& here = owners_[static_cast<size_t>(at)];
            if (here.time_ns > time_ns || (here.time_ns == time_ns && here.dropping > dropping)) continue;
            here = {time_ns, dropping, physical == segment::hole ? physical : physical + (at - start)};
        }
    }

    memory_source memory_{kernel_files()};

  public:
    dropping_table table{memory_};
    merged_index index{memory_, table};
    int64_t now_ns = 1000;
    int64_t size = 0;

  private:
    overlay overlay_{memory_, table};
    page_array<segment> segments_{memory_};
    std::vector<owner> owners_;
    std::vector<int64_t> physical_;
};

run random_run(std::mt19937_64& random, int64_t bytes, int64_t longest) {
    run what;
    what.length = 1 + static_cast<int64_t>(random() % static_cast<uint64_t>(longest));
    what.count = random() % 2 == 0 ? 1 : 2 + static_cast<int64_t>(random() % 40);
    if (what.count > 1) {
        what.stride = random() % 6 == 0 ? 0 : what.length + static_cast<int64_t>(random() % 50);
        if (what.stride * (what.count - 1) + what.length > bytes) what.count = 1, what.stride = 0;
    }
    const int64_t span = what.stride * (what.count - 1) + what.length;
    what.start = static_cast<int64_t>(random() % static_cast<uint64_t>(bytes - span + 1));
    if (random() % 3 == 0) {
        what.start += span - what.length;
        what.stride = -what.stride;
    }
    return what;
}

TEST(merged_index, nothing_is_a_hole) {
    merged_file file(1, 1000);
    file.expect_range(0, 1000);
    EXPECT_EQ(file.index.size(), 0);
    EXPECT_EQ(file.index.next_start(0), INT64_MAX);
}

TEST(merged_index, random_runs_read_as_the_latest_of_each_byte) {
    for (uint64_t seed = 1; seed <= 12; ++seed) {
        std::mt19937_64 random(seed);
        constexpr int64_t bytes = 20000;
        merged_file file(5, bytes);
        for (int i = 0; i < 500; ++i) {
            const auto who = static_cast<uint32_t>(random() % 5);
            if (const uint64_t what = random() % 40; what == 0)
                file.add_cut(who, static_cast<int64_t>(random() % bytes));
            else if (what == 1)
                file.add_hole(who, static_cast<int64_t>(random() % bytes), 1 + static_cast<int64_t>(random() % 3000));
            else
                file.add_next(who, random_run(random, bytes, seed % 3 == 0 ? 2000 : 60));
            if (random() % 7 == 0) {
                ASSERT_TRUE(file.index.settle());
            }
            const auto begin = static_cast<int64_t>(random() % (bytes - 1));
            file.expect_range(begin, begin + 1 + static_cast<int64_t>(random() % static_cast<uint64_t>(bytes - begin)));
            file.expect_next_start(begin);
            ASSERT_EQ(file.index.size(), file.size);
            if (::testing::Test::HasFatalFailure()) FAIL() << "seed " << seed << ", run " << i;
        }
        file.expect_range(0, bytes);
    }
}

TEST(merged_index, patterns_whose_times_interleave_are_decided_element_by_element) {
    for (uint64_t seed = 1; seed <= 20; ++seed) {
        std::mt19937_64 random(seed);
        constexpr int64_t bytes = 5000;
        merged_file file(4, bytes);
        for (int i = 0; i < 60; ++i) {
            run what = random_run(random, bytes, 40);
            // One extent has one time here, so that there is an oracle.
            if (what.stride == what.length || what.stride == 0) what.count = 1, what.stride = 0;
            const auto first_ns = static_cast<int64_t>(1 + random() % 300);
            const auto span_ns = what.count == 1 ? 0 : static_cast<int64_t>(random() % 200);
            file.add(static_cast<uint32_t>(i % 4), what, first_ns, first_ns + span_ns);
        }
        ASSERT_TRUE(file.index.settle());
        file.expect_range(0, bytes);
        if (::testing::Test::HasFatalFailure()) FAIL() << "seed " << seed;
    }
}

TEST(merged_index, patterns_take_no_more_memory_for_more_elements) {
    merged_file small(1, 1);
    run what{0, 256, 1024, 100, 0, 1, 100, 17, 0};
    ASSERT_TRUE(small.index.add(0, what));
    what.count = 1'000'000'000;
    what.start = 512;
    ASSERT_TRUE(small.index.add(0, what));
    ASSERT_TRUE(small.index.settle());
    EXPECT_EQ(small.index.patterns(), 2U);
    EXPECT_EQ(small.index.extents(), 0U);
    EXPECT_EQ(small.index.size(), 512 + 999'999'999LL * 1024 + 256);
}

/// In whatever order they become known.
TEST(merged_index, size_is_that_of_the_latest_cut_and_what_came_later) {
    for (uint64_t seed = 1; seed <= 50; ++seed) {
        std::mt19937_64 random(seed);
        merged_file file(1, 1);
        int64_t cut_ns = 0;
        int64_t cut_size = 0;
        std::vector<std::pair<int64_t, int64_t>> reached;  // when, and how far
        std::vector<int64_t> times(60);
        for (size_t i = 0; i < times.size(); ++i) times[i] = static_cast<int64_t>(i) + 1;
        std::shuffle(times.begin(), times.end(), random);
        for (const int64_t time_ns : times) {
            const auto size = static_cast<int64_t>(random() % 1000);
            switch (random() % 3) {
                case 0:
                    ASSERT_TRUE(file.index.add_cut(0, size, time_ns));
                    if (time_ns > cut_ns) cut_ns = time_ns, cut_size = size;
                    break;
                case 1:
                    ASSERT_TRUE(file.index.add_reach(0, size, time_ns));
                    reached.emplace_back(time_ns, size);
                    break;
                default:
                    ASSERT_TRUE(file.index.add(0, {size, 7, 0, 1, 0, time_ns, time_ns, 0, 0}));
                    reached.emplace_back(time_ns, size + 7);
            }
            int64_t expected = cut_size;
            for (const auto& [when, end] : reached) {
                if (when > cut_ns) expected = std::max(expected, end);
            }
            ASSERT_EQ(file.index.size(), expected) << seed;
        }
    }
}

/// A program that makes its file longer and longer by ftruncate().
TEST(merged_index, of_many_cuts_those_that_can_be_seen_are_collected) {
    merged_file file(1, 1);
    for (int64_t i = 0; i < 100000; ++i) {
        ASSERT_TRUE(file.index.add_cut(0, i * 10, 1000 + i));
        ASSERT_EQ(file.index.size(), i * 10);
    }
    memory_source memory(kernel_files());
    page_array<piece> pieces(memory);
    piece_collector into(pieces, 500005, 500025, SIZE_MAX);
    ASSERT_TRUE(file.index.collect(into));
    // The one before the range, and two in it.
    ASSERT_EQ(pieces.size(), 3U);
    EXPECT_EQ(pieces[0].start, 500005);
    EXPECT_EQ(pieces[2].start, 500020);
}

TEST(piece_collector, says_that_there_are_too_many_before_it_has_taken_them) {
    memory_source memory(kernel_files(), uint64_t{1} << 20);
    page_array<piece> pieces(memory);
    const run all{0, 1, 2, int64_t{1} << 61, 0, 1, 1000, 10, 0};
    ASSERT_TRUE(is_sound(all));
    piece_collector some(pieces, 1000, 3000, 1000);
    EXPECT_TRUE(some.add(all, 0, false));
    EXPECT_EQ(pieces.size(), 1000U);
    EXPECT_FALSE(some.add(all, 0, false));
    EXPECT_FALSE(some.add(extent{1000, 1, 0, 1, 1, 0}));
    pieces.clear();
    piece_collector too_many(pieces, 0, INT64_MAX, 1000);
    EXPECT_FALSE(too_many.add(all, 0, false));
    EXPECT_EQ(pieces.size(), 0U);
    EXPECT_LE(memory.peak(), uint64_t{1} << 17);
}

extent random_extent(std::mt19937_64& random, int64_t range, int64_t longest) {
    extent made;
    made.start = static_cast<int64_t>(random() % static_cast<uint64_t>(range));
    made.time_ns = static_cast<int64_t>(random() >> 2);
    made.length = static_cast<uint32_t>(1 + random() % static_cast<uint64_t>(longest)) & 0x7fffffffU;
    return made;
}

/// Most in a small range, some far away.
TEST(extent_level, finds_what_overlaps_in_order) {
    std::mt19937_64 random(1);
    memory_source memory(kernel_files());
    for (const size_t count : {size_t{1}, size_t{100}, size_t{50000}}) {
        std::vector<extent> all;
        page_array<extent> given(memory);
        for (size_t i = 0; i < count; ++i) {
            all.push_back(random_extent(random, i % 100 == 0 ? int64_t{1} << 50 : 1 << 20, 100));
            all.back().dropping = static_cast<uint32_t>(i);  // of several of one writer some may be dead
            ASSERT_TRUE(given.push(all.back()));
        }
        extent_level level(memory);
        ASSERT_TRUE(level.build(given, 100));
        EXPECT_TRUE(given.empty());
        for (int i = 0; i < 300; ++i) {
            const auto begin = static_cast<int64_t>(random() % (i % 10 == 0 ? uint64_t{1} << 50 : 1 << 20));
            const int64_t end = begin + 1 + static_cast<int64_t>(random() % 500);
            size_t expected = 0;
            int64_t next = INT64_MAX;
            for (const extent& each : all) {
                if (each.start < end && each.end() > begin) ++expected;
                if (each.start >= begin) next = std::min(next, each.start);
            }
            size_t found = 0;
            int64_t before = -1;
            ASSERT_TRUE(level.overlapping(begin, end, [&](const extent& each) {
                EXPECT_LE(before, each.start);
                EXPECT_TRUE(each.start < end && each.end() > begin);
                before = each.start;
                ++found;
                return true;
            }));
            ASSERT_EQ(found, expected);
            ASSERT_EQ(level.next_start(begin), next);
        }
        page_array<extent> back(memory);
        ASSERT_TRUE(level.take_out(back));
        ASSERT_EQ(back.size(), count);
        std::sort(back.begin(), back.end(), [](const extent& a, const extent& b) { return a.time_ns < b.time_ns; });
        std::sort(all.begin(), all.end(), [](const extent& a, const extent& b) { return a.time_ns < b.time_ns; });
        for (size_t i = 0; i < count; ++i) ASSERT_EQ(back[i].start, all[i].start);
    }
}

TEST(extent_level, forgets_what_its_own_writer_replaced) {
    memory_source memory(kernel_files());
    for (const bool is_of_one : {false, true}) {
        page_array<extent> given(memory);
        for (int64_t i = 0; i < 100; ++i) {
            extent made;
            made.start = i % 10 * 100;
            made.length = 100;
            made.time_ns = i;
            made.dropping = is_of_one ? 3 : static_cast<uint32_t>(i);
            ASSERT_TRUE(given.push(made));
        }
        extent_level level(memory);
        ASSERT_TRUE(level.build(given, 100));
        size_t found = 0;
        ASSERT_TRUE(level.overlapping(0, 1000, [&](const extent& each) {
            EXPECT_TRUE(!is_of_one || each.time_ns >= 90);
            ++found;
            return true;
        }));
        EXPECT_EQ(found, is_of_one ? 10U : 100U);
    }
}

TEST(run_level, finds_what_overlaps_in_order) {
    std::mt19937_64 random(2);
    memory_source memory(kernel_files());
    for (const size_t count : {size_t{0}, size_t{1}, size_t{9}, size_t{3000}}) {
        std::vector<run> all;
        page_array<placed_run> given(memory);
        for (size_t i = 0; i < count; ++i) {
            all.push_back(random_run(random, 1 << 20, i % 50 == 0 ? 20000 : 50));
            ASSERT_TRUE(given.push({all.back(), 0, false}));
        }
        run_level level(memory);
        ASSERT_TRUE(level.build(given, memory));
        for (int i = 0; i < 300; ++i) {
            const auto begin = static_cast<int64_t>(random() % (1 << 20));
            const int64_t end = begin + 1 + static_cast<int64_t>(random() % 500);
            const auto expected = std::count_if(
                all.begin(), all.end(), [&](const run& each) { return each.low() < end && each.high() > begin; });
            int64_t found = 0;
            int64_t before = -1;
            ASSERT_TRUE(level.overlapping(begin, end, [&](const placed_run& each) {
                EXPECT_LE(before, each.what.low());
                before = each.what.low();
                ++found;
                return true;
            }));
            ASSERT_EQ(found, expected);
        }
    }
}

}  // namespace
}  // namespace halcyon::logfs
