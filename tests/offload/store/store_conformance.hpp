#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <thread>
#include <vector>

#include "contents.hpp"
#include "job_builder.hpp"
#include "offload/store/store.hpp"
#include "temporary_folder.hpp"

/// What every file_store must do, whether it publishes files or folders. A store joins with
///   INSTANTIATE_TEST_SUITE_P(name, store_conformance, ::testing::Values(store_under_test{"name", module, read}));
/// in a program that links gtest_main; `module` loads it, `read` is its own reader, written against its format.
namespace halcyon::offload::testing {

struct store_under_test {
    std::string name;
    std::function<store_module()> module;
    /// All blocks of a file. A time-invariant block counts as one of the file's first iteration.
    std::function<contents(const std::string& path)> read;
    friend std::ostream& operator<<(std::ostream& out, const store_under_test& s) { return out << s.name; }
};

/// Of a file, or of all files in a folder.
inline int64_t stored_bytes_at(const std::string& path) {
    if (!std::filesystem::is_directory(path)) return static_cast<int64_t>(std::filesystem::file_size(path));
    int64_t bytes = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path))
        if (entry.is_regular_file()) bytes += static_cast<int64_t>(entry.file_size());
    return bytes;
}

class store_conformance : public ::testing::TestWithParam<store_under_test> {
  protected:
    const store_module module_ = GetParam().module();
    std::unique_ptr<file_store> store_{module_.make_file_store()};
    halcyon::tests::temporary_folder folder_;

    /// Writes and compares; the folder then holds the file alone.
    void expect_round_trip(const file_job& job) {
        const result<file_report> report = store_->write(job);
        ASSERT_TRUE(report.ok()) << report.why().message;
        EXPECT_TRUE(GetParam().read(job.path) == contents_of(job));
        EXPECT_EQ(folder_.names(), std::vector<std::string>{std::filesystem::path(job.path).filename()});
        EXPECT_EQ(report->stored_bytes, stored_bytes_at(job.path));
        EXPECT_EQ(std::filesystem::is_directory(job.path), module_.traits.is_folder);
    }
};

/// Who gives a store its turn: calls a function before each piece.
class told_stay final : public turn::stay {
  public:
    explicit told_stay(std::function<void(int64_t bytes)> tell) : tell_(std::move(tell)) {}
    void next(int64_t bytes) override { tell_(bytes); }
    [[nodiscard]] int64_t waited_ns() const override { return 0; }
    [[nodiscard]] int64_t unasked_bytes() const override { return 0; }

  private:
    std::function<void(int64_t)> tell_;
};

TEST_P(store_conformance, tells_of_each_piece_and_holds_nothing_meanwhile) {
    job_builder b;
    const variable& v = b.add_variable("theta", scalar_type::float64);
    for (int rank = 0; rank < 3; ++rank) b.add_block(v, 0, rank, {32, 4}, counting<double>(128, rank * 1000.0));
    const file_job other = b.job(folder_.file("other"), {0});
    // The second file of a kind may be written in another way than the first.
    for (const char* name : {"first", "second"}) {
        int64_t told = 0, files = 0;
        told_stay storing([&](int64_t bytes) {
            told += bytes;
            std::thread([&] { files += store_->write(other).ok() ? 1 : 0; }).join();
        });
        file_job job = b.job(folder_.file(name), {0});
        job.storing = &storing;
        ASSERT_TRUE(store_->write(job).ok());
        EXPECT_TRUE(GetParam().read(job.path) == contents_of(job));
        EXPECT_GE(told, int64_t{3} * 128 * 8) << name;
        EXPECT_GT(files, 0) << "while the store was told of a piece, another thread stored a file";
    }
}

TEST_P(store_conformance, stores_every_scalar_type_bit_for_bit) {
    job_builder b;
    for (int t = 0; t <= static_cast<int>(scalar_type::float64); ++t) {
        const auto type = static_cast<scalar_type>(t);
        const variable& v = b.add_variable("v" + std::string(name_of(type)), type);
        for (int rank = 0; rank < 2; ++rank) {
            const auto bytes =
                counting<unsigned char>(12 * static_cast<size_t>(size_of(type)), static_cast<unsigned char>(rank));
            b.add_block(v, 4, rank, {3, 4}, bytes);
        }
    }
    expect_round_trip(b.job(folder_.file("f"), {4}));
}

TEST_P(store_conformance, stores_ranks_zero_to_seven) {
    job_builder b;
    extents dimensions;
    for (int rank = 0; rank <= max_dimensions; ++rank) {
        const variable& v = b.add_variable("r" + std::to_string(rank), scalar_type::int32);
        b.add_block(v, 0, 0, dimensions, counting<int32_t>(static_cast<size_t>(dimensions.count()), 1));
        if (rank < max_dimensions) dimensions.push_back(2);
    }
    expect_round_trip(b.job(folder_.file("f"), {0}));
}

TEST_P(store_conformance, stores_blocks_without_elements) {
    job_builder b;
    const variable& v = b.add_variable("empty", scalar_type::float32);
    b.add_block<float>(v, 7, 0, {0}, {});
    b.add_block<float>(v, 7, 1, {5}, counting<float>(5));
    const variable& w = b.add_variable("flat", scalar_type::float64);
    b.add_block<double>(w, 7, 0, {3, 0, 2}, {});
    expect_round_trip(b.job(folder_.file("f"), {7}));
}

TEST_P(store_conformance, stores_several_iterations_of_several_domains) {
    job_builder b;
    const variable& v = b.add_variable("theta", scalar_type::float64);
    variable& w = b.add_variable("two", scalar_type::int16);
    w.blocks_per_client = 2;
    double next = 0;
    for (int rank = 0; rank < 3; ++rank) {
        for (const int64_t iteration : {10, 20, 40})
            b.add_block(v, iteration, rank, {2, 3}, counting<double>(6, next += 100));
    }
    for (int block = 0; block < 2; ++block) {
        for (const int64_t iteration : {10, 20, 40}) {
            b.add_block(w, iteration, 1, {4}, counting<int16_t>(4, static_cast<int16_t>(block * 50))).block = block;
        }
    }
    expect_round_trip(b.job(folder_.file("f"), {10, 20, 40}));
}

TEST_P(store_conformance, stores_blocks_whose_shape_changes_between_iterations) {
    job_builder b;
    const variable& v = b.add_variable("particles", scalar_type::float32);
    for (const int64_t iteration : {0, 1, 2, 3}) {
        const size_t count = 5 + static_cast<size_t>(iteration) % 3;
        b.add_block(v, iteration, 0, {static_cast<int64_t>(count)},
                    counting<float>(count, static_cast<float>(iteration)));
    }
    expect_round_trip(b.job(folder_.file("f"), {0, 1, 2, 3}));
}

TEST_P(store_conformance, stores_time_invariant_variables_once) {
    job_builder b;
    variable& x = b.add_variable("x", scalar_type::float64);
    x.time_varying = false;
    b.add_block(x, 5, 0, {4}, counting<double>(4));
    const variable& v = b.add_variable("v", scalar_type::float32);
    b.add_block(v, 5, 0, {4}, counting<float>(4, 1));
    b.add_block(v, 6, 0, {4}, counting<float>(4, 2));
    expect_round_trip(b.job(folder_.file("f"), {5, 6}));
}

TEST_P(store_conformance, keeps_groups_and_any_utf8_name) {
    job_builder b;
    for (const std::string name : {"plain", "group/inner", "group/deep/er", "größe/温度 %b [K]", "a.b", "...",
                                   "with space", "__x", "a/__y/z", "zarr.json", "100%", "c.0", "a/%2E"}) {
        b.add_block(b.add_variable(name, scalar_type::int8), 0, 0, {2}, std::vector<int8_t>{1, 2});
    }
    expect_round_trip(b.job(folder_.file("f"), {0}));
}

TEST_P(store_conformance, refuses_names_that_are_no_path) {
    for (const std::string name : {"", "/a", "a/", "a//b", ".", "..", "a/../b", "a/.", "bad\xff", "over\xc0\xaflong"}) {
        job_builder b;
        b.add_block(b.add_variable(name, scalar_type::int8), 0, 0, {2}, std::vector<int8_t>{1, 2});
        const result<file_report> report = store_->write(b.job(folder_.file("f"), {0}));
        ASSERT_FALSE(report.ok()) << "'" << name << "'";
        EXPECT_EQ(report.why().kind, error_kind::config);
        EXPECT_NE(report.why().message.find(name), std::string::npos) << report.why().message;
        EXPECT_TRUE(folder_.names().empty()) << "'" << name << "'";
    }
}

TEST_P(store_conformance, writing_twice_gives_equal_contents) {
    job_builder b;
    const variable& v = b.add_variable("v", scalar_type::float32);
    b.add_block(v, 0, 0, {100}, counting<float>(100));
    const file_job job = b.job(folder_.file("f"), {0});
    expect_round_trip(job);
    expect_round_trip(job);
}

TEST_P(store_conformance, replaces_a_temporary_that_a_killed_writer_left) {
    job_builder b;
    b.add_block(b.add_variable("v", scalar_type::float32), 0, 0, {3}, counting<float>(3));
    const file_job job = b.job(folder_.file("f"), {0});
    std::filesystem::create_symlink("/nowhere", job.path + ".tmp");
    expect_round_trip(job);
    if (!module_.traits.is_folder) return;
    std::filesystem::create_directories(job.path + ".tmp/v/d000000");
    std::ofstream(job.path + ".tmp/v/d000000/half") << "half";
    expect_round_trip(job);
}

TEST_P(store_conformance, nothing_of_a_data_file_that_is_replaced_stays) {
    job_builder before, after;
    before.add_block(before.add_variable("gone/v", scalar_type::float32), 0, 0, {3}, counting<float>(3));
    after.add_block(after.add_variable("w", scalar_type::int16), 0, 1, {2}, counting<int16_t>(2));
    expect_round_trip(before.job(folder_.file("f"), {0}));
    expect_round_trip(after.job(folder_.file("f"), {0}));
}

TEST_P(store_conformance, a_failure_leaves_what_was_there_before) {
    job_builder good, bad;
    good.add_block(good.add_variable("v", scalar_type::float32), 0, 0, {3}, counting<float>(3));
    const file_job job = good.job(folder_.file("f"), {0});
    expect_round_trip(job);
    bad.add_block(bad.add_variable("a/../b", scalar_type::float32), 0, 0, {3}, counting<float>(3));
    EXPECT_FALSE(store_->write(bad.job(folder_.file("f"), {0})).ok());
    EXPECT_TRUE(GetParam().read(job.path) == contents_of(job));
    EXPECT_EQ(folder_.names(), std::vector<std::string>{"f"});
}

TEST_P(store_conformance, its_traits_say_how_its_files_are_called_and_what_it_makes) {
    EXPECT_TRUE(module_.traits.ending.starts_with('.')) << module_.traits.ending;
    EXPECT_GT(module_.traits.ending.size(), 1U);
    EXPECT_FALSE(module_.traits.ending.ends_with("tmp")) << "taken for a half";
    EXPECT_EQ(module_.traits.has_view(), module_.make_view_builder != nullptr);
}

TEST_P(store_conformance, several_threads_write_at_once) {
    constexpr size_t threads = 4;
    std::vector<std::unique_ptr<job_builder>> builders;
    std::vector<file_job> jobs;
    for (size_t i = 0; i < threads; ++i) {
        builders.push_back(std::make_unique<job_builder>());
        variable& v = builders[i]->add_variable("v", scalar_type::float64);
        v.compression = compression::gzip;
        builders[i]->add_block(v, 0, 0, {50, 60}, counting<double>(3000, static_cast<double>(i)));
        jobs.push_back(builders[i]->job(folder_.file("f" + std::to_string(i)), {0}));
    }
    std::vector<std::thread> writers;
    std::atomic<int> written{0};
    for (const file_job& job : jobs)
        writers.emplace_back([&, own = &job] {
            if (store_->write(*own).ok()) ++written;
        });
    for (std::thread& w : writers) w.join();
    EXPECT_EQ(written, static_cast<int>(threads));
    for (const file_job& job : jobs) EXPECT_TRUE(GetParam().read(job.path) == contents_of(job)) << job.path;
}

TEST_P(store_conformance, never_modifies_the_blocks) {
    for (const compression method : {compression::none, compression::gzip, compression::zstd, compression::when_idle}) {
        for (const precision p : {precision::full, precision::bitround, precision::half}) {
            job_builder b;
            variable& v = b.add_variable("v", scalar_type::float32);
            v.compression = method;
            v.precision = p;
            v.significant_bits = 5;
            b.add_block(v, 0, 0, {1000}, counting<float>(1000, 0.1F, 0.37F));
            const file_job job = b.job(folder_.file("f"), {0});
            const contents before = contents_of(job);
            ASSERT_TRUE(store_->write(job).ok());
            EXPECT_TRUE(before == contents_of(job));
        }
    }
}

TEST_P(store_conformance, lossless_compression_loses_nothing_and_says_how_long_it_took) {
    for (const compression method : {compression::gzip, compression::zstd, compression::when_idle}) {
        for (const reader expected : {reader::as_written, reader::time_series, reader::maps}) {
            job_builder b;
            b.target().expected_reader = expected;
            b.target().checksum = expected != reader::as_written;
            variable& v = b.add_variable("v", scalar_type::float64);
            v.compression = method;
            for (const int64_t iteration : {0, 1, 2}) {
                b.add_block(v, iteration, 0, {5, 30, 41},
                            counting<double>(5 * 30 * 41, static_cast<double>(iteration)));
            }
            const file_job job = b.job(folder_.file("f"), {0, 1, 2});
            expect_round_trip(job);
            const result<file_report> report = store_->write(job);
            EXPECT_EQ(report->raw_bytes, 3 * 5 * 30 * 41 * 8);
            EXPECT_LT(report->stored_bytes, report->raw_bytes);
            EXPECT_GT(report->compress_ns, 0);
            EXPECT_GT(report->write_ns, 0);
        }
    }
}

TEST_P(store_conformance, when_idle_compression_obeys_the_job) {
    job_builder b;
    variable& v = b.add_variable("v", scalar_type::float64);
    v.compression = compression::when_idle;
    b.add_block(v, 0, 0, {10000}, std::vector<double>(10000, 1.0));
    file_job job = b.job(folder_.file("f"), {0});
    job.compress = false;
    expect_round_trip(job);
    EXPECT_GE(stored_bytes_at(job.path), 80000);
}

TEST_P(store_conformance, a_file_without_blocks_is_a_file) {
    job_builder b;
    b.add_variable("v", scalar_type::float32);
    file_job job = b.job(folder_.file("f"), {3});
    job.missing.push_back({0, 3, 1, 0, missing_block::why::skipped});
    job.sync = true;
    expect_round_trip(job);
}

TEST_P(store_conformance, leaves_nothing_where_it_cannot_write) {
    job_builder b;
    b.add_block(b.add_variable("v", scalar_type::float32), 0, 0, {3}, counting<float>(3));
    const result<file_report> report = store_->write(b.job(folder_.file("no such folder/f"), {0}));
    ASSERT_FALSE(report.ok());
    EXPECT_EQ(report.why().kind, error_kind::system);
    EXPECT_EQ(report.why().system_errno, ENOENT);
    EXPECT_NE(report.why().message.find("no such folder/f"), std::string::npos) << report.why().message;
    EXPECT_NE(report.why().message.find("No such file or directory"), std::string::npos) << report.why().message;

    std::filesystem::create_directories(folder_.file("taken/inside"));
    const result<file_report> taken = store_->write(b.job(folder_.file("taken"), {0}));
    ASSERT_FALSE(taken.ok());
    const char* const why = module_.traits.is_folder ? "Directory not empty" : "Is a directory";
    EXPECT_NE(taken.why().message.find(why), std::string::npos) << taken.why().message;
    EXPECT_EQ(folder_.names(), std::vector<std::string>{"taken"});
}

TEST_P(store_conformance, refuses_blocks_that_contradict_the_job) {
    job_builder b;
    const variable& v = b.add_variable("v", scalar_type::float32);
    b.add_block(v, 9, 0, {3}, counting<float>(3));
    EXPECT_EQ(store_->write(b.job(folder_.file("f"), {0})).why().kind, error_kind::usage);
    b.clear_blocks();
    b.add_block(v, 0, 0, {4}, counting<float>(3));
    EXPECT_EQ(store_->write(b.job(folder_.file("f"), {0})).why().kind, error_kind::usage);
    EXPECT_TRUE(folder_.names().empty());
}

}  // namespace halcyon::offload::testing
