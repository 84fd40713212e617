#include <gtest/gtest.h>

#include <cmath>

#include "view_fixture.hpp"

namespace halcyon::offload::testing {
namespace {

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
    EXPECT_EQ(folder_.names().size(), 5U) << "four files and the view; no temporaries";
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
                b.add_block(v, iteration, rank, {2}, std::vector<float>{value, value}, {4}, {2L * rank});
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
    halcyon::tests::temporary_folder other;
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

TEST_F(view, names_who_ended_before_the_others) {
    for (const int64_t iteration : {0, 1}) publish_line("n0000", 0, {iteration});
    publish_line("n0001", 1, {0});
    EXPECT_EQ(rebuild({"n0000", "n0001"}), 1);
    EXPECT_TRUE(builder_->remarks().empty()) << "it may come";
    EXPECT_EQ(builder_->ended_short(), 0);
    // The run is over.
    EXPECT_EQ(rebuild({}), 2);
    EXPECT_EQ(integers(view_, "/", "incomplete_iterations"), ints{1});
    ASSERT_EQ(builder_->remarks().size(), 1U);
    EXPECT_NE(builder_->remarks()[0].find("n0001 published nothing after iteration 0"), std::string::npos);
    EXPECT_EQ(builder_->ended_short(), 1);
}

TEST_F(view, names_nobody_where_clients_went_on_for_their_server) {
    publish_line("n0000", 0, {0});
    publish_line("c00000", 0, {1});
    publish_line("c00001", 1, {1});
    EXPECT_EQ(rebuild({}), 2);
    EXPECT_TRUE(builder_->remarks().empty());
}

TEST_F(view, a_folder_that_is_not_there_is_a_failure) {
    hdf5::hdf5_view nowhere("/no/such/folder", "sim");
    const result<int64_t> count = nowhere.rebuild(strings{"n0000"});
    ASSERT_FALSE(count.ok());
    EXPECT_EQ(count.why().kind, error_kind::system);
    EXPECT_NE(count.why().message.find("/no/such/folder"), std::string::npos);
}

}  // namespace
}  // namespace halcyon::offload::testing
