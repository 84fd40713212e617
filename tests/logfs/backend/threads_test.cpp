#include <pthread.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include <atomic>
#include <thread>
#include <vector>

#include "logfs/backend/mounted_log.hpp"

namespace halcyon::logfs {
namespace {

using calls::child_process;
using calls::opened_file;

class log_threads : public log_test {};

opened_file* written_by_handler = nullptr;
std::atomic<int> handled{0};

void append_in_handler(int) {
    int64_t at = 0;
    const iovec piece{const_cast<char*>("h"), 1};
    if (mounted_log::of_process().files().append(written_by_handler->handle(), &piece, 1, at) == 1)
        handled.fetch_add(1);
}

TEST_F(log_threads, a_handler_may_write_to_the_file_that_its_thread_is_writing_to) {
    constexpr int signals = 500;
    opened_file file(files(), path("f"), O_CREAT | O_RDWR | O_APPEND);
    written_by_handler = &file;
    handled = 0;
    struct sigaction action {};
    action.sa_handler = append_in_handler;
    struct sigaction before {};
    ASSERT_EQ(sigaction(SIGUSR1, &action, &before), 0);
    std::atomic<bool> ends{false};
    std::atomic<int64_t> appended{0};
    std::thread writer([&] {
        while (!ends.load()) {
            int64_t at = 0;
            const iovec piece{const_cast<char*>("m"), 1};
            appended += files().append(file.handle(), &piece, 1, at);
        }
    });
    const pthread_t target = writer.native_handle();
    for (int sent = 0; sent < signals; ++sent) {
        const int expected = handled.load() + 1;
        ASSERT_EQ(pthread_kill(target, SIGUSR1), 0);
        while (handled.load() < expected) sched_yield();
    }
    ends = true;
    writer.join();
    sigaction(SIGUSR1, &before, nullptr);
    EXPECT_EQ(handled.load(), signals);
    EXPECT_EQ(file.size(), appended.load() + signals);
}

TEST_F(log_threads, a_thread_that_is_cancelled_leaves_no_lock) {
    constexpr int rounds = 50;
    opened_file file(files(), path("f"), O_CREAT | O_RDWR);
    for (int round = 0; round < rounds; ++round) {
        std::atomic<bool> runs{false};
        struct given {
            log_backend* files;
            opened_file* file;
            std::atomic<bool>* runs;
        } all{&files(), &file, &runs};
        pthread_t thread{};
        ASSERT_EQ(pthread_create(
                      &thread, nullptr,
                      [](void* opaque) -> void* {
                          pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, nullptr);
                          auto* const with = static_cast<given*>(opaque);
                          for (int64_t i = 0;; ++i) {
                              const iovec piece{const_cast<char*>("text"), 4};
                              with->files->write(with->file->handle(), &piece, 1, i % 1000);
                              with->runs->store(true);
                          }
                      },
                      &all),
                  0);
        while (!runs.load()) sched_yield();
        pthread_cancel(thread);
        pthread_join(thread, nullptr);
        ASSERT_EQ(file.write("more", 0), 4) << round;
    }
}

TEST_F(log_threads, a_fork_while_another_thread_writes_leaves_the_child_all_it_needs) {
    constexpr int forks = 50;
    opened_file file(files(), path("f"), O_CREAT | O_RDWR);
    std::atomic<bool> ends{false};
    std::thread writer([&] {
        const std::string record(5000, 'x');
        for (int64_t i = 0; !ends.load(); ++i) file.write(record, i % 100 * 5000);
    });
    for (int number = 0; number < forks; ++number) {
        child_process child(files(), [&] {
            const std::string own = "child" + std::to_string(number);
            if (file.write(own, 1'000'000) != static_cast<ssize_t>(own.size())) return 1;
            if (file.read(own.size(), 1'000'000) != own) return 2;
            opened_file made(files(), path("made" + std::to_string(number)), O_CREAT | O_RDWR);
            return made.write("text", 0) == 4 && made.read(4, 0) == "text" ? 0 : 3;
        });
        ASSERT_EQ(child.result(), 0) << number;
    }
    ends = true;
    writer.join();
    EXPECT_EQ(file.read(7, 1'000'000), "child49");
}

TEST_F(log_threads, threads_open_write_and_close_files_of_one_directory) {
    constexpr int threads = 4;
    constexpr int rounds = 100;
    std::vector<std::thread> all;
    std::atomic<int> failures{0};
    all.reserve(threads);
    for (int thread = 0; thread < threads; ++thread) {
        all.emplace_back([&, thread] {
            const std::string one(1, static_cast<char>('a' + thread));
            for (int round = 0; round < rounds; ++round) {
                opened_file shared(files(), path("shared"), O_CREAT | O_RDWR);
                opened_file own(files(), path(one), O_CREAT | O_RDWR | O_TRUNC);
                failures += shared.write(one, round * threads + thread) == 1 ? 0 : 1;
                failures += own.write(one, 0) == 1 && own.read(5, 0) == one ? 0 : 1;
            }
        });
    }
    for (std::thread& each : all) each.join();
    EXPECT_EQ(failures.load(), 0);
    std::string expected;
    for (int round = 0; round < rounds; ++round) expected += "abcd";
    EXPECT_EQ(content("shared"), expected);
}

}  // namespace
}  // namespace halcyon::logfs
