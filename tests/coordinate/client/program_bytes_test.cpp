// What counts as moved in the turns that a program takes by itself.
#include <csignal>
#include <fstream>
#include <optional>
#include <string>

#include "coordinate/client/program_turns.hpp"
#include "coordinate/stepped_process.hpp"

namespace halcyon::tests {
namespace {

class program_that_wakes_often : public layer_test {
  protected:
    program_that_wakes_often() : layer_test({.mounts = {"/scratch", "/burst"}, .patience_s = 0.008}) {}
};

int64_t sleeps_of(pid_t pid) {
    std::ifstream in("/proc/" + std::to_string(pid) + "/status");
    for (std::string line; std::getline(in, line);)
        if (line.starts_with("voluntary_ctxt_switches:")) return std::stoll(line.substr(line.find(':') + 1));
    return 0;
}

// The coordinator would never take a turn from a program that waits for another one which has that.
TEST_F(program_that_wakes_often, does_not_seem_to_move_under_a_turn_while_it_waits_for_another_one) {
    page_.publish(0, permission::allowed, 0, mib);
    page_.publish(1, permission::waiting, 0, {});
    const pid_t pid = ::fork();
    if (pid == 0) {
        program holds(page_, this_process()), waits(page_, this_process(), 1);
        holds.begin();
        holds.take();
        waits.begin();
        waits.take();
        ::_exit(0);
    }
    wait_until([&] { return page_.observe(1, 0, 1).waiting == 1 && state().under_way == 1; });
    int64_t now_ns = monotonic_ns();
    const auto moved = [&] { return page_.observe(0, 0, now_ns += 1'000'000'000).moved; };
    wait_until([&, before = sleeps_of(pid)] { return sleeps_of(pid) > before + 2; });
    const int64_t before = moved();
    wait_until([&, slept = sleeps_of(pid)] { return sleeps_of(pid) > slept + 10; });
    EXPECT_EQ(moved(), before);
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
}

TEST_F(program_turn_test, counts_what_the_system_says_while_it_is_held_and_in_the_end) {
    give(permission::allowed);
    program one(page_, this_process());
    move(mib);
    one.begin();
    one.take();
    move(2 * mib);
    const node_state meanwhile = page_.observe(0, 0, monotonic_ns());
    EXPECT_GE(meanwhile.moved, 2 * mib);
    EXPECT_LT(meanwhile.moved, 3 * mib);
    one.give_back();
    move(mib);
    EXPECT_GE(state().moved, 2 * mib);
    EXPECT_LT(state().moved, 3 * mib);
    EXPECT_EQ(state().unasked, 0);
}

TEST_F(program_turn_test, counts_apart_what_moved_unasked) {
    program one(page_, this_process());
    one.begin();
    one.take();
    move(mib);
    EXPECT_GE(page_.observe(0, 0, monotonic_ns()).unasked, mib);
    one.give_back();
    EXPECT_GE(state().unasked, mib);
    EXPECT_EQ(state().moved, 0);
}

/// Gives its turn back, step by step.
class stepped_release : public stepped_process {
  public:
    explicit stepped_release(agent_page& with)
        : stepped_process(
              [&] {
                  of_.emplace(with, this_process());
                  of_->begin();
                  of_->take();
                  move(mib);
              },
              [&] { of_->give_back(); }) {}

  private:
    std::optional<program> of_;
};

TEST_F(program_turn_test, shows_bytes_that_only_rise_while_it_gives_the_turn_back) {
    for (const permission by : {permission::closed, permission::allowed}) {
        give(by);
        stepped_release one(page_);
        int64_t now_ns = monotonic_ns();
        const auto bytes = [&] {
            const node_state seen = page_.observe(0, 0, now_ns += 1'000'000'000);  // looks at the account each time
            return by == permission::closed ? seen.unasked : seen.moved;
        };
        const int64_t first = bytes();
        ASSERT_GE(first, mib);
        int instructions = 0;
        for (; one.step(1); ++instructions) ASSERT_GE(bytes(), first) << "after " << instructions << " instructions";
        EXPECT_GT(instructions, 100);
        one.kill();
        page_.free_dead();
    }
}

/// Takes the turn, step by step; it moved bytes when it had asked.
class stepped_take : public stepped_process {
  public:
    explicit stepped_take(agent_page& with)
        : stepped_process(
              [&] {
                  of_.emplace(with, this_process());
                  of_->begin();
                  move(mib);
              },
              [&] { of_->take(); }) {}

  private:
    std::optional<program> of_;
};

TEST_F(program_turn_test, never_shows_bytes_that_moved_before_it_was_taken) {
    give(permission::allowed);
    stepped_take one(page_);
    int64_t now_ns = monotonic_ns();
    bool was_held = false;
    for (int instructions = 0; one.step(1); ++instructions) {
        const node_state seen = page_.observe(0, 0, now_ns += 1'000'000'000);
        ASSERT_LT(seen.moved, mib) << "after " << instructions << " instructions";
        was_held = was_held || page_.shared().slots[0].by_itself.at[0].held != 0;
    }
    EXPECT_TRUE(was_held);
}

TEST_F(program_turn_test, leaves_counting_to_the_layer_where_there_is_one) {
    give(permission::allowed);
    called_process layer(page_, this_process());
    program one(page_, this_process());
    one.begin();
    one.take();
    move(mib);
    layer.call({.bytes = 1000, .moved = 1000});
    EXPECT_EQ(state().moved, 1000);
    one.give_back();
    EXPECT_EQ(state().moved, 1000);
}

}  // namespace
}  // namespace halcyon::tests
