#include "base/event_loop.hpp"

#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <string>
#include <thread>

#include "base/clock.hpp"

namespace halcyon {
namespace {

descriptor ready_descriptor() {
    return descriptor(::eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK));
}

class event_loops : public ::testing::Test {
  protected:
    /// Runs what is ready now.
    std::string turn() {
        called_.clear();
        const auto done = loop_->run_once(0);
        EXPECT_TRUE(done.ok());
        return called_;
    }
    event_loop::watch letter(const descriptor& d, char c) {
        return loop_->add(d.get(), EPOLLIN, [this, c](uint32_t) { called_ += c; }).value();
    }
    std::unique_ptr<event_loop> loop_ = event_loop::start().value();
    std::string called_;
};

TEST_F(event_loops, call_who_is_ready_and_nobody_else) {
    const descriptor ready = ready_descriptor(), idle(::eventfd(0, EFD_CLOEXEC));
    letter(ready, 'r');
    letter(idle, 'i');
    EXPECT_EQ(turn(), "r");
    uint64_t value = 0;
    ASSERT_EQ(::read(ready.get(), &value, sizeof value), 8);
    EXPECT_EQ(turn(), "");
}

TEST_F(event_loops, watch_for_other_events_when_told) {
    const descriptor idle(::eventfd(0, EFD_CLOEXEC));
    const auto w = letter(idle, 'i');
    ASSERT_TRUE(loop_->change(w, EPOLLIN | EPOLLOUT).ok());
    EXPECT_EQ(turn(), "i") << "it is writable";
    ASSERT_TRUE(loop_->change(w, EPOLLIN).ok());
    EXPECT_EQ(turn(), "");
    loop_->remove(w);
    EXPECT_EQ(loop_->change(w, EPOLLIN).why().kind, error_kind::internal);
}

/// Both are ready in the same round; the first that is called removes both, closes the other's descriptor, and has its
/// number watched for something else.
TEST_F(event_loops, do_not_call_a_watch_that_was_removed_in_the_same_round) {
    descriptor both[2] = {ready_descriptor(), ready_descriptor()}, next;
    event_loop::watch watches[2]{};
    for (size_t i = 0; i < 2; ++i) {
        const auto ready = [&, i](uint32_t) {
            called_ += 'x';
            loop_->remove(watches[0]);
            loop_->remove(watches[1]);
            both[1 - i].reset();
            next = descriptor(::eventfd(0, EFD_CLOEXEC));
            letter(next, 'n');
            for (int more = 0; more < 100; ++more) loop_->timers().add([] {});
        };
        watches[i] = loop_->add(both[i].get(), EPOLLIN, ready).value();
    }
    EXPECT_EQ(turn(), "x");
    EXPECT_EQ(turn(), "") << "the new descriptor is not ready";
}

TEST_F(event_loops, a_function_may_add_watches_while_it_runs) {
    const descriptor ready = ready_descriptor();
    std::vector<descriptor> more;
    const std::string captured(100, 'c');
    event_loop::watch first{};
    first = loop_
                ->add(ready.get(), EPOLLIN,
                      [&, captured](uint32_t) {
                          for (int i = 0; i < 100; ++i) letter(more.emplace_back(ready_descriptor()), 'm');
                          loop_->remove(first);
                          called_ += captured;
                      })
                .value();
    EXPECT_EQ(turn(), captured) << "what it captured lives until it returns";
    EXPECT_EQ(turn(), std::string(100, 'm'));
}

TEST_F(event_loops, fire_timers_when_they_are_due_and_not_before) {
    const int64_t start = monotonic_ns(), when = start + 3'300'000;
    int64_t fired = 0;
    const auto timer = loop_->timers().add([&] {
        fired = monotonic_ns();
        loop_->stop();
    });
    loop_->timers().set(timer, when);
    ASSERT_TRUE(loop_->run().ok());
    EXPECT_GE(fired, when);
}

TEST_F(event_loops, wait_for_as_long_as_they_may_whatever_they_waited_for_before) {
    const auto waits = [&](int64_t most_ns) {
        const int64_t begin = monotonic_ns();
        EXPECT_TRUE(loop_->run_once(most_ns).ok());
        return monotonic_ns() - begin;
    };
    const auto timer = loop_->timers().add([] {});
    const descriptor ready = ready_descriptor(), late(::eventfd(0, EFD_CLOEXEC));
    const auto leave_alarm = [&](int64_t in_ns) {
        const auto watch = letter(ready, 'r');
        loop_->timers().set(timer, monotonic_ns() + in_ns);
        static_cast<void>(waits(-1));
        loop_->timers().unset(timer);
        loop_->remove(watch);
    };
    // It is still to come: too early, or, where this comes to an end at all, too late.
    for (const int64_t in_ns : {int64_t{2'000'000}, int64_t{3'600'000'000'000}}) {
        leave_alarm(in_ns);
        for (const int64_t most_ns : {int64_t{1'000'000}, int64_t{20'000'000}, int64_t{5'000'000}})
            EXPECT_GE(waits(most_ns), most_ns);
    }
    leave_alarm(1'000'000);
    letter(late, 'l');
    std::jthread later([&] {
        ::usleep(10'000);
        const uint64_t one = 1;
        static_cast<void>(!::write(late.get(), &one, sizeof one));
    });
    called_.clear();
    static_cast<void>(waits(-1));
    EXPECT_EQ(called_, "l") << "an alarm of before is no reason to return";
}

TEST_F(event_loops, fire_timers_beside_a_descriptor_that_is_always_ready) {
    const descriptor ready = ready_descriptor();
    letter(ready, 'r');
    loop_->timers().set(loop_->timers().add([&] { called_ += 't'; }), monotonic_ns());
    EXPECT_EQ(turn(), "rt");
    EXPECT_EQ(turn(), "r");
}

TEST_F(event_loops, stop_when_another_thread_says_so) {
    std::jthread other([&] { loop_->stop(); });
    ASSERT_TRUE(loop_->run().ok());
    other.join();
    loop_->stop();
    ASSERT_TRUE(loop_->run().ok()) << "said before it runs, too";
}

/// Whether the process comes to sleep, as in a wait for events, within a minute.
bool await_sleep(pid_t pid) {
    for (int waited_ms = 0; waited_ms < 60'000; ++waited_ms, ::usleep(1000)) {
        std::ifstream in("/proc/" + std::to_string(pid) + "/stat");
        std::string line;
        std::getline(in, line);
        const size_t name_ends = line.rfind(") ");
        if (name_ends != std::string::npos && line.compare(name_ends, 4, ") S ") == 0) return true;
    }
    return false;
}

// Whoever goes on looks at the time next, and takes what it did not hear for silence.
TEST_F(event_loops, call_who_became_ready_while_the_process_was_stopped) {
    int ends[2] = {-1, -1};
    ASSERT_EQ(::pipe(ends), 0);
    const descriptor reads(ends[0]), writes(ends[1]);
    const pid_t pid = ::fork();
    if (pid == 0) {
        letter(reads, 'r');
        static_cast<void>(loop_->run_once());
        ::_exit(called_ == "r" ? 0 : 1);
    }
    ASSERT_TRUE(await_sleep(pid));
    ::kill(pid, SIGSTOP);
    int status = 0;
    ASSERT_EQ(::waitpid(pid, &status, WUNTRACED), pid);
    ASSERT_TRUE(WIFSTOPPED(status));
    ASSERT_EQ(::write(writes.get(), "x", 1), 1);
    ::kill(pid, SIGCONT);
    ASSERT_EQ(::waitpid(pid, &status, 0), pid);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

TEST_F(event_loops, refuse_a_descriptor_that_is_closed) {
    const auto w = loop_->add(-1, EPOLLIN, [](uint32_t) {});
    ASSERT_FALSE(w.ok());
    EXPECT_EQ(w.why().system_errno, EBADF);
    const descriptor ready = ready_descriptor();
    letter(ready, 'r');
    EXPECT_EQ(turn(), "r");
}

}  // namespace
}  // namespace halcyon
