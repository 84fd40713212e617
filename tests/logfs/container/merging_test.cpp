#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "logfs/container/files/file_calls.hpp"
#include "logfs/container/reading/dropping_table.hpp"
#include "logfs/container/reading/extent_level.hpp"
#include "logfs/container/reading/merged_index.hpp"
#include "logfs/container/reading/overlay.hpp"
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
        ASSERT_TRUE(index.collect(begin, end, overlay_.pieces()));
        ASSERT_TRUE(overlay_.resolve(begin, end, segments_, nullptr));
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
    merged_index index{memory_, table, false};
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

/// A line of times over two long extents that cross: the later one on each side of the crossing.
TEST(overlay, extents_whose_times_cross_change_places_there) {
    memory_source memory(kernel_files());
    dropping_table table(memory);
    table.add("a");
    table.add("b");
    overlay over(memory, table);
    page_array<segment> out(memory);
    ASSERT_TRUE(over.pieces().push({0, 1000, 0, 1000, 2000, 0, false, 17}));
    ASSERT_TRUE(over.pieces().push({0, 1000, 0, 1300, 1300, 1, false, 0}));
    ASSERT_TRUE(over.resolve(0, 1000, out, nullptr));
    ASSERT_EQ(out.size(), 2U);
    EXPECT_EQ(out[0].dropping, 1U);
    EXPECT_NEAR(static_cast<double>(out[0].length), 300, 2);
    EXPECT_EQ(out[1].dropping, 0U);
    EXPECT_EQ(out[1].physical, out[1].start);
}

extent random_extent(std::mt19937_64& random, int64_t range, int64_t longest) {
    extent made;
    made.start = static_cast<int64_t>(random() % static_cast<uint64_t>(range));
    made.time_ns = static_cast<int64_t>(random() >> 2);
    made.length = static_cast<uint32_t>(1 + random() % static_cast<uint64_t>(longest)) & 0x7fffffffU;
    made.dropping = static_cast<uint32_t>(random() % 7);
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
            ASSERT_TRUE(given.push(all.back()));
        }
        extent_level level(memory);
        ASSERT_TRUE(level.build(given, 100, true));
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
    for (const bool keeps_dead : {false, true}) {
        page_array<extent> given(memory);
        for (int64_t i = 0; i < 100; ++i) {
            extent made;
            made.start = i % 10 * 100;
            made.length = 100;
            made.time_ns = i;
            made.dropping = 3;
            ASSERT_TRUE(given.push(made));
        }
        extent_level level(memory);
        ASSERT_TRUE(level.build(given, 100, keeps_dead));
        size_t found = 0;
        ASSERT_TRUE(level.overlapping(0, 1000, [&](const extent& each) {
            EXPECT_TRUE(keeps_dead || each.time_ns >= 90);
            ++found;
            return true;
        }));
        EXPECT_EQ(found, keeps_dead ? 100U : 10U);
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
