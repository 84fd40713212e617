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

    std::vector<char> written(const file_job& job, writer_memory& memory) {
        const std::string path = folder_.file("f.h5");
        const auto datasets = hdf5::sort_into_datasets(job);
        output_file out(path + ".tmp");
        hdf5::write_contents(job, datasets, out, memory);
        out.publish(path, false);
        std::ifstream file(path, std::ios::binary);
        return {std::istreambuf_iterator<char>(file), {}};
    }

    /// Writes one file, `change`s what the next is made of, and writes that: after the pattern and without.
    void expect_equal(const std::function<void(job_builder&, variable&, file_job&)>& change, bool same_pattern) {
        writer_memory used, fresh;
        job_builder before, after;
        fill(before, {0, 1}, 1);
        written(before.job("f", {0, 1}), used);
        ASSERT_FALSE(used.pattern.description.empty());
        variable& placed = fill(after, {6, 7}, 9);
        file_job job = after.job("f", {6, 7});
        change(after, placed, job);
        EXPECT_EQ(hdf5::description_of(job, hdf5::sort_into_datasets(job)) == used.pattern.description, same_pattern);
        const auto file = written(job, fresh);
        EXPECT_FALSE(file.empty());
        EXPECT_TRUE(written(job, used) == file);
        EXPECT_TRUE(written(job, used) == file) << "nor the next one";
    }

    halcyon::tests::temporary_folder folder_;
};

TEST_F(file_pattern, gives_the_bytes_that_hdf5_gives) {
    expect_equal([](job_builder&, variable&, file_job&) {}, true);
}

/// So many datasets that HDF5's cache writes texts between the chunks, each as long as a chunk.
TEST_F(file_pattern, of_thousands_of_datasets_tells_values_from_texts) {
    writer_memory used;
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
        writer_memory none;
        return written(job, used) == written(job, none);
    };
    EXPECT_TRUE(same_as_hdf5(1));
    EXPECT_TRUE(same_as_hdf5(2));
    EXPECT_TRUE(same_as_hdf5(3));
}

TEST_F(file_pattern, chunks_for_time_series_too) {
    writer_memory used;
    for (const int64_t first : {0, 2, 4}) {
        job_builder b;
        b.target().expected_reader = reader::time_series;
        fill(b, {first, first + 1}, 3 + static_cast<int>(first));
        const file_job job = b.job("f", {first, first + 1});
        writer_memory none;
        EXPECT_TRUE(written(job, used) == written(job, none));
    }
    EXPECT_FALSE(used.pattern.description.empty());
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
    writer_memory memory;
    job_builder b;
    variable& v = b.add_variable("v", scalar_type::float32);
    v.compression = compression::gzip;
    b.add_block(v, 0, 0, {1000}, counting<float>(1000));
    written(b.job("f", {0}), memory);
    EXPECT_TRUE(memory.pattern.description.empty());
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
