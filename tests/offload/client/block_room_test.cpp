#include "offload/client/block_room.hpp"

#include <gtest/gtest.h>

#include "client_without_job.hpp"

namespace halcyon::offload {
namespace {

/// Variable 0 varies, variable 1 does not.
class the_room : public ::testing::Test {
  protected:
    enum variable_number : uint32_t { varies, stays };

    uint32_t put(uint32_t variable) { return c.put(variable, 1); }
    /// Takes all that is left of the arena, in private blocks.
    void fill() {
        while (c.room.take(4096, false)) {
        }
    }

    testing::client_without_job c{
        "halcyon: 1\nsimulation: t\n"
        "data: {layouts: {row: {type: float32, dimensions: [1024]}},\n"
        "       variables: {a: {layout: row}, b: {layout: row, time-varying: false}}}\n"
        "resources: {buffer: {size: 1 MiB}}\n"};
    const uint64_t all = c.room.arena_free();
};

TEST_F(the_room, comes_back_with_a_block_that_the_server_released) {
    const uint32_t entry = put(varies);
    EXPECT_EQ(c.room.arena_free(), all - 4096);
    c.room.take_back_released();
    EXPECT_EQ(c.room.arena_free(), all - 4096) << "the server has not let go of it";
    c.give_back(entry);
    c.room.take_back_released();
    EXPECT_EQ(c.room.arena_free(), all);
}

TEST_F(the_room, of_a_block_in_an_early_part_comes_back_without_its_entry) {
    const uint32_t entry = put(varies);
    c.give_back(entry, block_state::stored_early);
    c.room.take_back_released();
    EXPECT_EQ(c.room.arena_free(), all);
    EXPECT_NE(put(varies), entry) << "the entry says that the block is stored";
    c.give_back(entry);
    c.room.take_back_released();
    EXPECT_EQ(put(varies), entry);
}

TEST_F(the_room, is_found_when_a_server_died_before_it_said_that_it_let_go) {
    const uint32_t entry = put(varies);
    c.state_of(entry).store(block_state::free);
    c.room.take_back_released();
    EXPECT_EQ(c.room.arena_free(), all - 4096) << "nothing says so yet";
    ASSERT_TRUE(c.shared.header().tenure.change(tenure{}, tenure{2, 1, tenure::phase::serving}));
    c.room.take_back_released();
    EXPECT_EQ(c.room.arena_free(), all);
    c.give_back(entry);
    c.room.take_back_released();
    EXPECT_EQ(c.room.arena_free(), all) << "once";
}

TEST_F(the_room, is_refused_when_bytes_or_entries_are_used_up) {
    const uint64_t large = 1U << 16;
    while (c.room.take(large, false)) {
    }
    EXPECT_LT(c.room.arena_free(), large);
    EXPECT_TRUE(c.room.has_entry());
    while (c.room.take(0, false)) {
    }
    EXPECT_FALSE(c.room.has_entry());
    EXPECT_EQ(c.room.take(0, false), std::nullopt);
}

TEST_F(the_room, will_not_come_of_blocks_that_are_the_clients_own_or_outlive_iterations) {
    put(stays);
    fill();
    EXPECT_FALSE(c.room.is_more_to_come(0));
}

TEST_F(the_room, will_come_of_a_block_that_the_server_has) {
    put(varies);
    fill();
    EXPECT_TRUE(c.room.is_more_to_come(0));
}

TEST_F(the_room, will_come_of_an_early_part_once_its_iteration_is_over) {
    const uint32_t entry = put(varies);
    fill();
    c.state_of(entry).store(block_state::stored_early);
    EXPECT_FALSE(c.room.is_more_to_come(0));
    EXPECT_TRUE(c.room.is_more_to_come(1));
}

TEST_F(the_room, numbers_each_use_of_an_entry) {
    const uint32_t entry = put(varies);
    const event_record first = c.room.event_of(event_kind::block_handed, entry);
    c.give_back(entry);
    ASSERT_EQ(put(varies), entry);
    const event_record second = c.room.event_of(event_kind::block_handed, entry);
    EXPECT_EQ(second.index, first.index);
    EXPECT_GT(second.sequence, first.sequence);
}

}  // namespace
}  // namespace halcyon::offload
