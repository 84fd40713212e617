#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <fstream>
#include <functional>
#include <memory>

#include "hdf5_reading.hpp"
#include "job_builder.hpp"
#include "offload/store/hdf5/hdf5_store.hpp"
#include "offload/store/hdf5/hdf5_view.hpp"
#include "temporary_folder.hpp"

namespace halcyon::offload::testing {
namespace {

using strings = std::vector<std::string>;
using ints = std::vector<int64_t>;
using reals = std::vector<double>;

class view : public ::testing::Test {
  protected:
    /// Publishes what `fill` puts into a job.
    void publish(const std::string& writer, const ints& iterations, const std::function<void(job_builder&)>& fill,
                 int part = 0, const std::vector<missing_block>& missing = {}) {
        job_builder b;
        fill(b);
        file_job job =
            b.job(folder_.file(file_name("sim", writer, iterations.front(), part)), iterations, writer, part);
        job.missing = missing;
        const result<file_report> report = store_.write(job);
        ASSERT_TRUE(report.ok()) << report.why().message;
    }

    /// One float per iteration of a client, 100 iteration + rank, placed side by side.
    void publish_line(const std::string& writer, int rank, const ints& iterations, int part = 0) {
        publish(
            writer, iterations,
            [&](job_builder& b) {
                variable& v = b.add_variable("v", scalar_type::float32);
                v.place_id = b.add_place("whole");
                for (const int64_t i : iterations) {
                    b.add_block(v, i, rank, {1}, std::vector<float>{static_cast<float>(100 * i + rank)}, {2}, {rank});
                }
            },
            part);
    }

    /// A file of all servers: a line of four, 100 iteration + place.
    void publish_whole(const ints& iterations) {
        job_builder b;
        variable& v = b.add_variable("v", scalar_type::float32);
        v.place_id = b.add_place("whole");
        shared_file file;
        file.about = b.job(folder_.file(file_name("sim", all_servers, iterations.front(), 0)), iterations, all_servers);
        shared_dataset d;
        d.shape.dimensions = d.shape.global = {4};
        d.shape.offset = d.shape.ghost_before = d.shape.ghost_after = {0};
        d.row_count = static_cast<int64_t>(iterations.size());
        reals values;
        for (size_t row = 0; row < iterations.size(); ++row) {
            d.rows.push_back(static_cast<int64_t>(row));
            for (int x = 0; x < 4; ++x) values.push_back(static_cast<double>(100 * iterations[row] + x));
        }
        d.covered = true;
        file.datasets = {d};
        const result<void> made = store_.lay_out(file);
        ASSERT_TRUE(made.ok()) << made.why().message;
        const std::string temporary = file.about.path + ".tmp";
        const hid_t h = H5Fopen(temporary.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
        const hid_t whole = H5Dopen2(h, "/v/whole", H5P_DEFAULT);
        EXPECT_GE(H5Dwrite(whole, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), 0);
        H5Dclose(whole);
        EXPECT_GE(H5Fclose(h), 0);
        std::filesystem::rename(temporary, file.about.path);
    }

    int64_t rebuild(const strings& writers) {
        const result<int64_t> count = builder_->rebuild(writers);
        EXPECT_TRUE(count.ok()) << (count.ok() ? "" : count.why().message);
        return count.ok() ? *count : -1;
    }

    reals shown(const std::string& dataset) { return numbers(view_, dataset); }

    temporary_folder folder_;
    std::string view_ = folder_.file("sim.h5");
    hdf5::hdf5_store store_;
    std::unique_ptr<view_builder> builder_ = std::make_unique<hdf5::hdf5_view>(folder_.path().string(), "sim");
};

TEST_F(view, shows_an_iteration_only_when_every_writer_published_it) {
    EXPECT_EQ(rebuild({"n0000", "n0001"}), 0);
    publish_line("n0000", 0, {0});
    publish_line("n0000", 0, {1});
    EXPECT_EQ(rebuild({"n0000", "n0001"}), 0);
    EXPECT_FALSE(std::filesystem::exists(view_)) << "no view rather than one of nothing";
    publish_line("n0001", 1, {0});
    EXPECT_EQ(rebuild({"n0000", "n0001"}), 1);
    EXPECT_EQ(shown("/v"), (reals{0, 1}));
    publish_line("n0001", 1, {1});
    EXPECT_EQ(rebuild({"n0000", "n0001"}), 2);
    EXPECT_EQ(shown("/v"), (reals{0, 1, 100, 101}));
    EXPECT_EQ(shown("/time"), (reals{0, 1}));
    EXPECT_EQ(folder_.names().size(), 6U) << "four files, the view and its XDMF; no temporaries";
}

TEST_F(view, without_writers_shows_what_any_published) {
    publish_line("n0000", 0, {0});
    publish_line("n0001", 1, {3});
    EXPECT_EQ(rebuild({}), 2);
    const reals values = shown("/v");
    EXPECT_EQ(values[0], 0);
    EXPECT_TRUE(std::isnan(values[1]) && std::isnan(values[2]));
    EXPECT_EQ(values[3], 301);
}

TEST_F(view, sorts_iterations_across_files_of_different_length) {
    publish_line("n0000", 0, {10, 12});
    publish_line("n0000", 0, {2, 4, 8});
    publish_line("n0001", 1, {2});
    publish_line("n0001", 1, {4, 8, 10, 12});
    EXPECT_EQ(rebuild({"n0000", "n0001"}), 5);
    EXPECT_EQ(shown("/time"), (reals{2, 4, 8, 10, 12}));
    EXPECT_EQ(shown("/v"), (reals{200, 201, 400, 401, 800, 801, 1000, 1001, 1200, 1201}));
}

TEST_F(view, parts_join_their_iteration_and_the_later_one_wins) {
    const auto one = [this](int part, int rank, float value) {
        publish(
            "n0000", {5},
            [&](job_builder& b) {
                variable& v = b.add_variable("v", scalar_type::float32);
                v.place_id = b.add_place("whole");
                b.add_block(v, 5, rank, {1}, std::vector<float>{value}, {2}, {rank});
            },
            part);
    };
    one(1, 0, 7);
    EXPECT_EQ(rebuild({"n0000"}), 0) << "an early part alone does not publish its iteration";
    one(0, 1, 8);
    EXPECT_EQ(rebuild({"n0000"}), 1);
    EXPECT_EQ(shown("/v"), (reals{7, 8}));
    one(2, 0, 9);
    EXPECT_EQ(rebuild({"n0000"}), 1);
    EXPECT_EQ(shown("/v"), (reals{9, 8}));
}

TEST_F(view, a_file_of_all_servers_counts_for_each_and_is_joined_with_blocks_that_were_stored_apart) {
    const auto apart = [this](const std::string& writer, int part, int rank, int64_t iteration, float value) {
        publish(
            writer, {iteration},
            [&](job_builder& b) {
                variable& v = b.add_variable("v", scalar_type::float32);
                v.place_id = b.add_place("whole");
                b.add_block(v, iteration, rank, {2}, std::vector<float>{value, value}, {4}, {2 * rank});
            },
            part);
    };
    publish_whole({0, 1, 2});
    EXPECT_EQ(rebuild({"n0000", "n0001"}), 3);
    EXPECT_EQ(shown("/v"), (reals{0, 1, 2, 3, 100, 101, 102, 103, 200, 201, 202, 203}));
    apart("n0001", 1, 1, 1, 7);
    EXPECT_EQ(rebuild({"n0000", "n0001"}), 3);
    EXPECT_EQ(shown("/v"), (reals{0, 1, 2, 3, 100, 101, 7, 7, 200, 201, 202, 203}));
    // The servers went on alone.
    apart("n0000", 0, 0, 3, 8);
    EXPECT_EQ(rebuild({"n0000", "n0001"}), 3);
    apart("n0001", 0, 1, 3, 9);
    EXPECT_EQ(rebuild({"n0000", "n0001"}), 4);
    EXPECT_EQ(shown("/v"), (reals{0, 1, 2, 3, 100, 101, 7, 7, 200, 201, 202, 203, 8, 8, 9, 9}));
}

TEST_F(view, ignores_files_that_are_not_its_own) {
    publish_line("n0000", 0, {0});
    for (const std::string name :
         {"sim.n0000.i00000001.h5.tmp", ".sim.n0000.i00000001.p01.h5", "sim.h5.bak", "simx.n0000.i00000001.h5",
          "sim.b.n0000.i00000001.h5", "sim.n0000.i0001.h5", "sim.n0000.h5", "sim..h5"}) {
        std::filesystem::copy(folder_.file("sim.n0000.i00000000.h5"), folder_.file(name));
    }
    EXPECT_EQ(rebuild({"n0000"}), 1);
}

TEST_F(view, names_files_it_cannot_read_and_reads_them_when_they_are_mended) {
    publish_line("n0000", 0, {0});
    publish_line("n0000", 0, {1});
    const std::string broken = folder_.file("sim.n0000.i00000001.h5");
    const std::string whole = folder_.file("kept");
    std::filesystem::copy(broken, whole);
    std::filesystem::resize_file(broken, 100);
    EXPECT_EQ(rebuild({"n0000"}), 1);
    EXPECT_EQ(texts(view_, "/", "unreadable_files"), strings{"sim.n0000.i00000001.h5"});
    std::filesystem::rename(whole, broken);
    EXPECT_EQ(rebuild({"n0000"}), 2);
}

TEST_F(view, follows_files_that_are_replaced_or_removed) {
    publish_line("n0000", 0, {0});
    publish_line("n0000", 0, {1});
    EXPECT_EQ(rebuild({"n0000"}), 2);
    publish_line("n0000", 1, {1});
    EXPECT_EQ(rebuild({"n0000"}), 2);
    EXPECT_EQ(shown("/v")[3], 101);
    std::filesystem::remove(folder_.file("sim.n0000.i00000000.h5"));
    EXPECT_EQ(rebuild({"n0000"}), 1);
    EXPECT_EQ(shown("/time"), reals{1});
}

TEST_F(view, is_made_again_when_it_was_removed) {
    publish_line("n0000", 0, {0});
    EXPECT_EQ(rebuild({"n0000"}), 1);
    std::filesystem::remove(view_);
    EXPECT_EQ(rebuild({"n0000"}), 1);
    EXPECT_EQ(shown("/v")[0], 0);
}

TEST_F(view, works_from_another_folder_after_the_run_was_moved) {
    publish_line("n0000", 0, {0});
    EXPECT_EQ(rebuild({"n0000"}), 1);
    temporary_folder other;
    for (const std::string& name : folder_.names()) std::filesystem::rename(folder_.file(name), other.file(name));
    EXPECT_EQ(numbers(other.file("sim.h5"), "/v")[0], 0);
}

TEST_F(view, missing_blocks_are_fill_and_their_iterations_are_named) {
    publish("n0000", {0, 1, 2},
            [](job_builder& b) {
                variable& v = b.add_variable("v", scalar_type::float32);
                variable& n = b.add_variable("n", scalar_type::int32);
                for (const int64_t i : {0, 2}) b.add_block(v, i, 0, {2}, std::vector<float>{1, 2});
                for (const int64_t i : {0, 1, 2}) b.add_block(n, i, 0, {2}, std::vector<int32_t>{3, 4});
            },
            0, {{0, 1, 0, 0, missing_block::why::skipped}});
    EXPECT_EQ(rebuild({"n0000"}), 3);
    const reals values = shown("/v");
    EXPECT_TRUE(std::isnan(values[2]) && std::isnan(values[3]));
    EXPECT_EQ(values[4], 1);
    EXPECT_EQ(integers(view_, "/", "incomplete_iterations"), ints{1});
    EXPECT_EQ(integers(view_, "/v", "_FillValue").size(), 1U);
    EXPECT_THROW(integers(view_, "/n", "_FillValue"), error) << "complete integers need no fill value";
}

TEST_F(view, names_with_percent_signs_are_not_patterns) {
    publish("n0000", {0}, [](job_builder& b) {
        b.add_block(b.add_variable("100%b/%%wind", scalar_type::int32), 0, 0, {2}, std::vector<int32_t>{5, 6});
    });
    EXPECT_EQ(rebuild({"n0000"}), 1);
    EXPECT_EQ(shown("/100%b/%%wind"), (reals{5, 6}));
}

TEST_F(view, time_invariant_variables_have_no_time) {
    publish("n0000", {0}, [](job_builder& b) {
        variable& depth = b.add_variable("depth", scalar_type::float64);
        depth.time_varying = false;
        b.add_block(depth, 0, 0, {2, 2}, std::vector<double>{1, 2, 3, 4});
        variable& g = b.add_variable("g", scalar_type::float64);
        g.time_varying = false;
        b.add_block<double>(g, 0, 0, {}, {9.81});
        b.add_block(b.add_variable("v", scalar_type::float32), 0, 0, {1}, std::vector<float>{1});
    });
    publish("n0000", {1}, [](job_builder& b) {
        b.add_block(b.add_variable("v", scalar_type::float32), 1, 0, {1}, std::vector<float>{2});
    });
    EXPECT_EQ(rebuild({"n0000"}), 2);
    EXPECT_EQ(shape_of_dataset(view_, "/depth"), (ints{2, 2}));
    EXPECT_EQ(shown("/depth"), (reals{1, 2, 3, 4}));
    EXPECT_EQ(shape_of_dataset(view_, "/g"), ints{});
    EXPECT_EQ(shown("/g"), reals{9.81});
    EXPECT_EQ(shown("/v"), (reals{1, 2}));
}

TEST_F(view, variables_without_place_are_stacked_by_domain_or_shown_one_by_one) {
    publish("n0000", {0}, [](job_builder& b) {
        variable& steps = b.add_variable("steps", scalar_type::int64);
        variable& particles = b.add_variable("particles", scalar_type::float32);
        for (const int rank : {0, 2}) {
            b.add_block<int64_t>(steps, 0, rank, {}, {10 + rank});
            b.add_block(particles, 0, rank, {rank + 1}, counting<float>(static_cast<size_t>(rank) + 1));
        }
    });
    EXPECT_EQ(rebuild({"n0000"}), 1);
    EXPECT_EQ(shape_of_dataset(view_, "/steps"), (ints{1, 2}));
    EXPECT_EQ(shown("/steps"), (reals{10, 12}));
    EXPECT_EQ(shown("/domain"), (reals{0, 2}));
    EXPECT_EQ(shown("/particles/d000000"), reals{0});
    EXPECT_EQ(shown("/particles/d000002"), (reals{0, 1, 2}));
}

TEST_F(view, what_is_no_array_stays_in_the_files_and_is_named) {
    publish("n0000", {0, 1}, [](job_builder& b) {
        variable& v = b.add_variable("swarm", scalar_type::float32);
        b.add_block(v, 0, 0, {2}, counting<float>(2));
        b.add_block(v, 1, 0, {3}, counting<float>(3));
        b.add_block(b.add_variable("v", scalar_type::float32), 0, 0, {1}, std::vector<float>{1});
    });
    EXPECT_EQ(rebuild({"n0000"}), 2);
    EXPECT_EQ(texts(view_, "/", "not_shown"), strings{"swarm/d000000"});
}

TEST_F(view, a_variable_named_as_a_group_moves_into_it) {
    publish("n0000", {0}, [](job_builder& b) {
        b.add_block(b.add_variable("wind", scalar_type::int32), 0, 0, {1}, std::vector<int32_t>{1});
        b.add_block(b.add_variable("wind/u", scalar_type::int32), 0, 0, {1}, std::vector<int32_t>{2});
        b.add_block(b.add_variable("time", scalar_type::float64), 0, 0, {}, std::vector<double>{0.5});
    });
    EXPECT_EQ(rebuild({"n0000"}), 1);
    EXPECT_EQ(shown("/wind/wind"), reals{1});
    EXPECT_EQ(shown("/wind/u"), reals{2});
    EXPECT_EQ(shown("/time"), reals{0.5}) << "the simulation's own time";
    EXPECT_EQ(shown("/iteration"), reals{0});
}

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

TEST_F(view, has_no_remarks_when_meshes_fit) {
    publish("n0000", {0}, [](job_builder& b) { add_narrow_mesh(b, 3); });
    EXPECT_EQ(rebuild({"n0000"}), 1);
    EXPECT_TRUE(builder_->remarks().empty());
}

TEST_F(view, leftovers_of_killed_builders_are_removed_and_those_of_others_stay) {
    char host[256] = {};
    ASSERT_EQ(gethostname(host, sizeof host - 1), 0);
    const pid_t child = fork();
    if (child == 0) _exit(0);
    ASSERT_EQ(waitpid(child, nullptr, 0), child);
    const std::string stale = ".sim.view." + std::string(host) + "." + std::to_string(child) + ".h5";
    const std::string alive = ".sim.view." + std::string(host) + "." + std::to_string(getppid()) + ".h5";
    const std::string elsewhere = ".sim.view.another-host-than-" + std::string(host) + ".1.h5";
    for (const std::string& name : {stale, alive, elsewhere}) std::ofstream(folder_.file(name)) << "x";
    EXPECT_EQ(rebuild({"n0000"}), 0);
    EXPECT_FALSE(std::filesystem::exists(folder_.file(stale)));
    EXPECT_TRUE(std::filesystem::exists(folder_.file(alive)));
    EXPECT_TRUE(std::filesystem::exists(folder_.file(elsewhere)));
}

TEST_F(view, a_folder_that_is_not_there_is_a_failure) {
    hdf5::hdf5_view nowhere("/no/such/folder", "sim");
    const result<int64_t> count = nowhere.rebuild(strings{"n0000"});
    ASSERT_FALSE(count.ok());
    EXPECT_EQ(count.why().kind, error_kind::system);
    EXPECT_NE(count.why().message.find("/no/such/folder"), std::string::npos);
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
