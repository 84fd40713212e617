// Turns that a program takes by itself, between the announcement of a phase and its end.
#include <thread>

#include "coordinate/client/program_turns.hpp"

namespace halcyon::tests {
namespace {

using stage = program_turn::stage;

TEST_F(program_turn_test, shows_the_agent_that_it_asks_and_that_it_holds) {
    give(permission::waiting);
    program one(page_, 1);
    one.begin();
    EXPECT_EQ(state().waiting, 1);
    EXPECT_EQ(state().begun, 1U);
    EXPECT_FALSE(one.try_take());
    EXPECT_EQ(state().under_way, 0);
    give(permission::allowed);
    EXPECT_TRUE(one.try_take());
    EXPECT_EQ(one.at(), stage::holding);
    EXPECT_EQ(state().waiting, 0);
    EXPECT_EQ(state().under_way, 1);
    one.give_back();
    EXPECT_EQ(state().under_way, 0);
    EXPECT_EQ(one.at(), stage::idle);
}

TEST_F(program_turn_test, waits_until_it_is_its_turn) {
    give(permission::waiting);
    program one(page_, 1);
    one.begin();
    std::atomic<bool> has_it{false};
    std::thread waits([&] {
        one.take();
        has_it = true;
    });
    wait_until([&] { return state().waiting == 1; });
    EXPECT_FALSE(has_it);
    give(permission::allowed);
    waits.join();
    EXPECT_TRUE(has_it);
    EXPECT_GT(one.waited_ns(), 0);
    EXPECT_EQ(one.part().unasked, 0);
}

TEST_F(program_turn_test, shows_the_agent_whether_it_waits_or_has_only_announced_its_phase) {
    give(permission::waiting);
    program one(page_, 1);
    one.begin();
    EXPECT_FALSE(one.try_take());
    EXPECT_EQ(state().announced, 1);
    page_.shared().bell.prepare();
    std::thread waits([&] { one.take(); });
    wait_until([&] { return state().announced == 0; });
    EXPECT_EQ(state().waiting, 1);
    wait_until([&] { return page_.shared().bell.word == agent_bell::awake; });
    give(permission::allowed);
    waits.join();
    EXPECT_EQ(state().waiting, 0);
    give(permission::stop, 1);
    std::thread steps([&] { one.step(); });
    wait_until([&] { return state().waiting == 1 && state().announced == 0; });
    give(permission::allowed);
    steps.join();
    one.give_back();
    give(permission::waiting);
    one.begin();
    EXPECT_EQ(state().announced, 1) << "it waited for another one before";
    one.give_back();
    EXPECT_EQ(state().announced, 0);
}

TEST_F(program_turn_test, does_not_begin_under_a_standing_turn_before_the_agent_has_told_of_the_phase) {
    give(permission::standing);
    program one(page_, 1);
    one.begin();
    EXPECT_FALSE(one.try_take());
    EXPECT_EQ(state().waiting, 1);
    give(permission::allowed);
    EXPECT_TRUE(one.try_take());
}

TEST_F(program_turn_test, asks_no_more_when_it_gives_back_what_it_has_not_got) {
    give(permission::waiting);
    program one(page_, 1);
    one.begin();
    one.give_back();
    EXPECT_EQ(state().waiting, 0);
    EXPECT_EQ(one.at(), stage::idle);
}

TEST_F(program_turn_test, rings_the_agent_when_a_phase_begins_and_when_it_ends) {
    give(permission::allowed);
    program one(page_, 1);
    page_.shared().bell.prepare();
    one.begin();
    EXPECT_EQ(page_.shared().bell.word, agent_bell::awake);
    one.take();
    page_.shared().bell.prepare();
    one.give_back();
    EXPECT_EQ(page_.shared().bell.word, agent_bell::awake);
}

TEST_F(program_turn_test, goes_on_between_accesses_while_nobody_else_is_to_have_it) {
    give(permission::allowed);
    program one(page_, 1);
    one.begin();
    one.take();
    EXPECT_TRUE(one.is_kept());
    one.step();
    EXPECT_EQ(state().under_way, 1);
    EXPECT_EQ(state().begun, 1U);
}

TEST_F(program_turn_test, gives_way_between_two_accesses_and_takes_the_turn_again) {
    give(permission::allowed);
    program one(page_, 1);
    one.begin();
    one.take();
    give(permission::stop, 1);
    EXPECT_FALSE(one.is_kept());
    EXPECT_EQ(state().under_way, 1);  // until it comes to where it can stop
    std::thread steps([&] { one.step(); });
    wait_until([&] { return state().waiting == 1 && state().under_way == 0; });
    give(permission::waiting);
    give(permission::allowed);
    steps.join();
    EXPECT_EQ(one.at(), stage::holding);
    EXPECT_EQ(state().under_way, 1);
    EXPECT_EQ(state().begun, 1U);  // the same phase
}

TEST_F(program_turn_test, goes_on_unasked_when_the_agent_is_silent) {
    give(permission::waiting);
    program one(page_, 1);
    one.begin();
    beat(-2 * page_.shared().patience_ns);
    one.take();
    EXPECT_EQ(one.at(), stage::holding);
    EXPECT_EQ(one.steps_unasked(), 1U);
    EXPECT_EQ(one.part().let_silent, 1U);
    EXPECT_EQ(state().under_way, 0);
}

TEST_F(program_turn_test, asks_again_between_accesses_when_turns_are_given_again) {
    program one(page_, 1);  // nobody gives turns yet
    one.begin();
    one.take();
    EXPECT_EQ(state().under_way, 0);
    one.step();
    EXPECT_EQ(one.steps_unasked(), 1U);
    give(permission::allowed);
    one.step();
    EXPECT_EQ(state().under_way, 1);
}

class starving_program : public layer_test {
  protected:
    starving_program() : layer_test({.mounts = {"/scratch", "/burst"}, .starvation_s = 0.02, .pause_s = 3600}) {}
};

TEST_F(starving_program, goes_on_out_of_turn_for_the_rest_of_its_phase) {
    page_.publish(0, permission::waiting, 0, {});
    program one(page_, 1);
    one.begin();
    one.take();
    EXPECT_EQ(one.steps_starving(), 1U);
    EXPECT_EQ(one.part().let_starving, 1U);
    EXPECT_EQ(state().under_way, 0);
    EXPECT_TRUE(one.is_kept());
    one.step();
    EXPECT_EQ(one.steps_starving(), 1U);
}

TEST_F(program_turn_test, joins_a_turn_that_is_being_called_back) {
    for (const permission state_of_turn : {permission::hold, permission::stop, permission::allowed}) {
        give(state_of_turn, 1);
        program one(page_, 1);
        one.begin();
        one.join();
        EXPECT_EQ(state().under_way, 1);  // the agent waits for its end
        one.give_back();
    }
}

class impatient_program : public layer_test {
  protected:
    impatient_program() : layer_test({.mounts = {"/scratch", "/burst"}, .patience_s = 0.02, .starvation_s = 3600}) {}
};

TEST_F(impatient_program, joins_out_of_turn_when_the_agent_never_hears_of_the_turn) {
    page_.publish(0, permission::waiting, 0, {});
    program one(page_, 1);
    one.begin();
    one.join();
    EXPECT_EQ(one.at(), stage::holding);
    EXPECT_EQ(one.part().let_others, 1U);
    EXPECT_EQ(state().under_way, 0);
}

TEST_F(program_turn_test, of_another_part_of_the_program_is_its_own) {
    give(permission::allowed);
    program application(page_, 1), library(page_, 1);
    application.begin();
    application.take();
    give(permission::stop, 1);
    library.begin();
    library.take();  // it would wait for ever
    EXPECT_EQ(state().under_way, 2);
    library.give_back();
    EXPECT_EQ(library.slot().by_itself.at[0].held, 1U);
    application.give_back();
    EXPECT_EQ(state().under_way, 0);
    EXPECT_EQ(library.slot().by_itself.at[0].held, 0U);
}

TEST_F(program_turn_test, goes_on_while_somebody_of_the_job_holds_a_lock) {
    give(permission::waiting);
    program one(page_, 1), other(page_, 2);
    other.slot().locks = 1;
    one.begin();
    one.take();
    EXPECT_EQ(one.part().let_locks, 1U);
}

TEST_F(program_turn_test, lets_the_calls_of_its_process_pass_and_no_others) {
    give(permission::allowed);
    called_process layer(page_, 1);
    program one(page_, 1);
    one.begin();
    one.take();
    for (const permission taken_back : {permission::hold, permission::stop}) {
        give(taken_back, 1);
        EXPECT_EQ(layer.call({}), 0);
    }
    EXPECT_EQ(layer.part().moved, 8192);
    give(permission::waiting);  // the lease was taken away
    EXPECT_EQ(layer.call({}), 0);
    EXPECT_EQ(layer.part().unasked, 4096);
    one.give_back();
    std::thread caller([&] { layer.call({}); });
    await_waiting(1);
    give(permission::allowed);
    caller.join();
    EXPECT_EQ(layer.part().moved, 3 * 4096);
}

TEST_F(program_turn_test, tells_what_is_to_come) {
    give(permission::waiting);
    program one(page_, 1);
    phase_forecast coming;
    coming.bytes_left = 1000;
    coming.left_ns = 2'000'000'000;
    one.announce(operation::read, coming);
    EXPECT_EQ(state().bytes_left, 1000);
    EXPECT_DOUBLE_EQ(state().left_s, 2);
    EXPECT_EQ(state().operation, operation::read);
    EXPECT_EQ(one.slot().by_itself.at[0].forecasts, 1U);
    one.tell({});
    EXPECT_EQ(state().bytes_left, 0);
    EXPECT_EQ(one.slot().by_itself.at[0].forecasts, 0U);
}

TEST_F(program_turn_test, leaves_the_forecasts_of_the_layer_alone_where_it_knows_nothing) {
    program one(page_, 1);
    phase_forecast of_layer;
    of_layer.told_ns = monotonic_ns() + 1'000'000'000;  // not before the phase
    of_layer.bytes_left = 1000;
    of_layer.write_to(one.part().forecast);
    one.begin();
    one.tell({});
    one.give_back();
    EXPECT_EQ(state().bytes_left, 1000);
}

TEST_F(program_turn_test, of_a_dead_process_is_free_again) {
    give(permission::allowed);
    program one(page_, process_slot::owner_of(1 << 22, 1));  // a number that no process has
    one.begin();
    one.take();
    EXPECT_EQ(page_.free_dead(), 1U);
    EXPECT_EQ(state().under_way, 0);
    EXPECT_EQ(one.slot().by_itself.at[0].held, 0U);
}

TEST_F(program_turn_test, of_the_program_before_is_forgotten_when_a_layer_starts) {
    give(permission::allowed);
    program before(page_, 1);
    before.begin();
    before.take();
    before.slot().by_itself.at[0].blocked = 1;  // by another thread
    called_process after(page_, 1);
    EXPECT_EQ(state().under_way, 0);
    EXPECT_EQ(before.slot().by_itself.at[0].held, 0U);
    EXPECT_EQ(before.slot().by_itself.at[0].blocked, 0U);
}

}  // namespace
}  // namespace halcyon::tests
