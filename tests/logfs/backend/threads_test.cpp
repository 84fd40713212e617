#include <pthread.h>
#include <setjmp.h>
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

class log_threads : public log_test {
  protected:
    /// While it lives, the handler of a signal.
    class handler {
      public:
        handler(int signal, void (*does)(int)) : signal_(signal) {
            struct sigaction action {};
            action.sa_handler = does;
            EXPECT_EQ(sigaction(signal, &action, &before_), 0);
        }
        ~handler() { sigaction(signal_, &before_, nullptr); }
        handler(const handler&) = delete;
        handler& operator=(const handler&) = delete;

      private:
        int signal_;
        struct sigaction before_ {};
    };

    /// Of each that is told to have ended or not.
    [[nodiscard]] int writers_of(const std::string& name) const {
        int indexes = 0;
        for (const auto& entry : std::filesystem::recursive_directory_iterator(real(name)))
            indexes += entry.path().filename().string().starts_with("index.") ? 1 : 0;
        return indexes;
    }
    /// The signal comes once, so much later.
    static void signal_in(int microseconds) {
        const itimerval once{{0, 0}, {0, microseconds}};
        ASSERT_EQ(setitimer(ITIMER_REAL, &once, nullptr), 0);
    }
};

/// The text of a line of 8 characters.
struct line {
    explicit line(int number) { snprintf(text, sizeof text, "%07d\n", number); }
    char text[16];  // of which 8, and a zero, are the line
};

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
    const handler appends(SIGUSR1, append_in_handler);
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
    EXPECT_EQ(handled.load(), signals);
    EXPECT_EQ(file.size(), appended.load() + signals);
}

std::atomic<int> failed_in_handler{0};

/// Counts up the number in the file's first line.
void count_in_handler(int) {
    log_backend& files = mounted_log::of_process().files();
    char number[9] = {};
    const iovec old{number, 8};
    if (files.read(written_by_handler->handle(), &old, 1, 0) != 8) ++failed_in_handler;
    line next(atoi(number) + 1);
    const iovec fresh{next.text, 8};
    if (files.write(written_by_handler->handle(), &fresh, 1, 0) != 8) ++failed_in_handler;
    handled.fetch_add(1);
}

TEST_F(log_threads, a_handler_reads_and_writes_the_file_that_its_thread_is_in_the_middle_of) {
    constexpr int signals = 300;
    opened_file file(files(), path("f"), O_CREAT | O_RDWR);
    ASSERT_EQ(file.write(line(0).text, 0), 8);
    written_by_handler = &file;
    handled = failed_in_handler = 0;
    const handler counts(SIGUSR1, count_in_handler);
    std::atomic<bool> ends{false};
    std::atomic<int> lines{0};
    std::thread writer([&] {
        while (!ends.load()) {
            line next(lines.load() + 1);
            if (file.write(next.text, 8 * (lines.load() + 1)) != 8) ++failed_in_handler;
            ++lines;
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
    EXPECT_EQ(failed_in_handler.load(), 0);
    EXPECT_EQ(file.read(8, 0), line(signals).text);
    for (int number = 1; number <= lines.load(); ++number)
        ASSERT_EQ(file.read(8, 8 * int64_t{number}), line(number).text) << number;
    EXPECT_GT(writers_of("f"), 1) << "no handler came while its thread was in the middle of a write";
    EXPECT_EQ(file.write(line(7).text, 0), 8);
    EXPECT_EQ(file.read(8, 0), line(7).text) << "what is written last counts, also over what handlers wrote";
}

sigjmp_buf out_of_handler;

/// As the wrapper of siglongjmp does it.
void jump_in_handler(int) {
    mounted_log::of_process().files().calls_left();
    siglongjmp(out_of_handler, 1);
}

TEST_F(log_threads, a_handler_that_jumps_out_of_a_write_leaves_the_file_to_all) {
    constexpr int rounds = 100;
    opened_file file(files(), path("f"), O_CREAT | O_RDWR);
    const handler jumps(SIGALRM, jump_in_handler);
    volatile int lines = 0;
    volatile int round = 0;
    while (round < rounds) {
        if (sigsetjmp(out_of_handler, 1) == 0) {
            signal_in(200 + 7 * round);
            for (;;) {  // nothing that a jump could leave in the middle of malloc
                line next(lines);
                const iovec piece{next.text, 8};
                if (files().write(file.handle(), &piece, 1, 8 * int64_t{lines}) != 8) abort();
                lines = lines + 1;
            }
        }
        std::thread other([&] { EXPECT_EQ(file.write("other\n", 8'000'000), 6); });
        other.join();
        round = round + 1;
    }
    EXPECT_GT(writers_of("f"), 1) << "no handler came in the middle of a write";
    EXPECT_EQ(file.read(6, 8'000'000), "other\n");
    for (int number = 0; number < lines; ++number)
        ASSERT_EQ(file.read(8, 8 * int64_t{number}), line(number).text) << number;
}

calls::file_backend::handle closed_by_handler = 0;

void close_in_handler(int) {
    mounted_log::of_process().files().close(closed_by_handler);
    handled.fetch_add(1);
}

TEST_F(log_threads, a_handler_may_close_the_file_that_its_thread_is_writing_to) {
    constexpr int rounds = 100;
    const handler closes(SIGALRM, close_in_handler);
    int lines = 0;
    for (int round = 0; round < rounds; ++round) {
        handled = 0;
        ASSERT_EQ(files().open(path("f").c_str(), O_CREAT | O_RDWR, 0644, closed_by_handler), 0);
        signal_in(100 + 7 * round);
        while (handled.load() == 0) {
            line next(lines);
            const iovec piece{next.text, 8};
            const ssize_t written = files().write(closed_by_handler, &piece, 1, 8 * int64_t{lines});
            if (written == 8)
                ++lines;
            else
                ASSERT_NE(handled.load(), 0) << written;
        }
    }
    opened_file file(files(), path("f"), O_RDONLY);
    EXPECT_EQ(file.size(), 8 * int64_t{lines});
    for (int number = 0; number < lines; ++number)
        ASSERT_EQ(file.read(8, 8 * int64_t{number}), line(number).text) << number;
}

/// Several writers: some have found the file open, and wait for the one that is in a write, when it is closed.
TEST_F(log_threads, a_file_that_another_thread_closes_is_written_to_or_closed) {
    constexpr int rounds = 100;
    constexpr int writers = 4;
    std::atomic<calls::file_backend::handle> shared{0};
    std::atomic<int> written[writers] = {};
    std::atomic<int> late{0};
    std::atomic<bool> ends{false};
    const auto number_of = [](int writer, int index) { return writers * index + writer; };
    std::vector<std::thread> all;
    for (int self = 0; self < writers; ++self)
        all.emplace_back([&, self] {
            while (!ends.load()) {
                const calls::file_backend::handle now = shared.load();
                if (now == 0) continue;
                const int number = number_of(self, written[self].load());
                line next(number);
                const iovec piece{next.text, 8};
                const ssize_t done = files().write(now, &piece, 1, 8 * int64_t{number});
                if (done == 8)
                    ++written[self];
                else if (done == -EBADF)
                    ++late;
                else
                    ADD_FAILURE() << done;
            }
        });
    for (int round = 0; round < rounds; ++round) {
        calls::file_backend::handle opened = 0;
        ASSERT_EQ(files().open(path("f").c_str(), O_CREAT | O_RDWR, 0644, opened), 0);
        shared = opened;
        const int before = written[0].load();
        while (written[0].load() == before) sched_yield();
        files().close(opened);
    }
    ends = true;
    for (std::thread& writer : all) writer.join();
    EXPECT_GT(late.load(), 0);
    opened_file file(files(), path("f"), O_RDONLY);
    for (int writer = 0; writer < writers; ++writer) {
        for (int index = 0; index < written[writer].load(); ++index) {
            const int number = number_of(writer, index);
            ASSERT_EQ(file.read(8, 8 * int64_t{number}), line(number).text) << number;
        }
    }
}

TEST_F(log_threads, a_file_that_another_thread_closes_is_opened_again_or_not) {
    constexpr int rounds = 100;
    constexpr int askers = 3;
    put("f", "text");
    std::atomic<calls::file_backend::handle> shared{0};
    std::atomic<int> asked{0};
    std::atomic<bool> ends{false};
    std::vector<std::thread> all;
    for (int self = 0; self < askers; ++self)
        all.emplace_back([&] {
            while (!ends.load()) {
                const calls::file_backend::handle now = shared.load();
                if (now == 0) continue;
                calls::data_places places{};
                files().say_places(now, places);
                calls::file_backend::handle again = 0;
                const int opened = files().open_again(now, O_RDWR, again);
                if (opened == 0)
                    files().close(again);
                else if (opened != -EBADF)
                    ADD_FAILURE() << opened;
                struct stat state {};
                const int looked = files().stat(now, state);
                if (looked == 0 ? !S_ISREG(state.st_mode) : looked != -EBADF) ADD_FAILURE() << looked;
                ++asked;
            }
        });
    for (int round = 0; round < rounds; ++round) {
        calls::file_backend::handle opened = 0;
        ASSERT_EQ(files().open(path("f").c_str(), O_RDWR, 0, opened), 0);
        shared = opened;
        const int before = asked.load();
        while (asked.load() < before + 2) sched_yield();
        files().close(opened);
    }
    ends = true;
    for (std::thread& each : all) each.join();
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

TEST_F(log_threads, a_fork_while_another_thread_opens_and_closes_files_leaves_the_child_all_it_needs) {
    constexpr int forks = 60;
    constexpr int many = 12;  // some of them rest
    const auto name = [](int number) { return "f" + std::to_string(number % many); };
    for (int number = 0; number < many; ++number) put(name(number), "text");
    std::atomic<bool> ends{false};
    std::atomic<int> failed{0};
    std::thread other([&] {
        for (int number = 0; !ends.load(); ++number) failed += content(name(number)) == "text" ? 0 : 1;
    });
    for (int number = 0; number < forks; ++number) {
        child_process child(files(), [&] {
            for (int each = 0; each < many; ++each)
                if (content(name(each)) != "text") return 1;
            return 0;
        });
        failed += child.result() == 0 ? 0 : 1;
    }
    ends = true;
    other.join();
    EXPECT_EQ(failed.load(), 0);
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
