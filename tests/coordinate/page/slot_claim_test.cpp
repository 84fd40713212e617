// The places that processes have on the page of their job: real processes, killed for real.
#include "coordinate/page/slot_claim.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <set>
#include <vector>

#include "coordinate/page/pages.hpp"
#include "coordinate/page/process_life.hpp"
#include "coordinate/stepped_process.hpp"
#include "sanitized.hpp"

namespace halcyon::coordinate {
namespace {

TEST(page, gives_each_process_a_place_of_its_own) {
    const agent_page one = page_of();
    constexpr int processes = 20;
    std::vector<pid_t> children;
    for (int i = 0; i < processes; ++i) {
        const pid_t pid = ::fork();
        if (pid == 0) {
            claim_slot(one.shared(), own_name());
            ::pause();
        }
        children.push_back(pid);
    }
    while (one.processes() < processes) ::usleep(100);
    std::set<int> owners;
    for (const process_slot& slot : one.shared().slots) {
        if (slot.owner != 0) owners.insert(process_slot::pid_of(slot.owner));
    }
    EXPECT_EQ(owners, std::set<int>(children.begin(), children.end()));
    for (const pid_t pid : children) ::kill(pid, SIGKILL);
    for (const pid_t pid : children) ::waitpid(pid, nullptr, 0);
}

TEST(page, finds_the_place_of_a_process_that_comes_again) {
    const agent_page one = page_of();
    process_slot* const first = claim_slot(one.shared(), own_name());
    EXPECT_EQ(claim_slot(one.shared(), own_name()), first);
    EXPECT_EQ(one.processes(), 1U);
}

TEST(page, finds_the_place_of_a_process_that_comes_again_where_a_lower_one_is_free_now) {
    agent_page one = page_of();
    in_child([&] { claim_slot(one.shared(), own_name()); });
    process_slot* const first = claim_slot(one.shared(), own_name());
    EXPECT_EQ(one.free_dead(), 1U);
    EXPECT_EQ(claim_slot(one.shared(), own_name()), first);
    EXPECT_EQ(one.processes(), 1U);
}

TEST(page, refuses_and_counts_processes_when_it_is_full) {
    const agent_page one = page_of();
    for (uint64_t i = 1; i <= page::most_processes; ++i) ASSERT_NE(claim_slot(one.shared(), i), nullptr);
    EXPECT_EQ(claim_slot(one.shared(), page::most_processes + 1), nullptr);
    EXPECT_EQ(one.shared().refused, 1U);
}

/// It takes a place, step by step.
class stepped_claim : public tests::stepped_process {
  public:
    explicit stepped_claim(page& shared)
        : stepped_process([this] { name_ = own_name(); }, [this, &shared] { claim_slot(shared, name_); }) {}

  private:
    uint64_t name_ = 0;
};

TEST(page, survives_a_kill_after_each_instruction_of_a_claim) {
    if (tests::sanitized) GTEST_SKIP() << "too many steps under a sanitizer";
    agent_page one = page_of();
    int with_place = 0, without_place = 0;
    for (int instructions = 0;; ++instructions) {
        stepped_claim claim(one.shared());
        if (!claim.step(instructions)) break;
        claim.kill();
        const size_t taken = one.processes();
        ++(taken == 1 ? with_place : without_place);
        ASSERT_LE(taken, 1U);
        EXPECT_EQ(one.free_dead(), taken) << "after " << instructions << " instructions";
        EXPECT_EQ(one.processes(), 0U);
    }
    one.free_dead();
    EXPECT_GT(with_place, 3);
    EXPECT_GT(without_place, 10);
    EXPECT_EQ(in_child([&] {
                  if (claim_slot(one.shared(), own_name()) != one.shared().slots) ::_exit(1);
              }),
              0);
}

TEST(page, gives_no_place_to_two_whatever_the_step_at_which_the_other_comes) {
    if (tests::sanitized) GTEST_SKIP() << "too many steps under a sanitizer";
    int steps = 0;
    for (;; ++steps) {
        const agent_page one = page_of();
        stepped_claim claim(one.shared());
        if (!claim.step(steps)) break;
        const process_slot* const own = claim_slot(one.shared(), own_name());
        claim.let_go();
        while (!claim.has_ended()) ::usleep(50);
        EXPECT_EQ(own->owner, own_name()) << "after " << steps << " instructions";
        EXPECT_EQ(one.processes(), 2U) << "after " << steps << " instructions";
    }
    EXPECT_GT(steps, 10);
}

TEST(page, keeps_the_places_of_processes_that_are_alive) {
    agent_page one = page_of();
    claim_slot(one.shared(), own_name());
    EXPECT_EQ(one.free_dead(), 0U);
    // The number of a process that began at another time: the one that took the place is gone.
    one.shared().slots[0].owner = own_name() ^ 1U;
    EXPECT_EQ(one.free_dead(), 1U);
}

TEST(page, keeps_the_places_of_processes_of_which_the_system_does_not_tell) {
    agent_page one = page_of();
    claim_slot(one.shared(), own_name());
    rlimit files{};
    ::getrlimit(RLIMIT_NOFILE, &files);
    const rlimit none{0, files.rlim_max};
    ::setrlimit(RLIMIT_NOFILE, &none);  // as if it had too many open
    const size_t freed = one.free_dead();
    ::setrlimit(RLIMIT_NOFILE, &files);
    EXPECT_EQ(freed, 0U);
    EXPECT_EQ(one.processes(), 1U);
}

TEST(page, keeps_the_place_of_a_process_that_could_not_ask_when_it_began) {
    agent_page one = page_of();
    claim_slot(one.shared(), process_slot::owner_of(::getpid(), 0));
    EXPECT_EQ(one.free_dead(), 0U);
}

TEST(page, tells_a_dead_process_that_nobody_waited_for) {
    const pid_t pid = ::fork();
    if (pid == 0) ::_exit(0);
    siginfo_t how{};
    ::waitid(P_PID, static_cast<id_t>(pid), &how, WEXITED | WNOWAIT);
    EXPECT_EQ(start_of_process(pid), 0U);
    ::waitpid(pid, nullptr, 0);
    EXPECT_GT(start_of_process(::getpid()), 0U);
}

}  // namespace
}  // namespace halcyon::coordinate
