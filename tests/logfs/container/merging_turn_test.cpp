#include "logfs/container/reading/merging_turn.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <filesystem>
#include <functional>
#include <new>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/clock.hpp"
#include "killed_at_step.hpp"
#include "shared_container.hpp"
#include "watched_files.hpp"

/// Processes that open a container at the same moment.
namespace halcyon::logfs {
namespace {

namespace fs = std::filesystem;
using halcyon::tests::killed_at;
using tests::shared_container;

constexpr int64_t long_ns = 120'000'000'000;
constexpr uint32_t processes = 6;

/// What processes tell each other.
struct shared_counts {
    std::atomic<uint32_t> ready;       ///< are about to open it
    std::atomic<uint32_t> waiting;     ///< wait for another one that merges
    std::atomic<uint32_t> merged;      ///< did not begin with the index of the node
    std::atomic<uint32_t> has_failed;  ///< the first one that merged, and nobody has to wait for it any more
    std::atomic<uint32_t> wrong;       ///< read anything else than what was written, or waited too often
};

void await(const std::function<bool()>& condition) {
    const int64_t limit_ns = monotonic_ns() + long_ns;
    while (!condition()) {
        if (monotonic_ns() > limit_ns) _exit(9);
        sched_yield();
    }
}

class opened_together : public ::testing::Test {
  protected:
    void SetUp() override {
        void* const shared = mmap(nullptr, sizeof *counts_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        ASSERT_NE(shared, MAP_FAILED);
        counts_ = new (shared) shared_counts{};
        all_.how.sharing.most_wait_ns = long_ns;
        all_.write(1, 4000);
        all_.write(2, 4000);
        all_.in.close_writers();
    }
    void TearDown() override { munmap(counts_, sizeof *counts_); }

    /// The number of the readers that merged, of which each runs in a process. `steps`: what each of them does at its
    /// calls.
    uint32_t merged_by(const std::function<int(std::string_view call)>& steps) {
        std::vector<pid_t> children;
        for (uint32_t i = 0; i < processes; ++i) {
            const pid_t child = fork();
            if (child == 0) open_and_exit(steps);
            children.push_back(child);
        }
        for (const pid_t each : children) {
            int status = 0;
            EXPECT_EQ(waitpid(each, &status, 0), each);
            EXPECT_EQ(status, 0);
        }
        EXPECT_EQ(counts_->wrong, 0U);
        return counts_->merged;
    }
    [[noreturn]] void open_and_exit(const std::function<int(std::string_view)>& steps) {
        tests::watched_files calls;
        calls.before = [&](std::string_view call, int64_t) {
            if (call == "pause" && ++pauses_ == 1) ++counts_->waiting;
            return steps(call);
        };
        container in(calls);
        if (!in.open(all_.in.path).ok()) _exit(1);
        ++counts_->ready;
        await([&] { return counts_->ready == processes; });
        reader from(in, all_.how);
        if (!from.reload().ok()) _exit(2);
        if (!from.shared().is_used()) ++counts_->merged;
        if (tests::all_of(from) != all_.file.contents()) ++counts_->wrong;
        _exit(0);
    }
    /// Who has merged leaves it when all others wait.
    int wait_for_others(std::string_view call) const {
        if (call == "write") await([this] { return counts_->waiting >= processes - 1; });
        return 0;
    }
    /// A process that merges, and stops in the middle of that.
    pid_t merging_and_stopped() {
        const pid_t child = fork();
        if (child == 0) {
            tests::watched_files calls;
            bool has_stopped = false;
            calls.before = [&](std::string_view call, int64_t) {
                if (call != "write" || has_stopped) return 0;
                has_stopped = true;
                raise(SIGSTOP);
                return 0;
            };
            container in(calls);
            if (!in.open(all_.in.path).ok()) _exit(1);
            reader from(in, all_.how);
            if (!from.reload().ok()) _exit(2);
            _exit(has_stopped && tests::all_of(from) == all_.file.contents() ? 0 : 3);
        }
        int status = 0;
        EXPECT_EQ(waitpid(child, &status, WUNTRACED), child);
        EXPECT_TRUE(WIFSTOPPED(status));
        return child;
    }
    /// Whether a new reader, which reads right, began with the index of the node. `at_pause`: when it waits.
    bool reads_right(const std::function<void()>& at_pause) {
        tests::watched_files calls;
        calls.before = [&](std::string_view call, int64_t) {
            if (call == "pause") at_pause();
            return 0;
        };
        container in(calls);
        in.open(all_.in.path).value();
        reader from(in, all_.how);
        from.reload().value();
        EXPECT_EQ(tests::difference(tests::all_of(from), all_.file.contents()), "none");
        return from.shared().is_used();
    }

    shared_counts* counts_ = nullptr;
    shared_container all_;
    int pauses_ = 0;  // of the process
};

TEST_F(opened_together, it_is_merged_by_one_for_which_all_others_wait) {
    EXPECT_EQ(merged_by([this](std::string_view call) { return wait_for_others(call); }), 1U);
    EXPECT_EQ(counts_->waiting, processes - 1);
}

TEST_F(opened_together, it_is_merged_by_one_whenever_the_others_come) {
    for (int round = 0; round < 20; ++round) {
        new (counts_) shared_counts{};
        EXPECT_EQ(merged_by([](std::string_view) { return 0; }), 1U) << round;
        fs::remove(all_.image());
    }
}

TEST_F(opened_together, what_is_new_since_the_image_is_merged_by_one) {
    all_.leave();
    all_.write(3, 8000);
    all_.in.close_writers();
    // All of them began with an image.
    EXPECT_EQ(merged_by([this](std::string_view call) { return wait_for_others(call); }), 0U);
    EXPECT_EQ(counts_->waiting, processes - 1);
    const auto from = all_.open();
    EXPECT_TRUE(from->shared().is_used());
    EXPECT_GT(from->shared().shared_entries(), 9000U);
}

TEST_F(opened_together, each_merges_for_itself_at_once_where_the_first_one_fails) {
    int late = 0;
    bool has_failed = false;
    std::string before;
    const auto steps = [&](std::string_view call) {
        // Others wait for the turn that it gives back behind that, however long it takes until then.
        if (has_failed && before == "unlock_part") counts_->has_failed = 1;
        before = call;
        if (call == "write") {
            wait_for_others(call);
            has_failed = true;
            return -ENOSPC;
        }
        // It may have looked a moment before.
        if (call == "pause" && counts_->has_failed == 1 && ++late > 1) ++counts_->wrong;
        return 0;
    };
    EXPECT_EQ(merged_by(steps), processes);
    EXPECT_FALSE(fs::exists(all_.image()));
}

TEST_F(opened_together, nobody_waits_for_one_that_was_killed) {
    const pid_t child = merging_and_stopped();
    int pauses = 0;
    EXPECT_FALSE(reads_right([&] {
        if (++pauses > 1) return;
        kill(child, SIGKILL);
        waitpid(child, nullptr, 0);
    }));
    EXPECT_EQ(pauses, 1);
    EXPECT_TRUE(all_.reads_right());
}

TEST_F(opened_together, one_that_stops_is_waited_for_once_and_not_for_ever) {
    const pid_t child = merging_and_stopped();
    all_.how.sharing.most_wait_ns = 5'000'000;
    int pauses = 0;
    EXPECT_FALSE(reads_right([&] { ++pauses; }));
    EXPECT_GT(pauses, 0);
    all_.how.sharing.most_wait_ns = long_ns;
    EXPECT_FALSE(reads_right([&] { FAIL() << "waits for one that does not go on"; }));
    kill(child, SIGCONT);
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    EXPECT_TRUE(all_.reads_right());
}

TEST_F(opened_together, one_that_is_killed_at_any_step_keeps_nobody_waiting) {
    long step = 0;
    for (bool was_killed = true; was_killed; ++step) {
        ASSERT_LT(step, 1000);
        fs::remove_all(all_.node.path());
        fs::create_directory(all_.node.path());
        fs::permissions(all_.node.path(), fs::perms::owner_all);
        const auto work = [this] {
            reader from(all_.in.of(), all_.how);
            _exit(from.reload().ok() ? 0 : 1);
        };
        const auto looked = [this] {
            const auto does_not_wait = [] { FAIL() << "waits for a process that was killed"; };
            reads_right(does_not_wait);
            EXPECT_TRUE(reads_right(does_not_wait));
        };
        was_killed = killed_at(step, work, looked);
        ASSERT_FALSE(HasFailure()) << "killed at step " << step;
    }
    EXPECT_GT(step, 8) << "the test shows nothing";
}

TEST_F(opened_together, a_child_that_was_forked_off_meanwhile_has_no_turn) {
    int gate[2];
    ASSERT_EQ(pipe(gate), 0);
    tests::watched_files calls;
    pid_t child = -1;
    calls.before = [&](std::string_view call, int64_t) {
        if (call != "write" || child >= 0) return 0;
        child = fork();
        if (child == 0) {
            // Until its parent has closed the pipe.
            char byte = 0;
            ::close(gate[1]);
            _exit(::read(gate[0], &byte, 1) == 0 ? 0 : 1);
        }
        return 0;
    };
    container in(calls);
    in.open(all_.in.path).value();
    reader from(in, all_.how);
    from.reload().value();
    ASSERT_GT(child, 0);
    ASSERT_TRUE(fs::remove(all_.image()));
    EXPECT_FALSE(reads_right([] { FAIL() << "waits for a child of one that has ended"; }));
    ::close(gate[0]);
    ::close(gate[1]);
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
}

TEST_F(opened_together, a_handler_does_not_wait_for_its_own_thread) {
    tests::watched_files calls;
    bool has_come = false;
    calls.before = [&](std::string_view call, int64_t) {
        if (call != "write" || has_come) return 0;
        has_come = true;
        EXPECT_FALSE(reads_right([] { FAIL() << "waits for the thread that it interrupted"; }));
        return 0;
    };
    container in(calls);
    in.open(all_.in.path).value();
    reader from(in, all_.how);
    from.reload().value();
    EXPECT_TRUE(has_come);
}

TEST_F(opened_together, threads_of_a_process_wait_for_each_other_likewise) {
    tests::watched_files calls;
    std::atomic<bool> is_waiting{false};
    std::thread other;
    std::atomic<bool> has_begun{false};
    bool is_used = false;
    calls.before = [&](std::string_view call, int64_t) {
        if (call != "write" || has_begun.exchange(true)) return 0;
        other = std::thread([&] { is_used = reads_right([&] { is_waiting = true; }); });
        await([&] { return is_waiting.load(); });
        return 0;
    };
    container in(calls);
    in.open(all_.in.path).value();
    {
        reader from(in, all_.how);
        from.reload().value();
    }
    ASSERT_TRUE(has_begun);
    other.join();
    EXPECT_TRUE(is_used);
}

TEST_F(opened_together, few_entries_are_merged_by_each_without_asking) {
    all_.how.sharing.least_entries = 100'000;
    EXPECT_EQ(merged_by([](std::string_view) { return 0; }), processes);
    EXPECT_TRUE(fs::is_empty(all_.node.path()));
}

TEST_F(opened_together, where_nothing_can_be_locked_each_merges_for_itself) {
    EXPECT_EQ(merged_by([](std::string_view call) { return call == "lock_part" ? -ENOLCK : 0; }), processes);
}

}  // namespace
}  // namespace halcyon::logfs
