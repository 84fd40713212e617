#include "offload/store/zarr/zarr_store.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>

#include "job_builder.hpp"
#include "offload/store/zarr/format.hpp"
#include "offload/transform/half.hpp"
#include "temporary_folder.hpp"
#include "zarr_reading.hpp"

namespace halcyon::offload::testing {
namespace {

using strings = std::vector<std::string>;
using ints = std::vector<int64_t>;

template <class T>
std::vector<T> elements(const zarr_array& array) {
    std::vector<T> list(array.bytes.size() / sizeof(T));
    if (!list.empty()) std::memcpy(list.data(), array.bytes.data(), array.bytes.size());
    return list;
}

class zarr_folder : public ::testing::Test {
  protected:
    file_report write(const file_job& job) {
        const result<file_report> report = store_.write(job);
        EXPECT_TRUE(report.ok()) << (report.ok() ? "" : report.why().message);
        return report.ok() ? *report : file_report{};
    }
    [[nodiscard]] std::string node(const std::string& name) const { return path_ + "/" + name; }
    [[nodiscard]] bool has(const std::string& name) const { return std::filesystem::exists(node(name)); }

    halcyon::tests::temporary_folder folder_;
    std::string path_ = folder_.file("sim.n0000.i00000000.zarr");
    zarr::zarr_store store_;
    job_builder b_;
};

TEST_F(zarr_folder, describes_itself_its_variables_and_each_domain) {
    variable& v = b_.add_variable("micro/qc", scalar_type::float32);
    v.unit = "kg/kg";
    v.mesh_id = b_.add_mesh({"grid", mesh_type::rectilinear, {"z", "axes/y"}, "", "", ""});
    v.place_id = b_.add_place("whole");
    v.blocks_per_client = 2;
    b_.add_block(v, 6, 3, {4, 5}, counting<float>(20), {4, 12}, {0, 9}, {0, 1}, {0, 1}).block = 1;
    file_job job = b_.job(path_, {6}, "n0002", 1);
    job.ranks = 4;
    write(job);
    EXPECT_EQ(zarr_attribute(path_, "format"), R"("halcyon")");
    EXPECT_EQ(zarr_attribute(path_, "writer"), R"("n0002")");
    EXPECT_EQ(zarr_attribute(path_, "ranks"), "4");
    EXPECT_EQ(zarr_attribute(path_, "part"), "1");
    EXPECT_EQ(zarr_attribute(path_, "incomplete"), "0");
    EXPECT_EQ(elements<int64_t>(read_zarr_array(node(".halcyon/iterations"))), ints{6});
    EXPECT_EQ(zarr_attribute(node("micro/qc"), "unit"), R"("kg/kg")");
    EXPECT_EQ(zarr_attribute(node("micro/qc"), "layout"), R"("micro/qc layout")");
    EXPECT_EQ(zarr_attribute(node(".halcyon"), "meshes"),
              R"([{"name":"grid","type":"rectilinear","coordinates":["z","axes/y"],"cells":"","cell_types":"",)"
              R"("cell_sizes":""}])");
    const zarr_array array = read_zarr_array(node("micro/qc/d000007"));
    EXPECT_EQ(array.shape, (ints{1, 4, 5}));
    EXPECT_EQ(array.chunk, (ints{1, 4, 5}));
    EXPECT_EQ(array.dimension_names, (strings{"iteration", "z", "y"}));
    EXPECT_EQ(zarr_attribute(node("micro/qc/d000007"), "rank"), "3");
    EXPECT_EQ(zarr_attribute(node("micro/qc/d000007"), "global"), "[4,12]");
    EXPECT_EQ(zarr_attribute(node("micro/qc/d000007"), "ghost_before"), "[0,1]");
}

TEST_F(zarr_folder, missing_blocks_are_chunks_that_are_not_there) {
    const variable& v = b_.add_variable("v", scalar_type::float32);
    const variable& n = b_.add_variable("n", scalar_type::int16);
    const variable& u = b_.add_variable("u", scalar_type::uint64);
    for (const int64_t iteration : {1, 3}) {
        b_.add_block(v, iteration, 0, {2}, counting<float>(2));
        b_.add_block(n, iteration, 0, {2}, counting<int16_t>(2));
        b_.add_block(u, iteration, 0, {2}, counting<uint64_t>(2));
    }
    file_job job = b_.job(path_, {1, 2, 3});
    job.missing.push_back({v.id, 2, 0, 0, missing_block::why::skipped});
    write(job);
    EXPECT_TRUE(has("v/d000000/c.0.0"));
    EXPECT_FALSE(has("v/d000000/c.1.0"));
    EXPECT_TRUE(has("v/d000000/c.2.0"));
    EXPECT_EQ(zarr_attribute(node("v/d000000"), "rows"), "[0,2]");
    EXPECT_TRUE(std::isnan(elements<float>(read_zarr_array(node("v/d000000")))[2]));
    EXPECT_EQ(elements<int16_t>(read_zarr_array(node("n/d000000"))),
              (std::vector<int16_t>{0, 1, -32768, -32768, 0, 1}));
    EXPECT_EQ(elements<uint64_t>(read_zarr_array(node("u/d000000")))[3], UINT64_MAX);
    EXPECT_EQ(zarr_attribute(path_, "incomplete_iterations"), "[2]");
    EXPECT_EQ(elements<int64_t>(read_zarr_array(node(".halcyon/missing"))), (ints{2, 0, 0, 1}));
    EXPECT_EQ(zarr_attribute(node(".halcyon/missing"), "variables"), R"(["v"])");
}

TEST_F(zarr_folder, time_series_readers_get_chunks_over_all_iterations) {
    b_.target().expected_reader = reader::time_series;
    const variable& v = b_.add_variable("v", scalar_type::float32);
    for (const int64_t iteration : {0, 1, 3}) b_.add_block(v, iteration, 0, {300, 400}, counting<float>(120'000));
    write(b_.job(path_, {0, 1, 2, 3}));
    const zarr_array array = read_zarr_array(node("v/d000000"));
    EXPECT_EQ(array.chunk[0], 4);
    EXPECT_LT(array.chunk[1] * array.chunk[2], 300 * 400);
    const auto values = elements<float>(array);
    EXPECT_EQ(values[119'999], 119'999.0F);
    EXPECT_TRUE(std::isnan(values[size_t{2} * 120'000]));
    EXPECT_EQ(values[size_t{3} * 120'000 + 7], 7.0F);
}

TEST_F(zarr_folder, half_precision_is_float16) {
    variable& v = b_.add_variable("v", scalar_type::float64);
    v.precision = precision::half;
    v.compression = compression::gzip;
    b_.add_block(v, 0, 0, {3}, std::vector<double>{1.5, -2.0, 1e6});
    const file_report report = write(b_.job(path_, {0}));
    EXPECT_EQ(report.overflowed_values, 1);
    const zarr_array array = read_zarr_array(node("v/d000000"));
    EXPECT_EQ(array.data_type, "float16");
    const auto halves = elements<uint16_t>(array);
    EXPECT_EQ(half_value(halves[0]), 1.5);
    EXPECT_EQ(half_value(halves[1]), -2.0);
    EXPECT_TRUE(std::isinf(half_value(halves[2])));
}

TEST_F(zarr_folder, arrays_of_one_group_share_a_dimension_only_where_its_extent_is_the_same) {
    const variable& v = b_.add_variable("v", scalar_type::int8);
    b_.add_block(v, 0, 0, {2, 3}, counting<int8_t>(6));
    b_.add_block(v, 0, 1, {2, 4}, counting<int8_t>(8));
    write(b_.job(path_, {0}));
    EXPECT_EQ(read_zarr_array(node("v/d000000")).dimension_names, (strings{"iteration", "dim_0", "dim_1_3"}));
    EXPECT_EQ(read_zarr_array(node("v/d000001")).dimension_names, (strings{"iteration", "dim_0", "dim_1_4"}));
}

TEST_F(zarr_folder, the_index_bounds_each_block) {
    b_.target().index = true;
    const variable& v = b_.add_variable("group/v", scalar_type::float32);
    b_.add_block(v, 0, 0, {3}, std::vector<float>{2, NAN, -1});
    b_.add_block(v, 0, 2, {1}, std::vector<float>{7});
    write(b_.job(path_, {0}));
    const std::string table = node(".halcyon/index/group/v/min_max");
    EXPECT_EQ(elements<double>(read_zarr_array(table)), (std::vector<double>{-1, 2, 1, 7, 7, 0}));
    EXPECT_EQ(zarr_attribute(table, "datasets"), R"(["d000000","d000002"])");
}

TEST_F(zarr_folder, a_variable_and_a_block_of_another_cannot_have_one_path) {
    b_.add_block(b_.add_variable("v", scalar_type::int8), 0, 0, {1}, std::vector<int8_t>{1});
    b_.add_block(b_.add_variable("v/d000000", scalar_type::int8), 0, 0, {1}, std::vector<int8_t>{1});
    const auto report = store_.write(b_.job(path_, {0}));
    ASSERT_FALSE(report.ok());
    EXPECT_NE(report.why().message.find("v/d000000: cannot create: File exists"), std::string::npos)
        << report.why().message;
    EXPECT_TRUE(folder_.names().empty());
}

TEST(zarr_format, names_that_no_node_may_have_are_encoded) {
    EXPECT_EQ(zarr::node_path("plain/größe"), "plain/größe");
    EXPECT_EQ(zarr::node_path("..."), "%2E..");
    EXPECT_EQ(zarr::node_path("a/__x/..b"), "a/%5F_x/..b");
    EXPECT_EQ(zarr::node_path("zarr.json"), "%7Aarr.json");
    EXPECT_EQ(zarr::node_path("%2E../100%"), "%252E../100%25");
}

}  // namespace
}  // namespace halcyon::offload::testing
