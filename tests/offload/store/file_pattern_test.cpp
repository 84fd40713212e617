// A file that is written after the pattern of one before is, byte for byte, what HDF5 writes.

#include "offload/store/hdf5/file_pattern.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <iterator>

#include "job_builder.hpp"
#include "offload/store/hdf5/file_writer.hpp"
#include "temporary_folder.hpp"

namespace halcyon::offload::testing {
namespace {

using hdf5::output_file;
using hdf5::pattern_memory;
using hdf5::writer_memory;

class file_pattern : public ::testing::Test {
  protected:
    /// Two ranks of a placed and of an unplaced variable, a coordinate, a single value and an array without elements.
    static variable& fill(job_builder& b, const std::vector<int64_t>& iterations, int seed) {
        variable& placed = b.add_variable("micro/qc", scalar_type::float32);
        placed.unit = "kg/kg";
        placed.description = "cloud water";
        placed.mesh_id = b.add_mesh({"grid", mesh_type::rectilinear, {"z", "y"}, "", "", ""});
        placed.place_id = b.add_place("whole");
        variable& rounded = b.add_variable("theta", scalar_type::float64);
        rounded.precision = precision::bitround;
        rounded.significant_bits = 9;
        variable& halved = b.add_variable("w", scalar_type::float32);
        halved.precision = precision::half;
        variable& coordinate = b.add_variable("z", scalar_type::float64);
        coordinate.time_varying = false;
        const variable& single = b.add_variable("step", scalar_type::int64);
        const variable& nothing = b.add_variable("nothing", scalar_type::int8);
        const auto some = [&](size_t count) { return counting<double>(count, seed, 0.37); };
        const auto some_floats = [&](size_t count) {
            const auto values = some(count);
            return std::vector<float>(values.begin(), values.end());
        };
        for (int rank = 0; rank < 2; ++rank) {
            for (const int64_t i : iterations) {
                b.add_block(placed, i, rank, {4, 50}, some_floats(200), {4, 98}, {0, int64_t{49} * rank}, {0, rank},
                            {0, 1 - rank});
                b.add_block(rounded, i, rank, {7000}, some(7000));
                b.add_block(halved, i, rank, {3, 3}, some_floats(9));
                b.add_block(single, i, rank, {}, std::vector<int64_t>{seed + i});
                b.add_block(nothing, i, rank, {0}, std::vector<int8_t>{});
            }
            b.add_block(coordinate, iterations.front(), rank, {4}, some(4));
        }
        return placed;
    }

    std::vector<char> written(const file_job& job, pattern_memory& patterns) {
        const std::string path = folder_.file("f.h5");
        const auto datasets = sort_into_datasets(job);
        output_file out(path + ".tmp");
        writer_memory memory;
        hdf5::write_contents(job, datasets, out, memory, patterns);
        out.publish(path, false);
        std::ifstream file(path, std::ios::binary);
        return {std::istreambuf_iterator<char>(file), {}};
    }

    std::vector<char> written_by_hdf5(const file_job& job) {
        pattern_memory none(false);
        return written(job, none);
    }

    static std::string description(const file_job& job) { return hdf5::description_of(job, sort_into_datasets(job)); }

    /// What is known of files like `job`, of which HDF5 made two.
    pattern_memory& with_pattern_of(pattern_memory& patterns, const file_job& job) {
        written(job, patterns);
        written(job, patterns);
        return patterns;
    }

    /// Writes one file, `change`s what the next is made of, and writes that: after the pattern and without.
    void expect_equal(const std::function<void(job_builder&, variable&, file_job&)>& change, bool same_pattern) {
        pattern_memory used;
        job_builder before, after;
        fill(before, {0, 1}, 1);
        const file_job first = before.job("f", {0, 1});
        with_pattern_of(used, first);
        variable& placed = fill(after, {6, 7}, 9);
        file_job job = after.job("f", {6, 7});
        change(after, placed, job);
        EXPECT_EQ(description(job) == description(first), same_pattern);
        const auto file = written_by_hdf5(job);
        EXPECT_FALSE(file.empty());
        for (int round = 0; round < 6; ++round) EXPECT_TRUE(written(job, used) == file) << round;
        EXPECT_TRUE(used.on());
    }

    /// Writes a file after the pattern of another that `change` damaged after HDF5 had confirmed it.
    void expect_refuted(const std::function<void(hdf5::file_pattern&)>& change) {
        job_builder b;
        fill(b, {0, 1}, 1);
        const file_job job = b.job("f", {0, 1});
        pattern_memory good;
        with_pattern_of(good, job);
        hdf5::file_pattern damaged = *good.pattern_for(description(job));
        change(damaged);
        pattern_memory patterns;
        patterns.keep(damaged);
        // The second file of a description is HDF5's in any case.
        EXPECT_EQ(patterns.pattern_for(description(job)), nullptr);
        const auto file = written_by_hdf5(job);
        EXPECT_TRUE(written(job, patterns) == file);
        EXPECT_FALSE(patterns.on());
        EXPECT_TRUE(patterns.take_refuted());
        EXPECT_FALSE(patterns.take_refuted()) << "said once";
        EXPECT_TRUE(written(job, patterns) == file) << "nor the next one";
    }

    halcyon::tests::temporary_folder folder_;
};

TEST_F(file_pattern, gives_the_bytes_that_hdf5_gives) {
    expect_equal([](job_builder&, variable&, file_job&) {}, true);
}

/// So many datasets that HDF5's cache writes texts between the chunks, each as long as a chunk.
TEST_F(file_pattern, of_thousands_of_datasets_tells_values_from_texts) {
    pattern_memory used;
    constexpr int variables = 300, ranks = 12;
    constexpr size_t values = 4096 / sizeof(float);
    const auto same_as_hdf5 = [&](int seed) {
        job_builder b;
        for (int i = 0; i < variables; ++i) {
            variable& v = b.add_variable("variable" + std::to_string(i), scalar_type::float32);
            v.unit = "kg/kg";
            v.description = "a description of variable " + std::to_string(i);
        }
        for (int i = 0; i < variables; ++i)
            for (int rank = 0; rank < ranks; ++rank)
                b.add_block(b.variable_at(i), 0, rank, {static_cast<int64_t>(values)},
                            counting<float>(values, static_cast<float>(seed + i)));
        const file_job job = b.job("f", {0});
        return written(job, used) == written_by_hdf5(job);
    };
    for (int seed = 1; seed <= 3; ++seed) EXPECT_TRUE(same_as_hdf5(seed)) << seed;
    EXPECT_TRUE(used.on());
}

TEST_F(file_pattern, chunks_for_time_series_too) {
    pattern_memory used;
    for (const int64_t first : {0, 2, 4}) {
        job_builder b;
        b.target().expected_reader = reader::time_series;
        fill(b, {first, first + 1}, 3 + static_cast<int>(first));
        const file_job job = b.job("f", {first, first + 1});
        EXPECT_TRUE(written(job, used) == written_by_hdf5(job));
    }
    EXPECT_TRUE(used.on());
}

TEST_F(file_pattern, is_not_taken_for_a_file_that_looks_otherwise) {
    expect_equal([](job_builder&, variable& v, file_job&) { v.unit = "g/kg"; }, false);
    expect_equal([](job_builder& b, variable&, file_job&) { b.data().meshes[0].coordinates = {"y", "z"}; }, false);
    expect_equal([](job_builder& b, variable&, file_job&) { b.target().expected_reader = reader::time_series; }, false);
    expect_equal([](job_builder&, variable&, file_job& job) { job.blocks[0].shape.offset = {0, 3}; }, false);
    expect_equal([](job_builder&, variable&, file_job& job) { job.ranks = 3; }, false);
    expect_equal([](job_builder&, variable&, file_job& job) { job.part = 1; }, false);
    expect_equal([](job_builder&, variable&, file_job& job) { job.writer = "n0001"; }, false);
    expect_equal([](job_builder&, variable&, file_job& job) { job.blocks.pop_back(); }, false);
    expect_equal([](job_builder&, variable&, file_job& job) { job.unfinished = {7}; }, false);
    expect_equal(
        [](job_builder&, variable&, file_job& job) {
            job.blocks.erase(job.blocks.begin());
            job.missing = {{0, 6, 0, 0, missing_block::why::client_died}};
        },
        false);
    expect_equal([](job_builder& b, variable&, file_job&) { b.target().index = true; }, false);
    expect_equal([](job_builder& b, variable&, file_job&) { b.target().checksum = true; }, false);
}

TEST_F(file_pattern, compressed_files_have_none) {
    job_builder b;
    variable& v = b.add_variable("v", scalar_type::float32);
    v.compression = compression::gzip;
    b.add_block(v, 0, 0, {1000}, counting<float>(1000));
    EXPECT_TRUE(description(b.job("f", {0})).empty());
}

TEST_F(file_pattern, is_confirmed_by_hdf5_before_its_first_use_and_now_and_then) {
    job_builder b;
    fill(b, {0, 1}, 1);
    const file_job job = b.job("f", {0, 1});
    pattern_memory patterns;
    std::vector<int> by_hdf5;
    for (int file = 1; file <= 40; ++file) {
        const auto known = patterns.pattern_for(description(job));
        if (known != nullptr) continue;
        by_hdf5.push_back(file);
        if (file == 1) written(job, patterns);
    }
    EXPECT_EQ(by_hdf5, (std::vector<int>{1, 2, 4, 8, 16, 32}));
}

TEST_F(file_pattern, that_does_not_fit_the_values_leaves_the_file_to_hdf5) {
    expect_refuted([](hdf5::file_pattern& p) { p.values[1].bytes += 8; });
    expect_refuted([](hdf5::file_pattern& p) { p.values.pop_back(); });
    expect_refuted([](hdf5::file_pattern& p) { p.values.push_back({p.size, 8}); });
}

TEST_F(file_pattern, that_hdf5_would_not_make_again_is_given_up) {
    const auto damage = [this](const std::function<void(hdf5::file_pattern&)>& change) {
        job_builder b;
        fill(b, {0, 1}, 1);
        const file_job job = b.job("f", {0, 1});
        pattern_memory good, patterns;
        hdf5::file_pattern damaged = *with_pattern_of(good, job).pattern_for(description(job));
        change(damaged);
        patterns.keep(damaged);
        EXPECT_TRUE(written(job, patterns) == written_by_hdf5(job));
        EXPECT_FALSE(patterns.on());
    };
    damage([](hdf5::file_pattern& p) { p.metadata.begin()->second.back() ^= std::byte{1}; });
    damage([](hdf5::file_pattern& p) { p.size += 8; });
    damage([](hdf5::file_pattern& p) { std::swap(p.values[1].address, p.values[2].address); });
}

struct written_piece {
    uint64_t address;
    size_t bytes;
    bool is_value;
};

/// Whether a file in which these were written, in this order, can be the pattern of others.
bool makes_a_pattern(const std::string& path, const std::vector<written_piece>& pieces) {
    output_file out(path);
    hdf5::value_places values;
    for (const written_piece& piece : pieces) {
        const size_t before = out.data().size();
        out.write_data(piece.address, std::vector<std::byte>(piece.bytes));
        if (piece.is_value) values.note(out, before, piece.bytes);
    }
    return !hdf5::pattern_of("a file", out, values).description.empty();
}

TEST_F(file_pattern, is_none_where_a_value_lies_on_a_text) {
    const std::string path = folder_.file("g.h5.tmp");
    // Neither in order nor apart: the long one holds the short one that begins after it.
    const std::vector<written_piece> values{{500, 100, true}, {100, 200, true}, {150, 10, true}, {900, 8, true}};
    const auto with_text = [&](uint64_t address, size_t bytes) {
        std::vector<written_piece> pieces{{address, bytes, false}};
        pieces.insert(pieces.end(), values.begin(), values.end());
        return makes_a_pattern(path, pieces);
    };
    for (const auto& [address, bytes] : {std::pair<uint64_t, size_t>{0, 100}, {300, 200}, {600, 300}, {908, 50}})
        EXPECT_TRUE(with_text(address, bytes)) << "beside values: " << address;
    for (const auto& [address, bytes] : {std::pair<uint64_t, size_t>{0, 101},
                                         {99, 2},
                                         {120, 10},
                                         {200, 50},
                                         {299, 10},
                                         {450, 500},
                                         {599, 1},
                                         {907, 9}})
        EXPECT_FALSE(with_text(address, bytes)) << "on a value: " << address;
}

}  // namespace
}  // namespace halcyon::offload::testing
