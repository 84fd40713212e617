#include "offload/client/block_placement.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "client_without_job.hpp"

namespace halcyon::offload {
namespace {

/// One variable for each policy.
class a_full_buffer : public ::testing::Test {
  protected:
    enum variable_number : uint32_t { blocks, skips, spills, stores };

    const variable& v(uint32_t number) const { return c.data.variables[number]; }
    result<block_placement::place> find(uint32_t number) { return placement.find(v(number), 4096); }
    /// Takes all of the arena, in private blocks.
    void fill() {
        while (c.room.take(4096, false)) {
        }
    }

    testing::client_without_job c{
        "halcyon: 1\nsimulation: t\n"
        "data: {layouts: {row: {type: float32, dimensions: [1024]}},\n"
        "       variables: {a: {layout: row}, b: {layout: row, when-full: skip},\n"
        "                   c: {layout: row, when-full: spill}, d: {layout: row, when-full: inline}}}\n"
        "resources: {buffer: {size: 1 MiB}}\n"};
    block_placement placement{c.shared, c.data, 0, c.room, c.channel, c.link, c.loss, c.fallback, c.spill, c.now};
    const std::vector<float> row = std::vector<float>(1024, 3.5F);
};

using kind = block_placement::place::kind;

TEST_F(a_full_buffer, is_not_full_as_long_as_there_is_room) {
    for (const uint32_t number : {blocks, skips, spills, stores}) {
        const auto where = find(number);
        ASSERT_TRUE(where.ok());
        EXPECT_EQ(where->what, kind::segment);
        EXPECT_EQ(c.state_of(where->entry).load(), block_state::private_to_client);
    }
}

TEST_F(a_full_buffer, leaves_it_to_the_policy_of_the_variable) {
    fill();
    EXPECT_EQ(find(skips)->what, kind::skip);
    EXPECT_EQ(find(spills)->what, kind::spill);
    EXPECT_EQ(find(stores)->what, kind::run_inline);
}

TEST_F(a_full_buffer, is_said_when_waiting_would_never_end) {
    fill();
    const auto where = find(blocks);
    ASSERT_FALSE(where.ok());
    EXPECT_EQ(where.why().kind, error_kind::usage);
    EXPECT_NE(where.why().message.find("no room for 'a'"), std::string::npos) << where.why().message;
    EXPECT_EQ(c.page.waiting.load(), 0U) << "it waits no more";
}

TEST_F(a_full_buffer, is_said_of_a_block_that_can_never_fit) {
    const auto where = placement.find(v(blocks), uint64_t{1} << 30);
    ASSERT_FALSE(where.ok());
    EXPECT_NE(where.why().message.find("can never fit"), std::string::npos) << where.why().message;
    EXPECT_EQ(placement.find(v(skips), uint64_t{1} << 30)->what, kind::skip);
}

TEST_F(a_full_buffer, is_no_matter_once_the_last_server_is_lost) {
    c.put(blocks, 1);
    fill();
    c.link.on = false;
    const auto where = find(blocks);
    ASSERT_TRUE(where.ok());
    EXPECT_EQ(where->what, kind::run_inline);
    EXPECT_TRUE(c.loss.has_happened());
    ASSERT_TRUE(placement.store_here(v(blocks), 0, c.shape(blocks), row.data()).ok());
    EXPECT_EQ(c.fallback.added.back(), (testing::noted_fallback::block{0, "a", 3.5F}));
    EXPECT_EQ(placement.counts().inlined_blocks, 0) << "no policy did that";
}

TEST_F(a_full_buffer, is_said_by_a_server_that_gave_the_client_up) {
    c.put(blocks, 1);
    fill();
    c.page.dead.store(1);
    const auto where = find(blocks);
    ASSERT_FALSE(where.ok());
    EXPECT_EQ(where.why().kind, error_kind::unavailable);
}

TEST_F(a_full_buffer, tells_the_server_and_its_successors_of_a_block_that_is_skipped) {
    ASSERT_TRUE(placement.skip(v(skips), 0, c.shape(skips)).ok());
    const auto events = c.events();
    ASSERT_EQ(events.size(), 1U);
    EXPECT_EQ(events[0].kind, event_kind::block_skipped);
    EXPECT_EQ(events[0].index, skips);
    int absences = 0;
    c.shared.absences(0).for_each(c.shared.geometry().absence_slots, [&](const absence& a) {
        ++absences;
        EXPECT_EQ(a.variable, skips);
    });
    EXPECT_EQ(absences, 1);
    EXPECT_EQ(placement.counts().skipped_bytes, 4096);
    EXPECT_EQ(c.page.skipped_blocks.load(), 1U);
}

TEST_F(a_full_buffer, goes_on_in_the_spill_file) {
    for (int i = 0; i < 2; ++i) ASSERT_TRUE(placement.spill(v(spills), 0, c.shape(spills), row.data()).ok());
    const auto events = c.events();
    ASSERT_EQ(events.size(), 2U);
    const block_entry& second = c.shared.table(0)[events[1].index];
    EXPECT_EQ(second.state.load(), block_state::servers);
    EXPECT_EQ(second.in_spill, 1U);
    std::vector<float> back(1024);
    ASSERT_TRUE(c.spill.read(second.location, back.data(), 4096).ok());
    EXPECT_EQ(back, row);
    EXPECT_NE(second.location, c.shared.table(0)[events[0].index].location);
    EXPECT_EQ(c.link.spill_files_shared, 1) << "once";
    EXPECT_EQ(c.page.spilled_blocks.load(), 2U);
}

TEST_F(a_full_buffer, has_the_client_store_by_itself) {
    ASSERT_TRUE(placement.store_here(v(stores), 0, c.shape(stores), row.data()).ok());
    EXPECT_EQ(c.fallback.at_once, (std::vector{testing::noted_fallback::block{0, "d", 3.5F}}));
    EXPECT_EQ(placement.counts().inlined_blocks, 1);
    EXPECT_EQ(c.page.inlined_bytes.load(), 4096U);
}

}  // namespace
}  // namespace halcyon::offload
