// Meshes in views: their coordinates, and what is said where they do not fit.

#include <gtest/gtest.h>

#include <filesystem>
#include <utility>

#include "view_fixture.hpp"

namespace halcyon::offload::testing {
namespace {

/// A rectilinear mesh whose coordinates are pieces of two clients.
void add_mesh(job_builder& b, int rank, const std::string& group, bool nodes) {
    const uint32_t place = b.add_place("whole");
    const uint32_t mesh_id = b.add_mesh({"grid", mesh_type::rectilinear, {group + "y", group + "x"}, "", "", ""});
    variable& y = b.add_variable(group + "y", scalar_type::float32);
    variable& x = b.add_variable(group + "x", scalar_type::float32);
    for (variable* c : {&y, &x}) {
        c->time_varying = false;
        c->place_id = place;
        c->unit = "m";
    }
    const int64_t ny = nodes ? 5 : 4;
    const int64_t nx = nodes ? 4 : 3;
    b.add_block(x, 0, rank, {nx}, counting<float>(static_cast<size_t>(nx), 0, 2), {nx}, {0});
    const int64_t own = rank == 1 ? ny - 2 : 2;
    b.add_block(y, 0, rank, {own}, counting<float>(static_cast<size_t>(own), static_cast<float>(20 * rank), 10), {ny},
                {2 * rank});
    variable& v = b.add_variable("v", scalar_type::float32);
    v.place_id = place;
    v.mesh_id = mesh_id;
    b.add_block(v, 0, rank, {2, 3}, counting<float>(6, static_cast<float>(6 * rank)), {4, 3}, {2 * rank, 0});
}

TEST_F(view, coordinates_of_a_rectilinear_mesh_become_plain_dimension_scales) {
    for (const int rank : {0, 1}) {
        publish("n000" + std::to_string(rank), {0}, [rank](job_builder& b) { add_mesh(b, rank, "", false); });
    }
    EXPECT_EQ(rebuild({"n0000", "n0001"}), 1);
    EXPECT_EQ(shown("/y"), (reals{0, 10, 20, 30}));
    EXPECT_EQ(shown("/x"), (reals{0, 2, 4}));
    EXPECT_EQ(texts(view_, "/x", "units"), strings{"m"});
    EXPECT_TRUE(is_dimension_scale(view_, "/y"));
    EXPECT_EQ(shown("/v"), counting<double>(12));
}

TEST_F(view, node_coordinates_of_cell_values_are_joined_by_their_midpoints) {
    for (const int rank : {0, 1}) {
        publish("n000" + std::to_string(rank), {0}, [rank](job_builder& b) { add_mesh(b, rank, "mesh/", true); });
    }
    EXPECT_EQ(rebuild({"n0000", "n0001"}), 1);
    EXPECT_EQ(shown("/y_center"), (reals{5, 15, 25, 35}));
    EXPECT_EQ(shown("/x_center"), (reals{1, 3, 5}));
    EXPECT_EQ(shown("/mesh/y"), (reals{0, 10, 20, 30, 40}));
    EXPECT_TRUE(is_dimension_scale(view_, "/y_center"));
}

/// A variable of 4 x 3 on a mesh of 4 x `nx` nodes.
void add_narrow_mesh(job_builder& b, int64_t nx) {
    const uint32_t mesh_id = b.add_mesh({"grid", mesh_type::rectilinear, {"y", "x"}, "", "", ""});
    for (const auto& [name, n] : {std::pair<const char*, int64_t>{"y", 4}, {"x", nx}}) {
        variable& c = b.add_variable(name, scalar_type::float32);
        c.time_varying = false;
        b.add_block(c, 0, 0, {n}, counting<float>(static_cast<size_t>(n)));
    }
    variable& v = b.add_variable("v", scalar_type::float32);
    v.mesh_id = mesh_id;
    b.add_block(v, 0, 0, {4, 3}, counting<float>(12));
}

TEST_F(view, names_a_mesh_that_does_not_fit_its_variable_with_both_shapes) {
    publish("n0000", {0}, [](job_builder& b) { add_narrow_mesh(b, 7); });
    EXPECT_EQ(rebuild({"n0000"}), 1);
    const strings told = texts(view_, "/", "unfit_meshes");
    ASSERT_EQ(told.size(), 1U);
    EXPECT_EQ(told[0].find("variable 'v' has the shape 4 x 3, but mesh 'grid' has 4 x 7 nodes and 3 x 6 cells"), 0U)
        << told[0];
    EXPECT_EQ(builder_->remarks(), told);
}

TEST_F(view, names_the_coordinate_of_a_mesh_that_is_not_stored) {
    publish("n0000", {0}, [](job_builder& b) {
        variable& v = b.add_variable("v", scalar_type::float32);
        v.mesh_id = b.add_mesh({"grid", mesh_type::rectilinear, {"y", "x"}, "", "", ""});
        b.add_block(v, 0, 0, {4, 3}, counting<float>(12));
    });
    EXPECT_EQ(rebuild({"n0000"}), 1);
    const strings told = builder_->remarks();
    ASSERT_EQ(told.size(), 1U);
    EXPECT_EQ(told[0].find("variable 'v' is on mesh 'grid', whose coordinate 'y' is not stored beside it"), 0U)
        << told[0];
    EXPECT_FALSE(std::filesystem::exists(folder_.file("sim.xmf"))) << "nothing can be drawn";
}

TEST_F(view, names_a_variable_on_a_mesh_whose_blocks_are_not_one_array) {
    for (const int rank : {0, 1}) {
        publish("n000" + std::to_string(rank), {0}, [rank](job_builder& b) {
            const uint32_t mesh_id = b.add_mesh({"grid", mesh_type::rectilinear, {"y", "x"}, "", "", ""});
            for (const auto& [name, n] : {std::pair<const char*, int64_t>{"y", 4}, {"x", 3}}) {
                variable& c = b.add_variable(name, scalar_type::float32);
                c.time_varying = false;
                b.add_block(c, 0, rank, {n}, counting<float>(static_cast<size_t>(n)));
            }
            variable& v = b.add_variable("v", scalar_type::float32);
            v.mesh_id = mesh_id;
            b.add_block(v, 0, rank, {4, 3}, counting<float>(12));
        });
    }
    EXPECT_EQ(rebuild({"n0000", "n0001"}), 1);
    const strings told = builder_->remarks();
    ASSERT_EQ(told.size(), 1U);
    EXPECT_EQ(told[0].find("variable 'v' is on mesh 'grid', but has no place"), 0U) << told[0];
}

TEST_F(view, has_an_xdmf_file_only_while_there_is_something_to_draw) {
    const auto xdmf = folder_.file("sim.xmf");
    publish("n0000", {0}, [](job_builder& b) { add_narrow_mesh(b, 3); });
    EXPECT_EQ(rebuild({"n0000"}), 1);
    EXPECT_TRUE(std::filesystem::exists(xdmf));
    publish("n0000", {0}, [](job_builder& b) { add_narrow_mesh(b, 7); });
    EXPECT_EQ(rebuild({}), 1);
    EXPECT_FALSE(std::filesystem::exists(xdmf));
}

TEST_F(view, has_no_remarks_when_meshes_fit) {
    publish("n0000", {0}, [](job_builder& b) { add_narrow_mesh(b, 3); });
    EXPECT_EQ(rebuild({"n0000"}), 1);
    EXPECT_TRUE(builder_->remarks().empty());
}

TEST_F(view, compressed_half_precision_coordinates_and_values_are_read) {
    publish("n0000", {0}, [](job_builder& b) {
        const uint32_t mesh_id = b.add_mesh({"grid", mesh_type::rectilinear, {"y", "x"}, "", "", ""});
        for (const std::string name : {"y", "x"}) {
            variable& c = b.add_variable(name, scalar_type::float64);
            c.time_varying = false;
            c.compression = compression::zstd;
            b.add_block(c, 0, 0, {300}, counting<double>(300));
        }
        variable& v = b.add_variable("v", scalar_type::float64);
        v.mesh_id = mesh_id;
        v.precision = precision::half;
        v.compression = compression::gzip;
        b.add_block(v, 0, 0, {300, 300}, std::vector<double>(90000, 1.0 / 3));
    });
    EXPECT_EQ(rebuild({"n0000"}), 1);
    EXPECT_EQ(shown("/x"), counting<double>(300));
    EXPECT_NEAR(shown("/v")[7], 1.0 / 3, 1e-4);
}

}  // namespace
}  // namespace halcyon::offload::testing
