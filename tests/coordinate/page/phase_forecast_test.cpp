// What the page says of the forecasts of its processes.
#include "coordinate/page/phase_forecast.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <thread>

#include "coordinate/page/pages.hpp"
#include "coordinate/page/rounds.hpp"
#include "coordinate/page/slot_claim.hpp"

namespace halcyon::coordinate {
namespace {

TEST(page, says_what_is_left_of_a_forecast_by_the_bytes_that_moved_since) {
    const agent_page one = page_of();
    process_part& part = claim_slot(one.shared(), 1)->at[0];
    constexpr int64_t s = 1'000'000'000;
    part.moved = 100;
    part.unasked = 20;
    phase_forecast{.told_ns = 10 * s,
                   .told_bytes = 120,
                   .bytes_left = 1000,
                   .left_ns = 8 * s,
                   .next_in_ns = 40 * s,
                   .next_deviation_ns = s,
                   .next_bytes = 600,
                   .next_alone_ns = 3 * s,
                   .next_probability = 0.5}
        .write_to(part.forecast);
    part.moved = 600;
    node_state found = one.observe(0, 0, 15 * s);
    EXPECT_EQ(found.bytes_left, 500);
    EXPECT_EQ(found.left_s, 4) << "a process that waits gets no nearer to its end";
    EXPECT_EQ(found.next_in_s, 35);
    EXPECT_EQ(found.next_probability, 0.5);
    EXPECT_EQ(found.forecasts, 10);
    EXPECT_GT(one.observe(0, 0, 61 * s).next_probability, 0);
    EXPECT_EQ(one.observe(0, 0, 63 * s).next_probability, 0) << "it did not come when it was due";
    part.begun_ns = 50 * s;
    found = one.observe(0, 0, 51 * s);
    EXPECT_EQ(found.bytes_left, 100) << "of the phase that was expected, which has begun";
    EXPECT_EQ(found.next_probability, 0);
}

TEST(page, takes_what_one_process_moves_in_collective_calls_off_the_forecasts_of_others) {
    const agent_page one = page_of();
    for (const int pid : {1, 2}) {
        process_part& part = claim_slot(one.shared(), pid)->at[0];
        phase_forecast{.told_ns = 1, .bytes_left = 1000}.write_to(part.forecast);
    }
    process_part& aggregator = one.shared().slots[0].at[0];
    aggregator.moved = 1500;
    EXPECT_EQ(one.observe(0, 0, 2).bytes_left, 1000) << "it moves more than it told";
    aggregator.aggregates = 1;
    EXPECT_EQ(one.observe(0, 0, 2).bytes_left, 500);
    aggregator.aggregates = 0;
    aggregator.inside = rounds::of(1, 0);
    EXPECT_EQ(one.observe(0, 0, 2).bytes_left, 500);
    aggregator.moved = 9000;
    EXPECT_EQ(one.observe(0, 0, 2).bytes_left, 0) << "for other nodes, too";
    aggregator.begun_ns = 2;
    EXPECT_EQ(one.observe(0, 0, 3).bytes_left, 1000) << "that was in the phase before";
}

TEST(page, takes_the_time_off_with_the_bytes_that_another_process_moved) {
    const agent_page one = page_of();
    for (const int pid : {1, 2}) {
        process_part& part = claim_slot(one.shared(), pid)->at[0];
        phase_forecast{.told_ns = 1, .bytes_left = 1000, .left_ns = 8'000'000'000}.write_to(part.forecast);
    }
    process_part& aggregator = one.shared().slots[0].at[0];
    aggregator.aggregates = 1;
    aggregator.moved = 1500;
    EXPECT_EQ(one.observe(0, 0, 2).left_s, 4);
}

TEST(page, adds_up_forecasts_of_any_size) {
    const agent_page one = page_of();
    for (uint64_t id = 1; id <= 8; ++id)
        phase_forecast{.told_ns = 1,
                       .bytes_left = phase_forecast::farthest,
                       .next_in_ns = 1'000'000'000,
                       .next_bytes = phase_forecast::farthest,
                       .next_probability = 1}
            .write_to(claim_slot(one.shared(), id)->at[0].forecast);
    const node_state found = one.observe(0, 0, 2);
    EXPECT_EQ(found.bytes_left, phase_forecast::farthest) << "eight of them are more than a number can say";
    EXPECT_EQ(found.next_bytes, phase_forecast::farthest);
}

TEST(page, takes_no_forecast_that_is_being_changed) {
    const agent_page one = page_of();
    shared_forecast& shared = claim_slot(one.shared(), 1)->at[0].forecast;
    phase_forecast{.told_ns = 1, .bytes_left = INT64_MAX}.write_to(shared);
    EXPECT_EQ(phase_forecast::read_from(shared).bytes_left, phase_forecast::farthest);
    shared.version.fetch_add(1);  // its process was killed here
    EXPECT_EQ(phase_forecast::read_from(shared), phase_forecast{});
    phase_forecast{.told_ns = 1, .bytes_left = 5}.write_to(shared);
    EXPECT_EQ(phase_forecast::read_from(shared).bytes_left, 5);
}

TEST(page, shows_whole_forecasts_though_two_threads_of_a_process_write_them) {
    const agent_page one = page_of();
    shared_forecast& shared = claim_slot(one.shared(), 1)->at[0].forecast;
    std::atomic<int> writing{2};
    const auto write = [&](int64_t all) {
        const phase_forecast said{.told_ns = all,
                                  .told_bytes = all,
                                  .bytes_left = all,
                                  .left_ns = all,
                                  .next_in_ns = all,
                                  .next_deviation_ns = all,
                                  .next_bytes = all,
                                  .next_alone_ns = all};
        for (int i = 0; i < 200'000; ++i) said.write_if(shared, [] { return true; });
        --writing;
    };
    std::thread first(write, 1), second(write, 2);
    int torn = 0;
    while (writing > 0) {
        const phase_forecast seen = phase_forecast::read_from(shared);
        torn += seen.told_ns == seen.next_alone_ns && seen.bytes_left == seen.next_bytes ? 0 : 1;
    }
    first.join();
    second.join();
    EXPECT_EQ(torn, 0);
}

}  // namespace
}  // namespace halcyon::coordinate
