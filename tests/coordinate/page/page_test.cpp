// The page that the processes of a job share with their agent: real processes, killed for real.
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "coordinate/page/agent_page.hpp"
#include "coordinate/page/held_locks.hpp"
#include "coordinate/page/mount_of.hpp"
#include "coordinate/page/phase_forecast.hpp"
#include "coordinate/page/process_life.hpp"
#include "coordinate/page/rounds.hpp"
#include "coordinate/page/slot_claim.hpp"
#include "coordinate/stepped_process.hpp"

namespace halcyon::coordinate {
namespace {

agent_page page_of(std::vector<std::string> mounts = {"/scratch"}) {
    auto made = agent_page::create({.mounts = std::move(mounts)});
    return std::move(made).value();
}

uint64_t own_name() {
    return process_slot::owner_of(::getpid(), start_of_process(::getpid()));
}

/// Runs `work` in a child; returns how it ended.
template <class Work>
int in_child(Work work) {
    const pid_t pid = ::fork();
    if (pid == 0) {
        work();
        ::_exit(0);
    }
    int status = 0;
    ::waitpid(pid, &status, 0);
    return status;
}

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

/// A process in the middle of a call, while another one waits, that becomes another program when `go` says so. It holds
/// a lock by a descriptor with these flags (memfd_create).
class becoming_another {
  public:
    explicit becoming_another(page& shared, unsigned flags = MFD_CLOEXEC) {
        EXPECT_EQ(::pipe(go_), 0);
        pid_ = ::fork();
        if (pid_ != 0) return;
        process_slot* const slot = claim_slot(shared, own_name());
        note_program(*slot);
        slot->locks = ::flock(::memfd_create("locked", flags), LOCK_EX) == 0 ? 1 : 0;
        slot->at[0].moved = 10;
        slot->at[0].under_way = 1;
        slot->at[0].waiting = 1;
        char byte = 0;
        static_cast<void>(::read(go_[0], &byte, 1) == 1);
        ::execl("/bin/sleep", "sleep", "600", nullptr);
        ::_exit(1);
    }
    ~becoming_another() {
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
        for (const int fd : go_) ::close(fd);
    }
    void go() const { EXPECT_EQ(::write(go_[1], "x", 1), 1); }
    [[nodiscard]] bool is_another() const {
        char name[16] = {};
        const std::string path = "/proc/" + std::to_string(pid_) + "/comm";
        FILE* const from = ::fopen(path.c_str(), "r");
        if (from == nullptr) return false;
        const bool read = ::fgets(name, sizeof name, from) != nullptr;
        ::fclose(from);
        if (!read || std::string_view(name) != "sleep\n") return false;
        const uint64_t runs = life_of_process(pid_).program;  // has its name before it has its memory
        return runs != 0 && runs != life_of_process(::getpid()).program;
    }

  private:
    int go_[2] = {-1, -1};
    pid_t pid_ = -1;
};

TEST(page, does_not_count_the_calls_of_a_program_that_became_another_one) {
    agent_page one = page_of();
    const becoming_another process(one.shared());
    const auto now = [&] { return one.observe(0, 0, 0); };
    while (now().waiting == 0) ::usleep(100);
    one.free_dead();
    EXPECT_EQ(now().under_way, 1);
    process.go();
    while (!process.is_another()) ::usleep(100);
    one.free_dead();
    EXPECT_EQ(now().under_way, 0);
    EXPECT_EQ(now().waiting, 0);
    EXPECT_EQ(now().active, 0);
    EXPECT_EQ(now().moved, 10);
    EXPECT_EQ(now().processes, 1);
}

TEST(page, counts_a_lock_no_more_that_went_with_the_program_before) {
    for (const unsigned flags : {unsigned{MFD_CLOEXEC}, 0U}) {
        agent_page one = page_of();
        const becoming_another process(one.shared(), flags);
        while (one.observe(0, 0, 0).waiting == 0) ::usleep(100);
        one.free_dead();
        EXPECT_TRUE(held_locks::may_anybody_hold_any(one.shared()));
        process.go();
        while (!process.is_another()) ::usleep(100);
        one.free_dead();
        const bool has_descriptor = flags == 0;
        EXPECT_EQ(held_locks::may_anybody_hold_any(one.shared()), has_descriptor);
        process_slot& slot = one.shared().slots[0];
        slot.by_itself.program = 1;  // the next one takes locks of its own
        EXPECT_TRUE(held_locks::may_hold_any(slot));
    }
}

TEST(page, counts_the_calls_of_the_next_program_from_its_first_one) {
    process_slot slot{};
    slot.owner = process_slot::owner_of(5, 7);
    slot.by_itself.program = 1;
    replaced_programs gone;
    gone.look(3, slot, {.start = 7, .program = 1});
    EXPECT_FALSE(gone.contains(3, slot));
    gone.look(3, slot, {.start = 7, .program = 0});  // of another user by now: nobody may know
    EXPECT_FALSE(gone.contains(3, slot));
    gone.look(3, slot, {.start = 7, .program = 2});
    EXPECT_TRUE(gone.contains(3, slot));
    EXPECT_FALSE(gone.contains(2, slot));
    slot.by_itself.program = 2;
    EXPECT_FALSE(gone.contains(3, slot)) << "whether it was looked at again or not";
    gone.look(3, slot, {.start = 7, .program = 2});
    EXPECT_FALSE(gone.contains(3, slot));
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

TEST(page, forgets_what_a_killed_process_had_under_way_but_not_what_it_moved) {
    agent_page one = page_of();
    const int status = in_child([&] {
        process_slot& slot = *claim_slot(one.shared(), own_name());
        slot.at[0].moved = 1000;
        slot.at[0].begun = 3;
        slot.at[0].under_way = 1;
        slot.at[0].waiting = 1;
        slot.locks = 2;
        ::kill(::getpid(), SIGKILL);
    });
    ASSERT_TRUE(WIFSIGNALED(status));
    EXPECT_EQ(one.observe(0, 0, 1).under_way, 1);
    EXPECT_EQ(one.free_dead(), 1U);
    const node_state after = one.observe(0, 0, 1);
    EXPECT_EQ(after.under_way, 0);
    EXPECT_EQ(after.waiting, 0);
    EXPECT_EQ(after.moved, 1000);
    EXPECT_EQ(after.begun, 3U);
    EXPECT_EQ(one.shared().slots[0].locks, 0U);
}

TEST(page, counts_no_calls_where_a_process_has_counted_out_more_than_began) {
    const agent_page one = page_of();
    process_part& part = claim_slot(one.shared(), own_name())->at[0];
    part.under_way.fetch_sub(1);  // a jump left the call before it was counted
    part.waiting.fetch_sub(1);
    node_state now = one.observe(0, 0, 1);
    EXPECT_EQ(now.under_way, 0);
    EXPECT_EQ(now.waiting, 0);
    EXPECT_EQ(now.active, 0);
    claim_slot(one.shared(), 1)->at[0].under_way = 2;
    now = one.observe(0, 0, 1);
    EXPECT_EQ(now.under_way, 2);
    EXPECT_EQ(now.active, 1);
}

TEST(page, shows_processes_that_died_before_they_told_or_could_not) {
    agent_page one = page_of();
    for (const uint32_t told : {process_slot::nobody_yet, process_slot::itself, process_slot::its_agent}) {
        const size_t untold = told == process_slot::itself ? 0 : 1;
        in_child([&] {
            process_slot& slot = *claim_slot(one.shared(), own_name());
            slot.at[0].moved = 1000;
            slot.told = told;
        });
        EXPECT_EQ(one.untold(), untold);
        std::vector<int64_t> moved;
        one.free_dead([&](const process_slot& slot) { moved.push_back(slot.at[0].moved); });
        EXPECT_EQ(moved, std::vector<int64_t>(untold, 1000));
        EXPECT_EQ(one.shared().slots[0].told, 0U);
    }
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

TEST(page, counts_aggregators_that_may_begin_a_round_below_the_stop) {
    const agent_page one = page_of();
    process_part& part = claim_slot(one.shared(), own_name())->at[0];
    const uint64_t stop = rounds::of(7, 3);
    const auto behind = [&] { return one.observe(0, stop, 1).behind; };
    EXPECT_EQ(behind(), 0);  // in no collective call
    part.inside = rounds::of(7, 0);
    EXPECT_EQ(behind(), 0);  // never moved anything: no aggregator
    part.aggregates = 1;
    EXPECT_EQ(behind(), 1);
    part.round = rounds::of(7, 2);
    EXPECT_EQ(behind(), 0);  // its next one is that of the stop
    part.round = rounds::of(7, 1);
    EXPECT_EQ(behind(), 1);
    part.round = rounds::of(7, 2);
    part.waiting = 1;
    EXPECT_EQ(behind(), 1);  // held back, until it sees that this round is allowed
    one.shared().slots[0].by_itself.at[0].asking = 1;
    EXPECT_EQ(behind(), 0);  // no call, but a phase that was announced
    part.waiting = 2;
    EXPECT_EQ(behind(), 1);
    part.round = stop;
    EXPECT_EQ(behind(), 0);
}

TEST(page, says_what_is_left_of_a_forecast_by_the_bytes_that_moved_since) {
    const agent_page one = page_of();
    process_part& part = claim_slot(one.shared(), 1)->at[0];
    constexpr int64_t s = 1'000'000'000;
    part.moved = 100;
    part.unasked = 20;
    phase_forecast{.told_ns = 10 * s,
                   .told_bytes = 120,
                   .bytes_left = 1000,
                   .left_ns = 8 * s,
                   .next_in_ns = 40 * s,
                   .next_deviation_ns = s,
                   .next_bytes = 600,
                   .next_alone_ns = 3 * s,
                   .next_probability = 0.5}
        .write_to(part.forecast);
    part.moved = 600;
    node_state found = one.observe(0, 0, 15 * s);
    EXPECT_EQ(found.bytes_left, 500);
    EXPECT_EQ(found.left_s, 4) << "a process that waits gets no nearer to its end";
    EXPECT_EQ(found.next_in_s, 35);
    EXPECT_EQ(found.next_probability, 0.5);
    EXPECT_EQ(found.forecasts, 10);
    EXPECT_GT(one.observe(0, 0, 61 * s).next_probability, 0);
    EXPECT_EQ(one.observe(0, 0, 63 * s).next_probability, 0) << "it did not come when it was due";
    part.begun_ns = 50 * s;
    found = one.observe(0, 0, 51 * s);
    EXPECT_EQ(found.bytes_left, 100) << "of the phase that was expected, which has begun";
    EXPECT_EQ(found.next_probability, 0);
}

TEST(page, takes_what_one_process_moves_in_collective_calls_off_the_forecasts_of_others) {
    const agent_page one = page_of();
    for (const int pid : {1, 2}) {
        process_part& part = claim_slot(one.shared(), pid)->at[0];
        phase_forecast{.told_ns = 1, .bytes_left = 1000}.write_to(part.forecast);
    }
    process_part& aggregator = one.shared().slots[0].at[0];
    aggregator.moved = 1500;
    EXPECT_EQ(one.observe(0, 0, 2).bytes_left, 1000) << "it moves more than it told";
    aggregator.aggregates = 1;
    EXPECT_EQ(one.observe(0, 0, 2).bytes_left, 500);
    aggregator.aggregates = 0;
    aggregator.inside = rounds::of(1, 0);
    EXPECT_EQ(one.observe(0, 0, 2).bytes_left, 500);
    aggregator.moved = 9000;
    EXPECT_EQ(one.observe(0, 0, 2).bytes_left, 0) << "for other nodes, too";
    aggregator.begun_ns = 2;
    EXPECT_EQ(one.observe(0, 0, 3).bytes_left, 1000) << "that was in the phase before";
}

TEST(page, takes_the_time_off_with_the_bytes_that_another_process_moved) {
    const agent_page one = page_of();
    for (const int pid : {1, 2}) {
        process_part& part = claim_slot(one.shared(), pid)->at[0];
        phase_forecast{.told_ns = 1, .bytes_left = 1000, .left_ns = 8'000'000'000}.write_to(part.forecast);
    }
    process_part& aggregator = one.shared().slots[0].at[0];
    aggregator.aggregates = 1;
    aggregator.moved = 1500;
    EXPECT_EQ(one.observe(0, 0, 2).left_s, 4);
}

TEST(page, adds_up_forecasts_of_any_size) {
    const agent_page one = page_of();
    for (uint64_t id = 1; id <= 8; ++id)
        phase_forecast{.told_ns = 1,
                       .bytes_left = phase_forecast::farthest,
                       .next_in_ns = 1'000'000'000,
                       .next_bytes = phase_forecast::farthest,
                       .next_probability = 1}
            .write_to(claim_slot(one.shared(), id)->at[0].forecast);
    const node_state found = one.observe(0, 0, 2);
    EXPECT_EQ(found.bytes_left, phase_forecast::farthest) << "eight of them are more than a number can say";
    EXPECT_EQ(found.next_bytes, phase_forecast::farthest);
}

TEST(page, takes_no_forecast_that_is_being_changed) {
    const agent_page one = page_of();
    shared_forecast& shared = claim_slot(one.shared(), 1)->at[0].forecast;
    phase_forecast{.told_ns = 1, .bytes_left = INT64_MAX}.write_to(shared);
    EXPECT_EQ(phase_forecast::read_from(shared).bytes_left, phase_forecast::farthest);
    shared.version.fetch_add(1);  // its process was killed here
    EXPECT_EQ(phase_forecast::read_from(shared), phase_forecast{});
    phase_forecast{.told_ns = 1, .bytes_left = 5}.write_to(shared);
    EXPECT_EQ(phase_forecast::read_from(shared).bytes_left, 5);
}

TEST(page, shows_whole_forecasts_though_two_threads_of_a_process_write_them) {
    const agent_page one = page_of();
    shared_forecast& shared = claim_slot(one.shared(), 1)->at[0].forecast;
    std::atomic<int> writing{2};
    const auto write = [&](int64_t all) {
        const phase_forecast said{.told_ns = all,
                                  .told_bytes = all,
                                  .bytes_left = all,
                                  .left_ns = all,
                                  .next_in_ns = all,
                                  .next_deviation_ns = all,
                                  .next_bytes = all,
                                  .next_alone_ns = all};
        for (int i = 0; i < 200'000; ++i) said.write_if(shared, [] { return true; });
        --writing;
    };
    std::thread first(write, 1), second(write, 2);
    int torn = 0;
    while (writing > 0) {
        const phase_forecast seen = phase_forecast::read_from(shared);
        torn += seen.told_ns == seen.next_alone_ns && seen.bytes_left == seen.next_bytes ? 0 : 1;
    }
    first.join();
    second.join();
    EXPECT_EQ(torn, 0);
}

TEST(page, tells_a_published_turn_from_one_that_a_process_put_there) {
    agent_page one = page_of();
    one.publish(0, permission::waiting, 0, {});
    EXPECT_FALSE(one.was_replaced(0));
    auto& word = one.shared().file_system[0].turn;
    word = turn_word::next(word, permission::closed);
    EXPECT_TRUE(one.was_replaced(0));
}

/// A stray write of any process of the job may hit what the agent has written once and for all.
TEST(page, is_given_back_as_it_was_made_whatever_a_process_writes_over_the_number_of_file_systems) {
    agent_page one = page_of();
    in_child([&] {
        claim_slot(one.shared(), own_name());
        one.shared().file_systems = 1000;
    });
    process_slot& alive = *claim_slot(one.shared(), own_name());
    alive.at[0].moved = 5;
    EXPECT_EQ(one.file_systems(), 1U);
    EXPECT_EQ(one.free_dead(), 1U);
    EXPECT_EQ(alive.owner, own_name()) << "its place lies behind that of the dead one";
    EXPECT_EQ(alive.at[0].moved, 5);
}

TEST(page, is_not_left_by_its_processes_whatever_one_of_them_writes_over_the_number_and_the_paths_of_file_systems) {
    const agent_page one = page_of({"/scratch", "/burst"});
    page& shared = one.shared();
    for (const uint32_t stray : {1000U, UINT32_MAX}) {
        shared.file_systems = stray;
        EXPECT_EQ(shared.known_file_systems(), process_slot::most_file_systems);
        EXPECT_EQ(mount_of(shared, "/burst/data"), 1U);
        EXPECT_EQ(mount_of(shared, "/elsewhere/data"), no_mount);
        shared.file_system[2].path_bytes = stray;
        EXPECT_LE(shared.file_system[2].mount().size(), shared_file_system::longest_path);
    }
}

TEST(page, refuses_mounts_that_it_has_no_room_for) {
    EXPECT_FALSE(agent_page::create({}));
    EXPECT_FALSE(agent_page::create({.mounts = {"relative"}}));
    EXPECT_FALSE(agent_page::create({.mounts = std::vector<std::string>(9, "/scratch")}));
    EXPECT_FALSE(agent_page::create({.mounts = {"/" + std::string(512, 'x')}}));
}

}  // namespace
}  // namespace halcyon::coordinate
