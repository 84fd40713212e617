#include "offload/client/server_loss.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "client_without_job.hpp"

namespace halcyon::offload {
namespace {

using block = testing::noted_fallback::block;

/// Two clients; the test is client 0.
class a_lost_server : public ::testing::Test {
  protected:
    /// The client ends its iteration, and the event lies in the ring.
    void end_iteration() {
        event_record e{};
        e.kind = event_kind::end_iteration;
        e.iteration = c.now.number();
        ASSERT_TRUE(c.channel.push(e).ok());
        c.page.ended_through.store(c.now.number());
        c.now.end();
    }
    void raise_signal() {
        event_record e{};
        e.kind = event_kind::signal;
        ASSERT_TRUE(c.channel.push(e).ok());
    }
    /// The server takes what lies in the ring.
    void take_events() {
        for (const event_record& e : c.events()) {
            if (e.kind == event_kind::end_iteration) c.page.iterations_taken.fetch_add(1);
            if (e.kind == event_kind::signal) c.page.signals_taken.fetch_add(1);
        }
    }
    void lose_server() {
        c.link.on = false;
        EXPECT_TRUE(c.loss.notice(c.channel.signals_sent()));
    }

    testing::client_without_job c{
        "halcyon: 1\nsimulation: t\n"
        "data: {layouts: {row: {type: float32, dimensions: [1024]}}, variables: {a: {layout: row}}}\n"
        "resources: {buffer: {size: 1 MiB}}\n"};
};

TEST_F(a_lost_server, is_noticed_once_it_is_gone_for_good) {
    EXPECT_FALSE(c.loss.notice(0));
    EXPECT_FALSE(c.loss.has_happened());
    lose_server();
    EXPECT_TRUE(c.loss.has_happened());
    EXPECT_TRUE(c.loss.notice(0));
    EXPECT_EQ(c.fallback.settled, 1) << "once";
    EXPECT_TRUE(c.loss.outcome().ok());
}

TEST_F(a_lost_server, leaves_the_blocks_that_it_has_not_stored_to_the_client) {
    c.put(0, 0.5F);
    end_iteration();
    c.shared.header().ledger.write({0, {}});  // the server stored iteration 0
    c.put(0, 1.5F);
    end_iteration();
    c.put(0, 2.5F);
    lose_server();
    EXPECT_EQ(c.fallback.added, (std::vector<block>{{1, "a", 1.5F}, {2, "a", 2.5F}}));
    EXPECT_EQ(c.fallback.ended, std::vector<int64_t>{1}) << "iteration 2 is open";
}

TEST_F(a_lost_server, leaves_the_absences_of_iterations_that_it_has_not_stored) {
    for (int i = 0; i < 2; ++i) {
        ASSERT_TRUE(
            c.channel.push_absence(event_kind::block_skipped, c.data.variables[0], 0, absence::cause::skipped).ok());
        end_iteration();
    }
    c.shared.header().ledger.write({0, {}});
    lose_server();
    EXPECT_EQ(c.fallback.missing, (std::vector<std::pair<int64_t, std::string>>{{1, "a"}}));
}

TEST_F(a_lost_server, takes_signals_with_it_and_phases_that_it_had_taken) {
    raise_signal();
    end_iteration();
    take_events();
    raise_signal();
    raise_signal();
    end_iteration();
    lose_server();
    EXPECT_EQ(c.fallback.phases, std::vector<int64_t>{1}) << "the server had taken iteration 0";
    EXPECT_EQ(c.fallback.lost_signals, 2);
    EXPECT_EQ(c.fallback.lost_phases, 0);
}

TEST_F(a_lost_server, is_put_in_order_by_one_client) {
    c.shared.header().settled.store(1);  // by client 1
    lose_server();
    EXPECT_EQ(c.fallback.settled, 0);
}

TEST_F(a_lost_server, leaves_the_blocks_of_a_client_that_detached_itself_to_the_others) {
    block_room of_other(c.shared, c.data, 1);
    const uint32_t entry = of_other.take(4096, false).value();
    const float value = 7.5F;
    std::memcpy(of_other.bytes_of(entry), &value, sizeof value);
    of_other.describe(entry, c.data.variables[0], 0, 0, c.shape(0));
    of_other.hand_over(entry);
    c.shared.page(1).pid.store(1);  // lives
    c.shared.page(1).ended_through.store(0);
    lose_server();
    EXPECT_TRUE(c.fallback.of_others.empty()) << "it looks after its blocks";
    c.shared.page(1).detached.store(1);
    c.loss.store_for_the_dead();
    EXPECT_EQ(c.fallback.of_others, (std::vector<block>{{0, "a", 7.5F}}));
    EXPECT_EQ(c.fallback.lost_phases, 1) << "no server took it";
    c.loss.store_for_the_dead();
    EXPECT_EQ(c.fallback.of_others.size(), 1U) << "once";
}

TEST_F(a_lost_server, is_left_to_others_by_a_client_for_whom_one_has_cared) {
    c.put(0, 0.5F);
    c.page.cared_for.store(1);
    EXPECT_FALSE(c.loss.notice_detached(0));
    EXPECT_TRUE(c.loss.has_happened());
    EXPECT_TRUE(c.fallback.added.empty());
}

TEST_F(a_lost_server, is_none_where_there_never_was_one) {
    server_loss alone(c.data, {0, 1, 0}, nullptr, nullptr, c.fallback, c.spill, c.now);
    EXPECT_TRUE(alone.notice(0));
    alone.store_for_the_dead();
    EXPECT_EQ(c.fallback.settled, 0);
}

}  // namespace
}  // namespace halcyon::offload
