#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <random>
#include <vector>

#include "predict/model/file_names.hpp"
#include "predict/tables/offset_table.hpp"
#include "predict/tables/recent_files.hpp"
#include "predict/tables/size_table.hpp"
#include "predict/tables/time_table.hpp"
#include "predict/tables/touched_extents.hpp"

namespace halcyon::predict {
namespace {

/// Tables that are asked before they learn, as a model does.
class asked_sizes {
  public:
    ~asked_sizes() { table_.release(memory_); }
    /// What was expected of this size.
    int64_t learn(int64_t bytes) {
        const int64_t expected = table_.next(++walk_);
        table_.learn(bytes, limits_, memory_);
        return expected;
    }
    [[nodiscard]] const size_table& table() const { return table_; }
    [[nodiscard]] int64_t next_on(uint64_t walk) const { return table_.next(walk); }

  private:
    calls::memory_bound memory_{SIZE_MAX};
    limits limits_;
    size_table table_;
    uint64_t walk_ = 0;
};

TEST(size_table, pieces_of_ranks_in_turn_are_expected_as_they_were_a_round_ago) {
    std::mt19937_64 random(1);
    std::array<int64_t, 12> pieces{};
    for (int64_t& piece : pieces) piece = static_cast<int64_t>(20'000 + random() % 60'000);
    asked_sizes sizes;
    double off = 0;
    for (int round = 0; round < 60; ++round) {
        for (int64_t& piece : pieces) {
            piece += static_cast<int64_t>(random() % 101) - 50;
            const int64_t expected = sizes.learn(piece);
            if (round >= 40) off += std::abs(static_cast<double>(expected - piece)) / static_cast<double>(piece);
        }
    }
    EXPECT_LT(off / (20 * 12), 0.002);
    for (const int64_t piece : pieces)
        EXPECT_NEAR(static_cast<double>(sizes.next_on(99'999)), static_cast<double>(piece), 60);
}

TEST(size_table, a_fixed_size_among_varying_ones_keeps_its_place) {
    std::mt19937_64 random(2);
    asked_sizes sizes;
    int wrong = 0;
    for (int round = 0; round < 200; ++round) {
        const int64_t expected = sizes.learn(512);
        if (round > 40 && expected != 512) ++wrong;
        for (int i = 0; i < 3; ++i) sizes.learn(static_cast<int64_t>(9000 + random() % 5000));
    }
    EXPECT_LE(wrong, 2);
}

TEST(size_table, a_size_that_comes_nearly_always_is_expected_whatever_else_comes) {
    std::mt19937_64 random(9);
    asked_sizes sizes;
    int right = 0;
    for (int i = 0; i < 4000; ++i) {
        const int64_t bytes = random() % 100 == 0 ? 100 : 4096;
        if (sizes.learn(bytes) == bytes && i >= 1000) ++right;
    }
    EXPECT_GT(right, 2850) << "95 %; the last size would be right in 98 %";
}

TEST(size_table, statistics_are_those_of_all_sizes) {
    asked_sizes sizes;
    for (const int64_t bytes : {10, 30, 20, 40}) sizes.learn(bytes);
    EXPECT_EQ(sizes.table().count(), 4u);
    EXPECT_EQ(sizes.table().least(), 10);
    EXPECT_EQ(sizes.table().most(), 40);
    EXPECT_EQ(sizes.table().mean(), 25);
}

TEST(offset_table, blocks_that_were_left_out_are_filled_in_order) {
    calls::memory_bound memory(SIZE_MAX);
    const limits cut_off;
    offset_table table;
    recent_files files;
    std::mt19937_64 random(3);
    int wrong = 0;
    uint64_t walk = 0;
    for (uint32_t file = 1; file <= 60; ++file) {
        recent_files::file& opened = files.use(file, 1);
        files.open(opened, true);
        std::vector<int64_t> holes;
        int64_t at = 512;
        for (int piece = 0; piece < 8; ++piece) {
            const auto bytes = static_cast<int64_t>(3000 + random() % 2000);
            files.access(opened, at, at + bytes);
            at += bytes;
            holes.push_back(at);
            at += 300;
        }
        files.access(opened, 0, 512);
        for (const int64_t hole : holes) {
            offset_places places;
            files.add_places(places, opened);
            if (file > 5 && table.next(places, ++walk) != hole) ++wrong;
            table.learn(places, hole, cut_off, memory);
            files.access(opened, hole, hole + 300);
        }
    }
    EXPECT_EQ(wrong, 0);
    table.release(memory);
    EXPECT_EQ(memory.used(), 0u);
}

TEST(offset_table, finds_out_what_a_program_counts_from) {
    calls::memory_bound memory(SIZE_MAX);
    const limits cut_off;
    offset_table table;
    std::mt19937_64 random(8);
    int wrong = 0;
    uint64_t walk = 0;
    // Each block has a fixed place behind the begin of the one before; in between something else is written behind it.
    for (int i = 0; i < 400; ++i) {
        offset_places places;
        const auto start = static_cast<int64_t>(1'000'000 + random() % 1'000'000);
        places.at[static_cast<uint32_t>(offset_base::start)] = start;
        places.at[static_cast<uint32_t>(offset_base::end)] = start + static_cast<int64_t>(random() % 2000);
        const int64_t offset = i % 2 == 0 ? start + 5576 : places.of(offset_base::end) + 2048;
        if (i > 12 && table.next(places, ++walk) != offset) ++wrong;
        table.learn(places, offset, cut_off, memory);
    }
    EXPECT_LE(wrong, 1);
    table.release(memory);
}

TEST(offset_table, a_stray_access_costs_one_forecast_only) {
    calls::memory_bound memory(SIZE_MAX);
    const limits cut_off;
    offset_table table;
    std::mt19937_64 random(4);
    int wrong = 0;
    uint64_t walk = 0;
    offset_places places;
    for (int i = 0; i < 900; ++i) {
        const bool stray = i % 9 == 8;
        places.at[static_cast<uint32_t>(offset_base::end)] = static_cast<int64_t>(random() % 1'000'000);
        const int64_t offset = stray ? static_cast<int64_t>(random() % 1'000'000) : places.of(offset_base::end) + 64;
        if (i > 100 && !stray && table.next(places, ++walk) != offset) ++wrong;
        table.learn(places, offset, cut_off, memory);
    }
    EXPECT_EQ(wrong, 0);
    table.release(memory);
}

TEST(touched_extents, know_every_hole_as_long_as_they_are_few) {
    std::mt19937_64 random(5);
    for (int round = 0; round < 200; ++round) {
        touched_extents extents;
        std::array<bool, 400> touched{};
        for (int i = 0; i < 30; ++i) {
            const auto begin = static_cast<int64_t>(random() % 380);
            const auto end = begin + static_cast<int64_t>(random() % 20);
            extents.add(begin, end);
            for (int64_t at = begin; at < end; ++at) touched[static_cast<size_t>(at)] = true;
            for (int64_t at = 0; at < 400; ++at) {
                int64_t hole = at;
                while (hole < 400 && touched[static_cast<size_t>(hole)]) ++hole;
                ASSERT_EQ(extents.next_hole(at), hole) << "round " << round << ", at " << at;
            }
        }
    }
}

TEST(touched_extents, with_too_many_the_smallest_hole_is_forgotten) {
    touched_extents extents;
    for (int64_t i = 0; i < touched_extents::most; ++i) extents.add(100 * i, 100 * i + (i == 7 ? 99 : 10));
    EXPECT_EQ(extents.next_hole(700), 799);
    extents.add(1'000'000, 1'000'001);
    EXPECT_EQ(extents.count(), touched_extents::most);
    EXPECT_EQ(extents.next_hole(700), 810);
    EXPECT_EQ(extents.next_hole(600), 610);
}

TEST(time_estimate, keeps_the_statistics_of_the_thesis) {
    time_estimate estimate;
    for (const int64_t ns : {100, 300, 200}) estimate.learn(ns);
    EXPECT_EQ(estimate.least(), 100);
    EXPECT_EQ(estimate.most(), 300);
    EXPECT_EQ(estimate.mean(), 200);
    EXPECT_EQ(estimate.weighted(), 200) << "((100 + 300) / 2 + 200) / 2";
    EXPECT_EQ(estimate.variance(), 10'000);
    EXPECT_EQ(estimate.deviation(), 100);
}

TEST(time_estimate, one_long_time_among_many_does_not_move_it) {
    time_estimate estimate;
    for (int i = 0; i < 200; ++i) estimate.learn(i % 10 == 9 ? 50'000'000 : 1'000'000);
    estimate.learn(50'000'000);
    EXPECT_EQ(estimate.next(), 1'000'000);
}

TEST(recent_files, forget_the_one_that_was_used_longest_ago) {
    recent_files files;
    for (uint32_t id = 1; id <= recent_files::most; ++id) files.use(id, 1);
    files.use(1, 1);
    files.use(100, 1);
    EXPECT_EQ(files.find(2), nullptr);
    ASSERT_NE(files.find(1), nullptr);
    EXPECT_EQ(files.rank_of(100, 1), 0u);
    EXPECT_EQ(files.rank_of(1, 1), 1u);
    EXPECT_EQ(files.rank_of(2, 1), static_cast<uint32_t>(recent_files::none));
    EXPECT_EQ(files.at(1, 1)->id, 1u);
}

TEST(recent_files, ranks_count_files_of_the_same_class) {
    recent_files files;
    files.use(1, 7);
    files.use(2, 8);
    files.use(3, 7);
    EXPECT_EQ(files.rank_of(1, 7), 1u);
    EXPECT_EQ(files.rank_of(2, 8), 0u);
    EXPECT_EQ(files.at(0, 8)->id, 2u);
    EXPECT_EQ(files.at(1, 8), nullptr);
}

class named_files {
  public:
    uint32_t name(std::string_view path) { return names_.name(++last_, path); }
    std::string next(uint32_t name_class, uint32_t ahead = 1) {
        std::array<char, file_names::longest_path> out;
        return std::string(names_.next_path(name_class, ahead, out));
    }
    std::string pattern(uint32_t name_class) {
        std::array<char, file_names::longest_pattern> out;
        return std::string(names_.pattern_of(name_class, out));
    }

  private:
    calls::memory_bound memory_{SIZE_MAX};
    file_names names_{memory_};
    uint32_t last_ = 0;
};

TEST(file_names, numbers_go_on_as_they_went) {
    named_files files;
    const uint32_t first = files.name("/run/7/out.000010.h5");
    EXPECT_EQ(files.name("/run/7/out.000020.h5"), first);
    EXPECT_EQ(files.pattern(first), "out.%06d.h5");
    EXPECT_EQ(files.next(first), "/run/7/out.000030.h5");
    EXPECT_EQ(files.next(first, 3), "/run/7/out.000050.h5");
}

TEST(file_names, width_grows_with_numbers_that_are_not_padded) {
    named_files files;
    const uint32_t plain = files.name("/run/dump.99");
    EXPECT_EQ(files.name("/run/dump.100"), plain);
    EXPECT_EQ(files.pattern(plain), "dump.%d");
    EXPECT_EQ(files.next(plain), "/run/dump.101");
    const uint32_t padded = files.name("/run/chk_0999");
    EXPECT_EQ(files.name("/run/chk_1000"), padded);
    EXPECT_EQ(files.next(padded), "/run/chk_1001");
}

TEST(file_names, folders_with_numbers_go_on_too) {
    named_files files;
    const uint32_t pressure = files.name("/run/step5/p");
    EXPECT_EQ(files.name("/run/step10/p"), pressure);
    EXPECT_NE(files.name("/run/step10/U"), pressure);
    EXPECT_EQ(files.next(pressure), "/run/step15/p");
}

TEST(file_names, folders_that_are_times_go_on_as_decimal_numbers) {
    named_files files;
    const uint32_t pressure = files.name("/run/processor0/0/p");
    for (const char* const time : {"0.985", "0.99", "0.995"})
        EXPECT_EQ(files.name(std::string("/run/processor0/") + time + "/p"), pressure);
    EXPECT_EQ(files.next(pressure), "/run/processor0/1/p");
    EXPECT_EQ(files.next(pressure, 2), "/run/processor0/1.005/p");
    EXPECT_EQ(files.next(pressure, 21), "/run/processor0/1.1/p");
    files.name("/run/processor0/1/p");
    EXPECT_EQ(files.next(pressure), "/run/processor0/1.005/p");
}

TEST(file_names, decimal_numbers_keep_their_zeros_if_they_ever_did) {
    named_files files;
    const uint32_t state = files.name("/run/0.80");
    EXPECT_EQ(files.name("/run/0.95"), state);
    EXPECT_EQ(files.pattern(state), "%g");
    EXPECT_EQ(files.next(state), "/run/1.10");
    EXPECT_EQ(files.next(state, 7), "/run/2.00");
}

TEST(file_names, points_between_numbers_of_their_own_make_no_decimals) {
    named_files files;
    const uint32_t piece = files.name("/run/snap_099.1");
    EXPECT_EQ(files.name("/run/snap_100.1"), piece);
    EXPECT_EQ(files.next(piece), "/run/snap_101.1");
    const uint32_t version = files.name("/opt/1.9.2/log");
    files.name("/opt/1.9.3/log");
    EXPECT_EQ(files.next(version), "/opt/1.9.4/log");
    const uint32_t padded = files.name("/run/0001.5");
    files.name("/run/0002.5");
    EXPECT_EQ(files.next(padded), "/run/0003.5");
}

TEST(file_names, decimal_numbers_of_an_earlier_run_go_on_in_their_places) {
    calls::memory_bound memory(SIZE_MAX);
    file_names earlier(memory);
    earlier.name(1, "/first/0.995/p");
    const uint32_t there = earlier.name(2, "/first/1/p");
    file_names names(memory);
    const uint32_t here = names.adopt(earlier.last_of(there));
    std::array<char, file_names::longest_path> out;
    EXPECT_EQ(names.name(1, "/second/0/p"), here);
    EXPECT_EQ(names.next_path(here, 1, out), "/second/0.005/p");
}

TEST(file_names, a_class_of_an_earlier_run_goes_on_in_this_ones_folder_and_from_its_first_number) {
    calls::memory_bound memory(SIZE_MAX);
    file_names earlier(memory);
    earlier.name(1, "/first/out.0010");
    const uint32_t there = earlier.name(2, "/first/out.0012");
    file_names names(memory);
    const uint32_t here = names.adopt(earlier.last_of(there));
    std::array<char, file_names::longest_path> out;
    EXPECT_EQ(names.next_path(here, 1, out), "") << "nobody knows in which folder, and with which number it begins";
    EXPECT_EQ(names.name(1, "/second/out.0000"), here);
    EXPECT_EQ(names.next_path(here, 1, out), "/second/out.0002");
}

TEST(file_names, odd_paths_have_a_class_or_none_but_do_no_harm) {
    named_files files;
    EXPECT_EQ(files.name(""), static_cast<uint32_t>(file_names::unknown));
    EXPECT_EQ(files.name(std::string(4000, 'x')), static_cast<uint32_t>(file_names::unknown));
    const uint32_t digits = files.name("/run/" + std::string(60, '9'));
    EXPECT_EQ(files.next(digits), "/run/" + std::string(60, '9'));
    const uint32_t many = files.name("/1/2/3/4/5/6/7/8/p9.1");
    files.name("/1/2/3/4/5/6/7/8/p9.2");
    EXPECT_EQ(files.next(many), "/1/2/3/4/5/6/7/8/p9.3");
    EXPECT_EQ(files.pattern(many), "p9.%d");
    const uint32_t precise = files.name("/run/0.1/x");
    files.name("/run/0.12345678901234567/x");
    files.name("/run/999999999999999999/x");
    EXPECT_FALSE(files.next(precise, UINT32_MAX).empty());
    EXPECT_FALSE(files.name("/run/0.9999999999999999999999/x") == file_names::unknown);
    EXPECT_FALSE(files.next(precise).empty());
}

}  // namespace
}  // namespace halcyon::predict
