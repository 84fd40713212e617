#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/error.hpp"  // the public header and this one are used together in plugins
#include "halcyon/halcyon.hpp"
#include "recording_client.h"

namespace {

class mpi : public ::testing::Environment {
  public:
    void SetUp() override { MPI_Init(nullptr, nullptr); }
    void TearDown() override { MPI_Finalize(); }
};
[[maybe_unused]] auto* const environment = ::testing::AddGlobalTestEnvironment(new mpi);

static_assert(!std::is_copy_constructible_v<halcyon::session> && std::is_move_constructible_v<halcyon::session>);
static_assert(!halcyon::element<bool> && !halcyon::element<long double>);

class cpp_session : public ::testing::Test {
  protected:
    cpp_session() {
        recording_reset();
        const int64_t shape[] = {2, 3};
        recording_declare("theta", HALCYON_FLOAT32, 2, shape);
        recording_declare("time", HALCYON_FLOAT64, 0, nullptr);
        h.emplace("recorded.yaml", MPI_COMM_SELF);
    }
    /// Calls since the session was opened.
    std::string calls() const {
        const std::string all = recording_calls();
        return all.substr(all.find('\n') + 1);
    }
    template <class Call>
    void refused(Call call, const std::string& why) {
        const std::string before = recording_calls();
        try {
            call();
            FAIL() << "no error; expected: " << why;
        } catch (const halcyon::error& e) {
            EXPECT_EQ(e.kind(), halcyon::error_kind::usage);
            EXPECT_NE(std::string(e.what()).find(why), std::string::npos) << e.what();
        }
        EXPECT_EQ(before, recording_calls());
    }

    std::optional<halcyon::session> h;
    const std::vector<float> six = {1, 2, 3, 4, 5, 6};
};

TEST_F(cpp_session, writes_ranges_pointers_and_scalars_from_where_they_lie) {
    h->write("theta", six);
    EXPECT_EQ(recording_address(), six.data());
    const std::array<float, 6> array = {6, 5, 4, 3, 2, 1};
    h->write(std::string("theta"), array, 1);
    EXPECT_EQ(recording_address(), array.data());
    h->write("theta", six.data(), 2);
    EXPECT_EQ(recording_address(), six.data());
    h->write("theta", std::span(six).first(6));
    EXPECT_EQ(recording_address(), six.data());
    h->write("time", 0.25);
    EXPECT_EQ(*static_cast<const double*>(recording_data()), 0.25);
    EXPECT_EQ(calls(), "write theta 0 24\nwrite theta 1 24\nwrite theta 2 24\nwrite theta 0 24\nwrite time 0 8\n");
}

TEST_F(cpp_session, every_element_type_has_its_name) {
    const auto written_as = [&]<class T>(halcyon_type type, T value) {
        recording_declare("one", type, 0, nullptr);
        h->write("one", value);
        EXPECT_EQ(*static_cast<const T*>(recording_data()), value);
    };
    written_as(HALCYON_INT8, int8_t{-1});
    written_as(HALCYON_INT16, int16_t{-2});
    written_as(HALCYON_INT32, int32_t{-3});
    written_as(HALCYON_INT64, int64_t{-4});
    written_as(HALCYON_INT64, -5LL);
    written_as(HALCYON_UINT8, uint8_t{6});
    written_as(HALCYON_UINT16, uint16_t{7});
    written_as(HALCYON_UINT32, uint32_t{8});
    written_as(HALCYON_UINT64, uint64_t{9});
    written_as(HALCYON_FLOAT32, 10.0F);
    written_as(HALCYON_FLOAT64, 11.0);
}

TEST_F(cpp_session, refuses_data_that_is_not_the_layouts) {
    refused([&] { h->write("theta", std::vector<float>(5)); }, "20 bytes given, a block has 24");
    refused([&] { h->write("theta", std::vector<int32_t>(6)); },
            "is float32 in the configuration, the data given is int32");
    refused([&] { h->write("thetta", six); }, "no variable 'thetta'");
    refused([&] { static_cast<void>(h->alloc<double>("theta")); }, "the data given is float64");
}

TEST_F(cpp_session, a_block_goes_from_alloc_to_clear) {
    halcyon::block<float> theta = h->alloc<float>("theta", 3);
    EXPECT_EQ(std::vector<int64_t>(theta.dimensions().begin(), theta.dimensions().end()), (std::vector<int64_t>{2, 3}));
    std::ranges::copy(six, theta.span().begin());
    theta.commit();
    EXPECT_EQ(std::vector<float>(theta.view().begin(), theta.view().end()), six);
    refused([&] { static_cast<void>(theta.span()); }, "read it with view()");
    theta.clear();
    EXPECT_TRUE(theta.view().empty());
    refused([&] { theta.clear(); }, "was not allocated");
    EXPECT_EQ(calls(), "alloc theta 3\ncommit theta 3\nclear theta 3\n");
}

TEST_F(cpp_session, destruction_clears_only_a_committed_block) {
    {
        auto moved = h->alloc<float>("theta");
        auto committed = std::move(moved);
        committed.commit();
        auto never_committed = h->alloc<double>("time");
    }
    EXPECT_EQ(calls(), "alloc theta 0\ncommit theta 0\nalloc time 0\nclear theta 0\n");
}

TEST_F(cpp_session, a_block_may_outlive_its_session) {
    auto theta = h->alloc<float>("theta");
    theta.commit();
    h.reset();
    EXPECT_EQ(calls(), "alloc theta 0\ncommit theta 0\nclose\n");
}

TEST_F(cpp_session, passes_arguments_on) {
    halcyon::set_parameter("nx", 64);
    h->set_parameter("ny", 0.5);
    EXPECT_EQ(h->get_parameter("kappa"), 0.3125);
    h->signal("snapshot");
    h->end_iteration();
    h->wait(0, halcyon::stage::durable);
    EXPECT_EQ(h->stats().signals, 1U);
    EXPECT_EQ(h->stats().iteration, 1);
    h->close();
    h.reset();
    EXPECT_EQ(
        calls(),
        "set_parameter next nx 64\nset_parameter open ny 0.5\nget_parameter kappa\nsignal snapshot\nend_iteration 0\n"
        "wait 0 2\nclose\n");
}

TEST_F(cpp_session, a_forecast_has_as_many_accesses_as_are_known) {
    const halcyon::forecast next = halcyon::next_accesses(5);
    ASSERT_EQ(next.accesses.size(), 2U);
    EXPECT_STREQ(next.accesses[0].path, "/out/u.000042");
    EXPECT_EQ(next.accesses[1].operation, HALCYON_ACCESS_SYNC);
    EXPECT_EQ(next.whole.phase_bytes_left, 5000000000);
    EXPECT_EQ(next.whole.accesses, nullptr);
    EXPECT_EQ(halcyon::accesses_within(0.5, 1).accesses.size(), 1U);
    EXPECT_TRUE(halcyon::next_accesses(0).accesses.empty());
    EXPECT_EQ(calls(), "forecast process 5\nforecast_window process 0.5 1\nforecast process 0\n");
}

TEST_F(cpp_session, a_moved_session_is_closed_once) {
    {
        halcyon::session other = std::move(*h);
        h.reset();
        EXPECT_EQ(calls(), "");
    }
    EXPECT_EQ(calls(), "close\n");
}

TEST_F(cpp_session, calls_on_what_was_moved_from_are_refused) {
    halcyon::session other = std::move(*h);
    refused([&] { h->write("theta", six); }, "session was moved from");
    refused([&] { h->write("theta", six.data()); }, "session was moved from");
    refused([&] { static_cast<void>(h->alloc<float>("theta")); }, "session was moved from");
    refused([&] { h->end_iteration(); }, "session was moved from");
    refused([&] { static_cast<void>(h->stats()); }, "session was moved from");
    refused([&] { h->close(); }, "session was moved from");
    auto block = other.alloc<float>("theta");
    const auto kept = std::move(block);
    refused([&] { block.commit(); }, "block was moved from");  // NOLINT(bugprone-use-after-move)
    refused([&] { block.clear(); }, "block was moved from");   // NOLINT(bugprone-use-after-move)
}

TEST_F(cpp_session, an_error_has_the_kind_of_the_code) {
    recording_fail_next(HALCYON_ERROR_UNAVAILABLE, "the server is gone");
    try {
        h->end_iteration();
        FAIL();
    } catch (const halcyon::error& e) {
        EXPECT_EQ(e.kind(), halcyon::error_kind::unavailable);
        EXPECT_STREQ(e.what(), "the server is gone");
    }
}

TEST_F(cpp_session, an_exception_closes_the_session_of_a_lone_rank) {
    EXPECT_THROW(
        {
            halcyon::session inner("inner.yaml", MPI_COMM_SELF);
            throw std::runtime_error("the simulation failed");
        },
        std::runtime_error);
    EXPECT_EQ(calls(), "open inner.yaml 1\nclose\n");
}

// Runs on two ranks: closing is collective, so a rank that unwinds alone would wait for the other for ever.
TEST_F(cpp_session, an_exception_on_one_of_several_ranks_does_not_close) {
    EXPECT_THROW(
        {
            halcyon::session inner("inner.yaml", MPI_COMM_WORLD);
            throw std::runtime_error("the simulation failed");
        },
        std::runtime_error);
    EXPECT_EQ(calls(), "open inner.yaml 2\n");
}

}  // namespace
