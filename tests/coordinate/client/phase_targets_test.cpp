// Storage targets of the phases that a program announces by itself.
#include <thread>
#include <vector>

#include "coordinate/client/program_turns.hpp"

namespace halcyon::tests {
namespace {

using list = std::vector<uint32_t>;

class program_targets_test : public program_turn_test {
  protected:
    static void begin(program& one, const list& targets) { one.announce(operation::write, {}, targets); }
    [[nodiscard]] node_targets targets() { return state().targets; }
};

TEST_F(program_targets_test, count_from_the_announcement_to_the_end_of_the_phase) {
    give(permission::waiting);
    program one(page_, 1), other(page_, 2);
    begin(one, {3, 5});
    begin(other, {4});
    EXPECT_EQ(targets(), (node_targets{.some = {3, 4, 5}}));
    give(permission::allowed);
    EXPECT_TRUE(one.try_take());
    EXPECT_EQ(targets(), (node_targets{.some = {3, 4, 5}}));
    one.step();
    one.give_back();
    EXPECT_EQ(targets(), (node_targets{.some = {4}}));
    other.give_back();
    EXPECT_EQ(targets(), node_targets{});
}

TEST_F(program_targets_test, are_told_anew_while_the_phase_lasts) {
    give(permission::allowed);
    program one(page_, 1);
    begin(one, {3});
    EXPECT_TRUE(one.try_take());
    page_.shared().bell.prepare();
    one.add_targets(list{3});
    EXPECT_NE(page_.shared().bell.word, agent_bell::awake);
    one.add_targets(list{7});
    EXPECT_EQ(page_.shared().bell.word, agent_bell::awake);
    EXPECT_EQ(targets(), (node_targets{.some = {3, 7}}));
    one.add_targets({});
    EXPECT_EQ(targets(), node_targets{.all = true});
    one.give_back();
    begin(one, {3});
    EXPECT_EQ(targets(), (node_targets{.some = {3}}));
}

/// Where it moves bytes by itself, in calls that the layer sees, nobody knows where these go.
TEST_F(program_targets_test, cover_the_calls_of_a_process_in_its_own_phase_alone) {
    give(permission::allowed);
    called_process process(page_, 1);
    program one(page_, 1);
    begin(one, {3});
    EXPECT_TRUE(one.try_take());
    process.call({});
    EXPECT_EQ(targets(), (node_targets{.some = {3}}));
    process.call({.meanwhile = [&] { EXPECT_EQ(targets(), (node_targets{.some = {3}})); }});
    one.give_back();
    EXPECT_EQ(targets(), node_targets{});
    process.call({.meanwhile = [&] { EXPECT_EQ(targets(), node_targets{.all = true}); }});
    process.call({});
    EXPECT_EQ(targets(), node_targets{.all = true}) << "that has ended by now";
    EXPECT_EQ(targets(), node_targets{});
}

TEST_F(program_targets_test, are_heard_of_before_a_phase_begins_under_a_turn_for_listed_ones) {
    give(permission::allowed);
    page_.tell_targets(0, true, false);
    program one(page_, 1);
    begin(one, {3});
    EXPECT_FALSE(one.try_take());
    EXPECT_EQ(state().under_way, 0);
    std::atomic<bool> has_it{false};
    std::thread waits([&] {
        one.take();
        has_it = true;
    });
    wait_until([&] { return state().waiting == 1 && state().announced == 0; });
    EXPECT_FALSE(has_it);
    page_.tell_targets(0, true, true);
    waits.join();
    EXPECT_EQ(state().under_way, 1);
    EXPECT_EQ(one.steps_unasked(), 0U);
    one.step();
    EXPECT_EQ(one.at(), program_turn::stage::holding);
    one.add_targets(list{4});
    one.step();  // it holds the turn
    EXPECT_EQ(state().under_way, 1);
    one.give_back();
}

TEST_F(program_targets_test, need_not_be_heard_of_where_nobody_gives_turns) {
    page_.tell_targets(0, true, false);
    for (const permission nobody : {permission::closed, permission::unasked}) {
        give(nobody);
        program one(page_, 1);
        begin(one, {3});
        EXPECT_TRUE(one.try_take());
        EXPECT_EQ(one.steps_unasked(), 1U);
        one.give_back();
    }
}

}  // namespace
}  // namespace halcyon::tests
