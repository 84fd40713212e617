#include "offload/store/hdf5/hdf5_store.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <fstream>
#include <thread>

#include "hdf5_reading.hpp"
#include "job_builder.hpp"
#include "offload/store/hdf5/library_use.hpp"
#include "offload/transform/half.hpp"
#include "temporary_folder.hpp"

namespace halcyon::offload::testing {
namespace {

using strings = std::vector<std::string>;
using ints = std::vector<int64_t>;

class hdf5_file : public ::testing::Test {
  protected:
    file_report write(const file_job& job) {
        const result<file_report> report = store_.write(job);
        EXPECT_TRUE(report.ok()) << (report.ok() ? "" : report.why().message);
        return report.ok() ? *report : file_report{};
    }

    halcyon::tests::temporary_folder folder_;
    std::string path_ = folder_.file("sim.n0000.i00000000.h5");
    hdf5::hdf5_store store_;
    job_builder b_;
};

TEST_F(hdf5_file, describes_itself_its_variables_and_each_domain) {
    variable& v = b_.add_variable("micro/qc", scalar_type::float32);
    v.unit = "kg/kg";
    v.description = "cloud water";
    v.centered = centering::node;
    v.mesh_id = b_.add_mesh({"grid", mesh_type::rectilinear, {"z", "y"}, "", "", ""});
    v.place_id = b_.add_place("whole");
    v.blocks_per_client = 2;
    b_.add_block(v, 6, 3, {4, 5}, counting<float>(20), {4, 12}, {0, 9}, {0, 1}, {0, 1}).block = 1;
    file_job job = b_.job(path_, {6}, "n0002", 1);
    job.ranks = 4;
    write(job);
    EXPECT_EQ(texts(path_, "/", "format"), strings{"halcyon"});
    EXPECT_EQ(texts(path_, "/", "simulation"), strings{"sim"});
    EXPECT_EQ(texts(path_, "/", "writer"), strings{"n0002"});
    EXPECT_EQ(integers(path_, "/", "ranks"), ints{4});
    EXPECT_EQ(integers(path_, "/", "part"), ints{1});
    EXPECT_EQ(integers(path_, "/", "incomplete"), ints{0});
    EXPECT_EQ(numbers(path_, "/.halcyon/iterations"), std::vector<double>{6});
    EXPECT_EQ(texts(path_, "/micro/qc", "unit"), strings{"kg/kg"});
    EXPECT_EQ(texts(path_, "/micro/qc", "description"), strings{"cloud water"});
    EXPECT_EQ(texts(path_, "/micro/qc", "centering"), strings{"node"});
    EXPECT_EQ(texts(path_, "/micro/qc", "mesh"), strings{"grid"});
    EXPECT_EQ(texts(path_, "/micro/qc", "layout"), strings{"micro/qc layout"});
    EXPECT_EQ(texts(path_, "/.halcyon/meshes/0", "coordinates"), (strings{"z", "y"}));
    const std::string dataset = "/micro/qc/d000007";
    EXPECT_EQ(shape_of_dataset(path_, dataset), (ints{1, 4, 5}));
    EXPECT_EQ(chunk_of_dataset(path_, dataset), (ints{1, 4, 5}));
    EXPECT_EQ(integers(path_, dataset, "rank"), ints{3});
    EXPECT_EQ(integers(path_, dataset, "block"), ints{1});
    EXPECT_EQ(integers(path_, dataset, "global"), (ints{4, 12}));
    EXPECT_EQ(integers(path_, dataset, "offset"), (ints{0, 9}));
    EXPECT_EQ(integers(path_, dataset, "ghost_before"), (ints{0, 1}));
    EXPECT_EQ(integers(path_, dataset, "ghost_after"), (ints{0, 1}));
}

TEST_F(hdf5_file, missing_blocks_are_fill_and_recorded) {
    const variable& v = b_.add_variable("v", scalar_type::float32);
    const variable& n = b_.add_variable("n", scalar_type::int16);
    const variable& u = b_.add_variable("u", scalar_type::uint32);
    for (const variable* each : {&v, &n, &u}) {
        const auto bytes = counting<unsigned char>(each == &n ? 4 : 8);
        b_.add_block(*each, 1, 0, {2}, bytes);
        b_.add_block(*each, 3, 0, {2}, bytes);
    }
    file_job job = b_.job(path_, {1, 2, 3});
    job.missing = {{0, 2, 0, 0, missing_block::why::client_died}, {1, 2, 0, 0, missing_block::why::corrupt}};
    write(job);
    EXPECT_TRUE(std::isnan(numbers(path_, "/v/d000000")[2]));
    EXPECT_EQ(numbers(path_, "/n/d000000")[2], -32768);
    EXPECT_EQ(numbers(path_, "/u/d000000")[2], 4294967295);
    EXPECT_EQ(integers(path_, "/v/d000000", "rows"), (ints{0, 2}));
    EXPECT_EQ(integers(path_, "/", "incomplete"), ints{1});
    EXPECT_EQ(numbers(path_, "/.halcyon/missing"), (std::vector<double>{2, 0, 0, 0, 2, 0, 0, 2}));
    EXPECT_EQ(texts(path_, "/.halcyon/missing", "columns"), (strings{"iteration", "rank", "block", "reason"}));
    EXPECT_EQ(texts(path_, "/.halcyon/missing", "reasons"),
              (strings{"client_died", "skipped", "corrupt", "not_written", "uncommitted"}));
}

TEST_F(hdf5_file, half_precision_is_ieee_half_and_counts_overflows) {
    variable& v = b_.add_variable("v", scalar_type::float64);
    v.precision = precision::half;
    v.compression = compression::gzip;
    const std::vector<double> values{1.0, 1.0 / 3, 70000.0, -1e9, std::nan(""), -0.0};
    b_.add_block(v, 0, 0, {6}, values);
    EXPECT_EQ(write(b_.job(path_, {0})).overflowed_values, 2);
    const std::vector<double> read = numbers(path_, "/v/d000000");
    std::vector<uint16_t> expected(6);
    to_half(std::span<const double>(values), expected);
    for (size_t i = 0; i < 6; ++i) {
        if (i == 4) {
            EXPECT_TRUE(std::isnan(read[i]));
        } else {
            EXPECT_EQ(read[i], half_value(expected[i]));
        }
    }
    EXPECT_EQ(texts(path_, "/v", "precision"), strings{"half"});
    EXPECT_EQ(texts(path_, "/v", "type"), strings{"float64"});
}

TEST_F(hdf5_file, bitround_keeps_the_error_small_and_helps_compression) {
    std::vector<float> values;
    values.reserve(50000);
    for (int i = 0; i < 50000; ++i) values.push_back(std::sin(static_cast<float>(i) * 0.37F) + 300);
    int64_t sizes[2] = {};
    for (const int rounded : {0, 1}) {
        job_builder b;
        variable& v = b.add_variable("v", scalar_type::float32);
        v.compression = compression::gzip;
        v.precision = rounded != 0 ? precision::bitround : precision::full;
        v.significant_bits = 9;
        b.add_block(v, 0, 0, {50000}, values);
        sizes[rounded] = write(b.job(path_, {0})).stored_bytes;
    }
    EXPECT_LT(sizes[1], sizes[0] / 2);
    const std::vector<double> read = numbers(path_, "/v/d000000");
    for (size_t i = 0; i < values.size(); ++i) ASSERT_NEAR(read[i], values[i], 300 * std::ldexp(1.0, -10));
}

TEST_F(hdf5_file, integers_ignore_precision) {
    variable& v = b_.add_variable("v", scalar_type::int32);
    v.precision = precision::half;
    b_.add_block(v, 0, 0, {3}, std::vector<int32_t>{100000001, 2, 3});
    const file_job job = b_.job(path_, {0});
    write(job);
    EXPECT_TRUE(read_hdf5(path_) == contents_of(job));
}

TEST_F(hdf5_file, index_bounds_the_stored_values_of_each_block) {
    b_.target().index = true;
    variable& v = b_.add_variable("group/v", scalar_type::float32);
    v.precision = precision::bitround;
    v.significant_bits = 2;
    for (const int rank : {0, 2}) {
        for (const int64_t iteration : {0, 1}) {
            if (rank == 2 && iteration == 1) continue;
            b_.add_block(v, iteration, rank, {3}, std::vector<float>{1.3F * static_cast<float>(rank + 1), NAN, -9.9F});
        }
    }
    write(b_.job(path_, {0, 1}));
    const std::string index = "/.halcyon/index/group/v/min_max";
    EXPECT_EQ(shape_of_dataset(path_, index), (ints{2, 2, 3}));
    EXPECT_EQ(texts(path_, index, "datasets"), (strings{"d000000", "d000002"}));
    const std::vector<double> table = numbers(path_, index);
    for (const size_t entry : {0, 1, 2}) {
        const bool second = entry == 1;
        const std::vector<double> stored = numbers(path_, second ? "/group/v/d000002" : "/group/v/d000000");
        EXPECT_EQ(table[3 * entry], stored[2]);
        EXPECT_EQ(table[3 * entry + 1], stored[0]);
        EXPECT_EQ(table[3 * entry + 2], 1);
    }
    EXPECT_EQ(table[11], -1) << "a missing block has no values and says so";
}

TEST_F(hdf5_file, chunks_suit_the_expected_reader) {
    const variable& v = b_.add_variable("v", scalar_type::float64);
    for (const int64_t iteration : {0, 1, 2, 3})
        b_.add_block(v, iteration, 0, {8, 64, 80}, counting<double>(8UL * 64 * 80, static_cast<double>(iteration)));
    file_job job = b_.job(path_, {0, 1, 2, 3});
    const auto chunk_for = [&](reader expected) {
        b_.target().expected_reader = expected;
        write(job);
        EXPECT_TRUE(read_hdf5(path_) == contents_of(job));
        return chunk_of_dataset(path_, "/v/d000000");
    };
    EXPECT_EQ(chunk_for(reader::as_written), (ints{1, 8, 64, 80}));
    EXPECT_EQ(chunk_for(reader::maps), (ints{1, 1, 64, 80}));
    const ints series = chunk_for(reader::time_series);
    EXPECT_EQ(series[0], 4);
    EXPECT_LE(4 * series[1] * series[2] * series[3] * 8, 1 << 18);
}

TEST_F(hdf5_file, checksums_find_a_changed_byte) {
    b_.target().checksum = true;
    const variable& v = b_.add_variable("v", scalar_type::uint8);
    b_.add_block(v, 0, 0, {4097}, std::vector<uint8_t>(4097, 0x5a));
    const file_job job = b_.job(path_, {0});
    write(job);
    EXPECT_TRUE(read_hdf5(path_) == contents_of(job)) << "an odd number of bytes";
    std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
    std::string bytes((std::istreambuf_iterator<char>(file)), {});
    const size_t data = bytes.find(std::string(4000, 0x5a));
    ASSERT_NE(data, std::string::npos);
    file.clear();
    file.seekp(static_cast<std::streamoff>(data + 10));
    file.put(0x5b);
    file.close();
    EXPECT_THROW(numbers(path_, "/v/d000000"), error);
}

TEST_F(hdf5_file, equal_jobs_give_equal_bytes) {
    variable& v = b_.add_variable("v", scalar_type::float32);
    v.compression = compression::gzip;
    b_.add_block(v, 0, 0, {1000}, counting<float>(1000));
    const auto bytes_of_file = [this] {
        std::ifstream file(path_, std::ios::binary);
        return std::string((std::istreambuf_iterator<char>(file)), {});
    };
    write(b_.job(path_, {0}));
    const std::string first = bytes_of_file();
    write(b_.job(path_, {0}));
    EXPECT_TRUE(first == bytes_of_file());
}

TEST_F(hdf5_file, incompressible_data_costs_no_space) {
    variable& v = b_.add_variable("v", scalar_type::float64);
    v.compression = compression::gzip;
    std::vector<uint64_t> noise(20000);
    uint64_t state = 88172645463325252ULL;
    for (uint64_t& n : noise) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        n = state;
    }
    b_.add_block(v, 0, 0, {20000}, noise);
    const file_job job = b_.job(path_, {0});
    EXPECT_LT(write(job).stored_bytes, 160000 + 20000);
    EXPECT_TRUE(read_hdf5(path_) == contents_of(job));
}

TEST_F(hdf5_file, hundreds_of_domains_cost_little_metadata) {
    const variable& v = b_.add_variable("v", scalar_type::float32);
    for (int rank = 0; rank < 600; ++rank) b_.add_block(v, 0, rank, {2}, std::vector<float>{1, 2});
    const file_job job = b_.job(path_, {0});
    EXPECT_LT(write(job).stored_bytes, 600 * 2048);
    EXPECT_TRUE(read_hdf5(path_) == contents_of(job));
}

/// Files after a pattern, compressed ones and ones with an index, all at the same time.
TEST_F(hdf5_file, of_one_thread_of_many_is_what_one_alone_writes) {
    constexpr int threads = 4, rounds = 12;
    std::atomic<int> wrong{0};
    const auto write_some = [&](int thread) {
        for (int round = 0; round < rounds; ++round) {
            job_builder b;
            b.target().index = round % 3 == 2;
            variable& plain = b.add_variable("plain", scalar_type::float32);
            variable& packed = b.add_variable("packed", scalar_type::float64);
            if (round % 3 != 0) packed.compression = compression::gzip;
            for (int rank = 0; rank < 3; ++rank) {
                b.add_block(plain, round, rank, {500}, counting<float>(500, static_cast<float>(thread + rank)));
                b.add_block(packed, round, rank, {40, 50}, counting<double>(2000, thread, 0.5));
            }
            const std::string name = std::to_string(thread) + "-" + std::to_string(round) + ".h5";
            const file_job job = b.job(folder_.file(name), {round});
            const bool done = store_.write(job).ok();
            const hdf5::library_use now;
            if (!done || !(read_hdf5(job.path) == contents_of(job))) ++wrong;
        }
    };
    std::vector<std::thread> all;
    for (int thread = 0; thread < threads; ++thread) all.emplace_back(write_some, thread);
    for (std::thread& one : all) one.join();
    EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace halcyon::offload::testing
