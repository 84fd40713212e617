// Accounts that coordinators.yaml names, with their weights, and those that it does not.
#include "coordinate/conversation.hpp"

namespace halcyon::coordinate {
namespace {

void join_with_account(conversation& c, const std::string& who, uint32_t user, const std::string& account) {
    c.connect(who, user);
    registration what = conversation::registration_of(who);
    what.account = account;
    c.say(who, what);
}

/// A needs 4 s and has the turn, B comes and needs 5 s: in order that is 4 + 9, the other way round 5 + 9.
conversation short_one_and_long_one(const std::string& account_of_long_one) {
    settings how = conversation::quick(policy::rule::dynamic);
    how.metric = policy::metric::sum_of_times;
    how.account_weights = {{"dear", 2.0}};
    conversation c(how);
    join_with_account(c, "A", 1000, "");
    join_with_account(c, "B", 1001, account_of_long_one);
    c.say("A", stopped{c.lease["A"]});
    c.say("A", phase_of(1, 4));
    c.say("B", phase_of(1, 5));
    return c;
}

TEST(accounts, count_as_much_as_their_weight_says) {
    conversation c = short_one_and_long_one("dear");
    EXPECT_EQ(c.of("A").turn, turn_stage::recalled) << "2 * 5 + 9 is less than 4 + 2 * 9";
}

TEST(accounts, that_are_not_named_count_once) {
    conversation c = short_one_and_long_one("cheap");
    EXPECT_TRUE(c.has_turn("A"));
}

/// A has had a slice, B and C wait in this order. Returns who has the turn then.
std::string served_behind_a(const std::string& account_of_a_and_b) {
    settings how = conversation::quick(policy::rule::fair_share);
    how.account_weights = {{"shared", 1.0}};
    conversation c(how);
    join_with_account(c, "A", 1000, account_of_a_and_b);
    join_with_account(c, "B", 1001, account_of_a_and_b);
    join_with_account(c, "C", 1002, "");
    c.say("A", stopped{c.lease["A"]});
    for (const char* who : {"A", "B", "C"}) {
        c.say(who, phase_of(1, 10));
        c.now_s += 0.001;
    }
    EXPECT_TRUE(c.has_turn("A"));
    c.pass(how.bounds.slice_s + 0.1, {"A", "B", "C"}, 1'000'000'000);
    EXPECT_EQ(c.of("A").turn, turn_stage::recalled);
    c.say("A", stopping{c.lease["A"], 1});
    c.say("A", stopped{c.lease["A"]});
    for (const char* who : {"B", "C"})
        if (c.has_turn(who)) return who;
    return "nobody";
}

TEST(accounts, are_one_for_all_users_where_they_are_named) {
    EXPECT_EQ(served_behind_a("shared"), "C") << "B's account has had what A had";
}

TEST(accounts, that_are_not_named_are_one_for_each_user) {
    EXPECT_EQ(served_behind_a("invented"), "B");
}

}  // namespace
}  // namespace halcyon::coordinate
