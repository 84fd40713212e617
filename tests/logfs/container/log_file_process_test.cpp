#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <filesystem>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "for_writing.hpp"
#include "logfs/container/directory/open_mark.hpp"
#include "logfs/container/log_file.hpp"
#include "logfs/container/reading/held_view.hpp"
#include "plain_file.hpp"
#include "temporary_folder.hpp"

/// What else goes on in the process: threads, forks, signals, few descriptors, a umask.
namespace halcyon::logfs {
namespace {

namespace fs = std::filesystem;
using tests::as_bytes;
using tests::for_writing;

class log_file_in_a_process : public ::testing::Test {
  protected:
    /// As a process sees it that opens it now.
    std::string text() const {
        log_file file;
        const auto opened = file.open(path_, tests::identity(99), {});
        EXPECT_TRUE(opened.ok()) << opened.why().message;
        if (!opened) return {};
        tests::bytes data(static_cast<size_t>(file.size().value()));
        EXPECT_EQ(file.read(0, data).value(), static_cast<int64_t>(data.size()));
        return tests::as_text(data);
    }
    /// Waits for it: 0 if all went well there.
    static int end_of(pid_t child) {
        int status = 0;
        EXPECT_EQ(waitpid(child, &status, 0), child);
        return status;
    }

    halcyon::tests::temporary_folder folder_;
    std::string path_ = folder_.file("file");
};

TEST_F(log_file_in_a_process, is_shared_by_threads_that_read_and_write) {
    constexpr int threads = 4;
    constexpr int64_t writes = 500;
    log_file file;
    ASSERT_TRUE(file.open(path_, tests::identity(1), for_writing()).ok());
    std::atomic<int> wrong{0};
    std::vector<std::thread> all;
    for (int thread = 0; thread < threads; ++thread) {
        all.emplace_back([&, thread] {
            for (int64_t i = 0; i < writes; ++i) {
                const int64_t offset = (i * threads + thread) * 10;
                const std::string data(10, static_cast<char>('a' + (thread + i) % 26));
                tests::bytes back(10);
                const auto wrote = file.write(offset, as_bytes(data));
                const auto read = file.read(offset, back);
                const bool is_right = wrote.ok() && read.ok() && *read == 10 && tests::as_text(back) == data;
                if (!is_right || (i % 100 == 0 && (!file.refresh().ok() || !file.size().ok()))) ++wrong;
            }
        });
    }
    for (auto& each : all) each.join();
    EXPECT_EQ(wrong, 0);
    EXPECT_EQ(file.size().value(), threads * writes * 10);
}

TEST_F(log_file_in_a_process, is_the_parents_alone_when_it_forks_while_another_thread_writes) {
    constexpr int children = 20;
    log_file file;
    ASSERT_TRUE(file.open(path_, tests::identity(1), for_writing()).ok());
    std::atomic<bool> ends{false};
    std::atomic<int64_t> written{0};
    std::thread other([&] {
        for (int64_t i = 0; !ends; ++i) {
            file.write(1000 + i * 2, as_bytes("w")).value();
            written = i + 1;
        }
    });
    for (int64_t i = 0; i < children; ++i) {
        while (written < i * 50) sched_yield();
        file.hold();
        const pid_t child = fork();
        if (child == 0) {
            file.abandon();
            // The same object serves the child's own file, whatever its parent's threads were doing.
            const bool done = file.open(path_, tests::identity(100 + i), for_writing()).ok() &&
                              file.write(i, as_bytes("c")).ok() && file.close().ok();
            _exit(done ? 0 : 1);
        }
        file.let_go();
        EXPECT_EQ(end_of(child), 0);
    }
    ends = true;
    other.join();
    ASSERT_TRUE(file.close().ok());
    const std::string whole = text();
    EXPECT_EQ(whole.substr(0, children), std::string(children, 'c'));
    ASSERT_EQ(static_cast<int64_t>(whole.size()), 1000 + written * 2 - 1);
    for (int64_t i = 0; i < written; ++i) ASSERT_EQ(whole[static_cast<size_t>(1000 + i * 2)], 'w') << i;
}

/// A child that has not run yet, on a busy machine.
TEST_F(log_file_in_a_process, gives_its_locks_back_while_a_child_that_was_forked_off_has_not_forgotten_it) {
    opening how = for_writing();
    how.says_open = true;
    log_file file;
    ASSERT_TRUE(file.open(path_, tests::identity(1), how).ok());
    file.write(0, as_bytes("text")).value();
    tests::bytes read(1);
    ASSERT_EQ(file.read(0, read).value(), 1);
    int until[2];
    ASSERT_EQ(::pipe(until), 0);
    const pid_t child = fork();
    if (child == 0) {
        char byte = 0;
        ::close(until[1]);
        _exit(::read(until[0], &byte, 1) == 0 ? 0 : 1);
    }
    ::close(until[0]);
    const int marker = ::open((path_ + "/halcyon-container").c_str(), O_RDWR | O_CLOEXEC);
    const auto is_locked = [&](int64_t place) {
        const int locked = kernel_files().lock_part(marker, place, 1, true, false);
        if (locked == 0) kernel_files().unlock_part(marker, place, 1);
        return locked == -EAGAIN;
    };
    EXPECT_TRUE(is_locked(place_of_generation(0)));
    EXPECT_TRUE(is_locked(open_place));
    ASSERT_TRUE(file.close().ok());
    EXPECT_FALSE(is_locked(place_of_generation(0))) << "nothing that it read can be given back";
    EXPECT_FALSE(is_locked(open_place)) << "no plain file can take its place";
    ::close(marker);
    ::close(until[1]);
    EXPECT_EQ(end_of(child), 0);
}

std::atomic<int>* signals = nullptr;

TEST_F(log_file_in_a_process, waits_for_its_turn_to_append_whatever_signals_come) {
    void* const shared = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(shared, MAP_FAILED);
    signals = new (shared) std::atomic<int>(0);
    auto& is_held = *new (static_cast<char*>(shared) + 64) std::atomic<int>(0);
    log_file file;
    ASSERT_TRUE(file.open(path_, tests::identity(1), for_writing()).ok());
    file.append(as_bytes("first ")).value();
    const pid_t child = fork();
    if (child == 0) {
        const int fd = ::open((path_ + "/append-lock").c_str(), O_RDWR);
        struct flock whole {};
        whole.l_type = F_WRLCK;
        if (fd < 0 || ::fcntl(fd, F_OFD_SETLK, &whole) != 0) _exit(1);
        is_held = 1;
        // Until its parent has been interrupted often.
        while (*signals < 30) sched_yield();
        _exit(0);
    }
    while (is_held == 0) sched_yield();
    struct sigaction counts {};
    struct sigaction before {};
    counts.sa_handler = [](int) { ++*signals; };
    sigaction(SIGALRM, &counts, &before);  // without SA_RESTART
    const itimerval often{{0, 1000}, {0, 1000}};
    const itimerval never{};
    setitimer(ITIMER_REAL, &often, nullptr);
    const auto appended = file.append(as_bytes("second"));
    setitimer(ITIMER_REAL, &never, nullptr);
    sigaction(SIGALRM, &before, nullptr);
    if (!appended.ok()) kill(child, SIGKILL);  // it waits for more signals
    EXPECT_EQ(end_of(child), 0);
    ASSERT_TRUE(appended.ok()) << appended.why().message;
    EXPECT_GE(*signals, 30);
    EXPECT_EQ(text(), "first second");
    munmap(shared, 4096);
}

/// A process that may have few files open: what is read is closed for what has to be open.
TEST_F(log_file_in_a_process, finds_descriptors_for_what_it_has_to_do) {
    constexpr int64_t writers = 60;
    for (int64_t i = 0; i < writers; ++i) {
        log_file file;
        ASSERT_TRUE(file.open(path_, tests::identity(i), for_writing()).ok());
        file.write(i * 10, as_bytes("0123456789")).value();
    }
    const pid_t child = fork();
    if (child == 0) {
        const int next = ::open("/dev/null", O_RDONLY);
        ::close(next);
        const rlimit few{static_cast<rlim_t>(next) + 10, static_cast<rlim_t>(next) + 10};
        if (setrlimit(RLIMIT_NOFILE, &few) != 0) _exit(1);
        log_file file;
        if (!file.open(path_, tests::identity(100), for_writing()).ok()) _exit(2);
        tests::bytes data(static_cast<size_t>(writers * 10));
        // To open a dropping takes one more for a moment, of its folder: that is in use in between.
        int last = -1;
        const auto fill = [&] {
            if (last >= 0) ::close(last);
            const auto read = file.read(0, data);
            if (!read.ok() || *read < writers * 10 || file.reading()->files().size() < 3) _exit(3);
            last = ::open("/dev/null", O_RDONLY);
            // There is none left.
            const int another = ::open("/dev/null", O_RDONLY);
            if (another >= 0) _exit(4);
        };
        fill();
        if (!file.write(0, as_bytes("written")).ok()) _exit(5);
        fill();
        if (!file.append(as_bytes("appended")).ok()) _exit(6);
        fill();
        if (!file.sync().ok()) _exit(7);
        fill();
        if (!file.refresh().ok()) _exit(8);
        fill();
        _exit(file.close().ok() ? 0 : 9);
    }
    const int status = end_of(child);
    ASSERT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 0);
    const std::string whole = text();
    EXPECT_EQ(whole.substr(0, 10), "written789");
    EXPECT_EQ(whole.substr(writers * 10), "appended");
}

TEST_F(log_file_in_a_process, lets_others_use_what_it_made_whatever_its_umask) {
    const mode_t before = ::umask(0);
    opening how = for_writing();
    how.mode = 0664;
    log_file file;
    const auto opened = file.open(path_, tests::identity(1), how);
    ::umask(0077);
    const auto appended = opened.ok() ? file.append(as_bytes("x")) : opened.why();
    ::umask(before);
    ASSERT_TRUE(appended.ok()) << appended.why().message;
    int seen = 0;
    for (const auto& entry : fs::recursive_directory_iterator(path_)) {
        const std::string name = entry.path().filename().string();
        struct stat file_status {};
        ASSERT_EQ(::stat(entry.path().c_str(), &file_status), 0);
        const auto mode = file_status.st_mode & 0777;
        // Droppings are changed by their writers only.
        const bool is_dropping = name.starts_with("data.") || name.starts_with("index.");
        EXPECT_EQ(mode, entry.is_directory() ? 0775U : is_dropping ? 0644U : 0664U) << name;
        ++seen;
    }
    EXPECT_EQ(seen, 5);
}

}  // namespace
}  // namespace halcyon::logfs
