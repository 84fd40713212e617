// What the agent sees on the page of its job, whatever became of the processes that wrote there.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <string>
#include <vector>

#include "coordinate/page/agent_page.hpp"
#include "coordinate/page/mount_of.hpp"
#include "coordinate/page/pages.hpp"
#include "coordinate/page/phase_forecast.hpp"
#include "coordinate/page/rounds.hpp"
#include "coordinate/page/slot_claim.hpp"

namespace halcyon::coordinate {
namespace {

TEST(page, adds_up_bytes_whatever_its_processes_write_there) {
    const agent_page one = page_of();
    for (uint64_t id = 1; id <= 2; ++id) {
        process_part& part = claim_slot(one.shared(), id)->at[0];
        part.moved = INT64_MAX;
        part.unasked = INT64_MIN;
    }
    const node_state found = one.observe(0, 0, 2);
    EXPECT_EQ(found.moved, phase_forecast::farthest);
    EXPECT_EQ(found.unasked, 0);
}

TEST(page, forgets_what_a_killed_process_had_under_way_but_not_what_it_moved) {
    agent_page one = page_of();
    const int status = in_child([&] {
        process_slot& slot = *claim_slot(one.shared(), own_name());
        slot.at[0].moved = 1000;
        slot.at[0].begun = 3;
        slot.at[0].under_way = 1;
        slot.at[0].waiting = 1;
        slot.locks = 2;
        ::kill(::getpid(), SIGKILL);
    });
    ASSERT_TRUE(WIFSIGNALED(status));
    EXPECT_EQ(one.observe(0, 0, 1).under_way, 1);
    EXPECT_EQ(one.free_dead(), 1U);
    const node_state after = one.observe(0, 0, 1);
    EXPECT_EQ(after.under_way, 0);
    EXPECT_EQ(after.waiting, 0);
    EXPECT_EQ(after.moved, 1000);
    EXPECT_EQ(after.begun, 3U);
    EXPECT_EQ(one.shared().slots[0].locks, 0U);
}

TEST(page, counts_no_calls_where_a_process_has_counted_out_more_than_began) {
    const agent_page one = page_of();
    process_part& part = claim_slot(one.shared(), own_name())->at[0];
    part.under_way.fetch_sub(1);  // a jump left the call before it was counted
    part.waiting.fetch_sub(1);
    node_state now = one.observe(0, 0, 1);
    EXPECT_EQ(now.under_way, 0);
    EXPECT_EQ(now.waiting, 0);
    EXPECT_EQ(now.active, 0);
    claim_slot(one.shared(), 1)->at[0].under_way = 2;
    now = one.observe(0, 0, 1);
    EXPECT_EQ(now.under_way, 2);
    EXPECT_EQ(now.active, 1);
}

TEST(page, shows_processes_that_died_before_they_told_or_could_not) {
    agent_page one = page_of();
    for (const uint32_t told : {process_slot::nobody_yet, process_slot::itself, process_slot::its_agent}) {
        const size_t untold = told == process_slot::itself ? 0 : 1;
        in_child([&] {
            process_slot& slot = *claim_slot(one.shared(), own_name());
            slot.at[0].moved = 1000;
            slot.told = told;
        });
        EXPECT_EQ(one.untold(), untold);
        std::vector<int64_t> moved;
        one.free_dead([&](const process_slot& slot) { moved.push_back(slot.at[0].moved); });
        EXPECT_EQ(moved, std::vector<int64_t>(untold, 1000));
        EXPECT_EQ(one.shared().slots[0].told, 0U);
    }
}

TEST(page, counts_aggregators_that_may_begin_a_round_below_the_stop) {
    const agent_page one = page_of();
    process_part& part = claim_slot(one.shared(), own_name())->at[0];
    const uint64_t stop = rounds::of(7, 3);
    const auto behind = [&] { return one.observe(0, stop, 1).behind; };
    EXPECT_EQ(behind(), 0);  // in no collective call
    part.inside = rounds::of(7, 0);
    EXPECT_EQ(behind(), 0);  // never moved anything: no aggregator
    part.aggregates = 1;
    EXPECT_EQ(behind(), 1);
    part.round = rounds::of(7, 2);
    EXPECT_EQ(behind(), 0);  // its next one is that of the stop
    part.round = rounds::of(7, 1);
    EXPECT_EQ(behind(), 1);
    part.round = rounds::of(7, 2);
    part.waiting = 1;
    EXPECT_EQ(behind(), 1);  // held back, until it sees that this round is allowed
    one.shared().slots[0].by_itself.at[0].asking = 1;
    EXPECT_EQ(behind(), 0);  // no call, but a phase that was announced
    part.waiting = 2;
    EXPECT_EQ(behind(), 1);
    part.round = stop;
    EXPECT_EQ(behind(), 0);
}

TEST(page, tells_a_published_turn_from_one_that_a_process_put_there) {
    agent_page one = page_of();
    one.publish(0, permission::waiting, 0, {});
    EXPECT_FALSE(one.was_replaced(0));
    auto& word = one.shared().file_system[0].turn;
    word = turn_word::next(word, permission::closed);
    EXPECT_TRUE(one.was_replaced(0));
}

/// A stray write of any process of the job may hit what the agent has written once and for all.
TEST(page, is_given_back_as_it_was_made_whatever_a_process_writes_over_the_number_of_file_systems) {
    agent_page one = page_of();
    in_child([&] {
        claim_slot(one.shared(), own_name());
        one.shared().file_systems = 1000;
    });
    process_slot& alive = *claim_slot(one.shared(), own_name());
    alive.at[0].moved = 5;
    EXPECT_EQ(one.file_systems(), 1U);
    EXPECT_EQ(one.free_dead(), 1U);
    EXPECT_EQ(alive.owner, own_name()) << "its place lies behind that of the dead one";
    EXPECT_EQ(alive.at[0].moved, 5);
}

TEST(page, is_not_left_by_its_processes_whatever_one_of_them_writes_over_the_number_and_the_paths_of_file_systems) {
    const agent_page one = page_of({"/scratch", "/burst"});
    page& shared = one.shared();
    for (const uint32_t stray : {1000U, UINT32_MAX}) {
        shared.file_systems = stray;
        EXPECT_EQ(shared.known_file_systems(), process_slot::most_file_systems);
        EXPECT_EQ(mount_of(shared, "/burst/data"), 1U);
        EXPECT_EQ(mount_of(shared, "/elsewhere/data"), no_mount);
        shared.file_system[2].path_bytes = stray;
        EXPECT_LE(shared.file_system[2].mount().size(), shared_file_system::longest_path);
    }
}

TEST(page, refuses_mounts_that_it_has_no_room_for) {
    EXPECT_FALSE(agent_page::create({}));
    EXPECT_FALSE(agent_page::create({.mounts = {"relative"}}));
    EXPECT_FALSE(agent_page::create({.mounts = std::vector<std::string>(9, "/scratch")}));
    EXPECT_FALSE(agent_page::create({.mounts = {"/" + std::string(512, 'x')}}));
}

}  // namespace
}  // namespace halcyon::coordinate
