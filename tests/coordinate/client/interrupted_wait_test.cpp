// Waits for a turn that a program takes by itself, which end before the turn comes.
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "coordinate/client/program_turns.hpp"

namespace halcyon::tests {
namespace {

using stage = program_turn::stage;

/// Interrupts a wait as soon as that has slept.
constexpr interruption at_once{[](void*) { return 1; }, nullptr};

/// Of a program whose phase has begun while others have the turn.
class interrupted_wait : public program_turn_test {
  protected:
    interrupted_wait() {
        give(permission::waiting);
        program_.begin();
    }
    void expect_nothing_counted() const {
        EXPECT_EQ(program_.part().waiting, 0U);
        EXPECT_EQ(program_.part().under_way, 0U);
        const program_turns::part& own = program_.slot().by_itself.at[0];
        EXPECT_EQ(own.asking, 0U);
        EXPECT_EQ(own.blocked, 0U);
        EXPECT_EQ(own.held, 0U);
    }

    program program_{page_, 1};
};

TEST_F(interrupted_wait, asks_for_no_turn_any_more_until_somebody_waits_again) {
    const auto interrupt_while_agent_sleeps = [](void* bell) {
        static_cast<agent_bell*>(bell)->prepare();
        return 1;
    };
    EXPECT_FALSE(program_.take({interrupt_while_agent_sleeps, &page_.shared().bell}));
    EXPECT_EQ(page_.shared().bell.word, agent_bell::awake) << "it hears of that at once";
    EXPECT_EQ(program_.at(), stage::asking);
    expect_nothing_counted();
    std::thread waits([&] { EXPECT_TRUE(program_.take()); });
    wait_until([&] { return state().waiting == 1 && state().announced == 0; });
    EXPECT_EQ(state().begun, 1U) << "the same phase";
    give(permission::allowed);
    waits.join();
    EXPECT_EQ(program_.at(), stage::holding);
    EXPECT_EQ(state().under_way, 1);
    program_.give_back();
    expect_nothing_counted();
}

TEST_F(interrupted_wait, ends_with_the_phase_when_that_is_given_back) {
    EXPECT_FALSE(program_.take(at_once));
    program_.give_back();
    EXPECT_EQ(program_.at(), stage::idle);
    expect_nothing_counted();
}

TEST_F(interrupted_wait, asks_again_at_the_next_look) {
    EXPECT_FALSE(program_.join(at_once));
    expect_nothing_counted();
    page_.shared().bell.prepare();
    EXPECT_FALSE(program_.try_take());
    EXPECT_EQ(state().announced, 1);
    EXPECT_EQ(page_.shared().bell.word, agent_bell::awake);
    give(permission::allowed);
    EXPECT_TRUE(program_.try_take());
    EXPECT_EQ(state().waiting, 0);
    EXPECT_EQ(state().under_way, 1);
}

TEST_F(interrupted_wait, has_given_way_between_two_accesses) {
    give(permission::allowed);
    program_.take();
    give(permission::stop, 1);
    EXPECT_FALSE(program_.step(at_once));
    EXPECT_EQ(program_.at(), stage::asking);
    expect_nothing_counted();
    give(permission::allowed);
    EXPECT_TRUE(program_.take(at_once)) << "nobody is asked where it is the program's turn";
}

/// Forks in a wait, as a handler of a signal may, and interrupts its own wait when the child has ended.
struct forking_handler {
    pid_t child = -1;
    int ended = -1;

    static int run(void* of) {
        auto& self = *static_cast<forking_handler*>(of);
        self.child = ::fork();
        if (self.child > 0) ::waitpid(self.child, &self.ended, 0);
        return self.child > 0 ? 1 : 0;
    }
};

TEST_F(interrupted_wait, leaves_what_counts_to_the_parent_of_a_child_that_was_forked_off_in_it) {
    forking_handler handler;
    const bool has_it = program_.take({forking_handler::run, &handler});
    if (handler.child == 0) {
        const program_turns::part& own = program_.slot().by_itself.at[0];
        ::_exit(!has_it && own.asking == 1 && own.blocked == 1 && program_.part().waiting == 1 ? 0 : 1);
    }
    EXPECT_EQ(handler.ended, 0);
    EXPECT_FALSE(has_it);
    expect_nothing_counted();
}

}  // namespace
}  // namespace halcyon::tests
