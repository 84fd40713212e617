#include "offload/server/client_roster.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/node_identity.hpp"

namespace halcyon::offload {
namespace {

using clients = std::vector<uint32_t>;

/// Three clients; all are this process until a test says otherwise.
class the_roster : public ::testing::Test {
  protected:
    the_roster() {
        for (uint32_t c = 0; c < 3; ++c) is_process(c, ::getpid());
    }
    void is_process(uint32_t client, pid_t pid) const {
        shared.page(client).pid_namespace.store(pid_namespace());
        shared.page(client).pid.store(pid);
    }
    static pid_t process_that_ended() {
        const pid_t child = ::fork();
        if (child == 0) ::_exit(0);
        ::waitpid(child, nullptr, 0);
        return child;
    }
    static segment segment_of_three() {
        const model m = parse_model(
                            "halcyon: 1\nsimulation: t\n"
                            "data: {layouts: {row: {type: float32, dimensions: [4]}}, variables: {a: {layout: row}}}\n",
                            "t.yaml", {})
                            .value();
        return segment::create(plan_segment(m, 3, need_of(m, 0, 3).value()).value(), false).value();
    }

    const segment shared = segment_of_three();
};

TEST_F(the_roster, lets_each_client_leave_once) {
    client_roster roster(shared, 1);
    EXPECT_TRUE(roster.leave(1));
    EXPECT_FALSE(roster.leave(1));
    EXPECT_TRUE(roster.is_gone(1));
    EXPECT_FALSE(roster.are_all_gone());
    roster.leave(0);
    roster.leave(2);
    EXPECT_TRUE(roster.are_all_gone());
}

TEST_F(the_roster, finds_a_client_that_died_while_there_was_no_server) {
    client_roster roster(shared, 2);
    roster.await_again();
    EXPECT_EQ(roster.take_lost(), clients{}) << "they live, and may come";
    is_process(1, process_that_ended());
    EXPECT_EQ(roster.take_lost(), clients{1});
    EXPECT_TRUE(roster.is_silent(1));
    EXPECT_EQ(roster.take_lost(), clients{}) << "once";
    is_process(2, process_that_ended());
    roster.joined(2);
    EXPECT_EQ(roster.take_lost(), clients{}) << "its connection says when it ends";
}

TEST_F(the_roster, does_not_await_those_that_a_predecessor_saw_die) {
    shared.page(0).dead.store(1);
    client_roster roster(shared, 2);
    roster.await_again();
    is_process(0, process_that_ended());
    EXPECT_EQ(roster.take_lost(), clients{});
    EXPECT_TRUE(roster.is_silent(0));
    EXPECT_FALSE(roster.is_silent(1));
}

TEST_F(the_roster, waits_for_the_clients_of_the_first_server_until_all_that_joined_are_gone) {
    client_roster roster(shared, 1);
    roster.joined(0);
    roster.joined(1);
    shared.page(2).closed.store(1);  // its session could not be opened
    EXPECT_EQ(roster.take_lost(), clients{});
    roster.leave(0);
    EXPECT_EQ(roster.take_lost(), clients{}) << "client 1 is there";
    roster.leave(1);
    EXPECT_EQ(roster.take_lost(), clients{2});
}

TEST_F(the_roster, knows_whether_a_client_that_is_there_waits) {
    client_roster roster(shared, 1);
    EXPECT_FALSE(roster.somebody_waits());
    shared.page(2).waiting.store(1);
    EXPECT_TRUE(roster.somebody_waits());
    roster.leave(2);
    EXPECT_FALSE(roster.somebody_waits());
}

}  // namespace
}  // namespace halcyon::offload
