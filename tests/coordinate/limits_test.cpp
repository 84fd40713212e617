// What one user may send, and what is refused.
#include "coordinate/conversation.hpp"
#include "coordinate/coordinator/refusals.hpp"

namespace halcyon::coordinate {
namespace {

TEST(limits, garbage_is_counted_and_harms_nobody_else) {
    conversation c = holder_and_waiter();
    c.connect("liar", 1002);
    for (int i = 0; i < 10000; ++i)
        c.say_line("liar", i % 3 == 0 ? "\xff{[" : i % 3 == 1 ? R"({"type":"x"})" : R"({"type":"inform"})");
    EXPECT_EQ(c.told.counted().refused_not_json, 3334U);
    EXPECT_EQ(c.told.counted().refused_unknown_type, 3333U);
    EXPECT_EQ(c.told.counted().refused_wrong_field, 3333U);
    c.say("A", release{1});
    EXPECT_TRUE(c.has_turn("B"));
    c.look();
    c.say_line("liar", R"({"type":"release"})");
    EXPECT_EQ(c.look(),
              (std::vector<std::string>{
                  "liar <- error: release.phase: missing; expected a whole number from 1 to 18446744073709551615"}));
}

TEST(limits, a_user_who_sends_too_many_messages_is_closed) {
    settings how = conversation::quick(policy::rule::fcfs);
    how.per_user.messages_at_once = 1000;
    how.per_user.messages_per_s = 100;
    conversation c = holder_and_waiter(how);
    c.connect("flood", 1002);
    for (int i = 0; i < 1000; ++i) c.say("flood", heartbeat{});
    c.look();
    c.say("flood", heartbeat{});
    EXPECT_EQ(c.look(),
              (std::vector<std::string>{
                  "flood -> heartbeat",
                  "flood <- refused: too many messages: user 1002 may send 100 a second; come back later, or ask the "
                  "administrator to raise limits.messages-per-second",
                  "flood closed"}));
    c.connect("flood", 1002);  // a new connection is no new allowance
    c.say("flood", heartbeat{});
    EXPECT_EQ(c.told.counted().refused_rate, 2U);
    c.say("A", release{1});
    EXPECT_TRUE(c.has_turn("B"));
}

TEST(limits, of_a_hundred_thousand_registrations_of_one_user_only_so_many_are_accepted) {
    settings how = conversation::quick(policy::rule::fcfs);
    how.per_user.messages_at_once = 1e9;
    coordinator told(how, 1, 0);
    const auto join = [&](connection_id id, uint32_t user, const std::string& job) {
        told.connected(id, user, false, 0);
        told.received(id, conversation::registration_of(job), 0);
    };
    join(1, 1000, "A");
    uint64_t refusals = 0;
    for (connection_id id = 2; id < 100'002; ++id) {
        join(id, 1001, "job " + std::to_string(id));
        told.received(id, phase_of(1), 0);
        if (id % 1000 != 0) continue;
        for (const effects::outgoing& one : told.advance(0).messages)
            refusals += std::holds_alternative<refused>(one.message) ? 1 : 0;
    }
    for (const effects::outgoing& one : told.advance(0).messages)
        refusals += std::holds_alternative<refused>(one.message) ? 1 : 0;
    EXPECT_EQ(told.counted().registrations, 1025U);
    EXPECT_EQ(told.counted().refused_registrations, 100'000U - 1024);
    EXPECT_EQ(refusals, 100'000U - 1024);
    EXPECT_EQ(told.state().connections, 1025U);
    EXPECT_EQ(
        refusals::too_many_applications(1001, how),
        "too many applications: user 1001 may have 1024 registered, all users together 65536; end a job, or ask the "
        "administrator to raise limits.applications or limits.all-applications");
    join(200'000, 1002, "B");
    EXPECT_EQ(told.counted().registrations, 1026U);
}

TEST(limits, connections_of_a_user_are_limited) {
    settings how = conversation::quick(policy::rule::fcfs);
    how.per_user.connections = 2;
    conversation c(how);
    c.connect("a", 1000);
    c.connect("b", 1000);
    c.connect("c", 1000);
    c.settle();
    EXPECT_EQ(c.look(),
              (std::vector<std::string>{"c <- refused: too many connections: user 1000 has 2, as many as one user "
                                        "may; end a job, or ask the administrator to raise limits.connections",
                                        "c closed"}));
    c.break_off("a");
    c.connect("d", 1000);
    c.settle();
    EXPECT_EQ(c.told.counted().refused_connections, 1U);
}

TEST(limits, messages_before_registering_are_answered_with_an_error) {
    conversation c(conversation::quick(policy::rule::fcfs));
    c.connect("A");
    c.say("A", phase_of(1));
    EXPECT_EQ(c.look(), (std::vector<std::string>{
                            "A -> inform phase 1",
                            "A <- error: 'inform' of an agent that is not registered: send 'register' first"}));
    c.say("A", top{});
    EXPECT_EQ(c.told.counted().refused_operators, 1U);
    EXPECT_EQ(
        c.look()[1],
        "A <- refused: user 1000 is no administrator: ask as root or as the daemon's user, or have the user named "
        "under 'administrators' of coordinators.yaml");
}

TEST(limits, who_only_claims_to_be_root_is_told_where_root_may_ask) {
    conversation c(conversation::quick(policy::rule::fcfs));
    c.connect("A", 0);  // whoever is root for sure is an administrator
    c.say("A", top{});
    EXPECT_EQ(
        c.look()[1],
        "A <- refused: claims over an insecure address never make an administrator: let 'listen' of coordinators.yaml "
        "name a Unix socket beside the address, such as [\"tcp:…\", \"unix:…\"], and ask there as root");
}

TEST(limits, another_version_is_refused) {
    conversation c(conversation::quick(policy::rule::fcfs));
    c.connect("A");
    registration later = conversation::registration_of("A");
    later.version = 2;
    c.say("A", later);
    EXPECT_EQ(c.look()[1], "A <- refused: version 2 of the protocol; this coordinator speaks version 1");
}

}  // namespace
}  // namespace halcyon::coordinate
