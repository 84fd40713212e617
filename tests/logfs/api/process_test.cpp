#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "api_test.hpp"

/// What else goes on in the process: threads and forks.
namespace halcyon::logfs::tests {
namespace {

namespace fs = std::filesystem;

class in_a_process : public api_test {
  protected:
    static int end_of(pid_t child) {
        int status = -1;
        EXPECT_EQ(waitpid(child, &status, 0), child);
        return status;
    }
    static size_t open_descriptors() {
        return static_cast<size_t>(std::distance(fs::directory_iterator("/proc/self/fd"), fs::directory_iterator()));
    }
};

TEST_F(in_a_process, threads_share_a_handle) {
    constexpr int threads = 4;
    constexpr int64_t writes = 300;
    opened file(path_);
    std::atomic<int> wrong{0};
    std::vector<std::thread> all;
    for (int64_t thread = 0; thread < threads; ++thread) {
        all.emplace_back([&, thread] {
            const std::string text(10, static_cast<char>('a' + thread));
            for (int64_t i = 0; i < writes; ++i) {
                std::string back(10, '?');
                const int64_t offset = (i * threads + thread) * 10;
                const bool is_right =
                    halcyon_logfs_pwrite(file, text.data(), text.size(), offset, nullptr) == HALCYON_OK &&
                    halcyon_logfs_pread(file, back.data(), back.size(), offset, nullptr) == HALCYON_OK && back == text;
                if (!is_right) ++wrong;
            }
        });
    }
    for (auto& each : all) each.join();
    EXPECT_EQ(wrong, 0);
    EXPECT_EQ(file.size(), threads * writes * 10);
}

/// What a call writes that went well is in the file; each later one is refused.
TEST_F(in_a_process, a_close_waits_for_the_calls_of_other_threads_and_refuses_later_ones) {
    constexpr int rounds = 10;
    for (int round = 0; round < rounds; ++round) {
        halcyon_logfs_handle h = nullptr;
        ASSERT_TRUE(went_well(halcyon_logfs_open(path_.c_str(), for_both | HALCYON_LOGFS_TRUNCATE, nullptr, &h)));
        std::array<std::atomic<int64_t>, 2> written{};
        std::array<int, 2> end{};
        std::vector<std::thread> all;
        for (size_t thread = 0; thread < written.size(); ++thread) {
            all.emplace_back([&, thread, h] {
                int64_t i = 0;
                while ((end[thread] = halcyon_logfs_pwrite(h, "w", 1, i * 2 + static_cast<int64_t>(thread), nullptr)) ==
                       HALCYON_OK)
                    written[thread] = ++i;
            });
        }
        while (written[0] < 20 || written[1] < 20) sched_yield();
        EXPECT_TRUE(went_well(halcyon_logfs_close(&h)));
        for (auto& each : all) each.join();
        EXPECT_EQ(end, (std::array<int, 2>{HALCYON_ERROR_USAGE, HALCYON_ERROR_USAGE}));
        const std::string text = text_of(path_);
        EXPECT_EQ(std::count(text.begin(), text.end(), 'w'), written[0] + written[1]);
    }
}

TEST_F(in_a_process, a_child_has_none_of_its_parents_handles_and_opens_the_container_itself) {
    const size_t before = open_descriptors();
    opened file(path_);
    file.write("parent", 0);
    const pid_t child = fork();
    if (child == 0) {
        halcyon_logfs_handle copy = file;
        char byte = '?';
        const std::string parents = "this process was forked off the one that opened the container";
        bool is_right = open_descriptors() == before &&
                        failed(halcyon_logfs_pread(file, &byte, 1, 0, nullptr), HALCYON_ERROR_USAGE, EBADF, parents) &&
                        failed(halcyon_logfs_close(&copy), HALCYON_ERROR_USAGE, EBADF, parents) && copy == file;
        halcyon_logfs_handle own = nullptr;
        is_right = is_right && halcyon_logfs_open(path_.c_str(), for_both, nullptr, &own) == HALCYON_OK &&
                   own != copy && halcyon_logfs_pwrite(own, "child", 5, 10, nullptr) == HALCYON_OK &&
                   halcyon_logfs_close(&own) == HALCYON_OK;
        // A grandchild knows of both.
        const pid_t grandchild = is_right ? fork() : -1;
        if (grandchild == 0) _exit(failed(halcyon_logfs_sync(file), HALCYON_ERROR_USAGE, EBADF, parents) ? 0 : 1);
        _exit(is_right && end_of(grandchild) == 0 ? 0 : 1);
    }
    EXPECT_EQ(end_of(child), 0);
    file.write("PARENT", 20);
    file.close();
    EXPECT_EQ(text_of(path_), std::string("parent\0\0\0\0child\0\0\0\0\0PARENT", 26));
}

TEST_F(in_a_process, a_fork_comes_between_no_call_of_another_thread) {
    constexpr int children = 20;
    opened file(path_);
    std::atomic<bool> ends{false};
    std::atomic<int64_t> written{0};
    std::thread other([&] {
        for (int64_t i = 0; !ends; ++i) {
            file.write("w", 1000 + i);
            written = i + 1;
        }
    });
    for (int64_t i = 0; i < children; ++i) {
        while (written < i * 50) sched_yield();
        const pid_t child = fork();
        if (child == 0) {
            halcyon_logfs_handle own = nullptr;
            const bool is_right = halcyon_logfs_open(path_.c_str(), for_both, nullptr, &own) == HALCYON_OK &&
                                  halcyon_logfs_pwrite(own, "c", 1, i, nullptr) == HALCYON_OK &&
                                  halcyon_logfs_close(&own) == HALCYON_OK;
            if (!is_right) std::cerr << "child " << i << ": " << halcyon_logfs_error_message() << '\n';
            _exit(is_right ? 0 : 1);
        }
        EXPECT_EQ(end_of(child), 0);
    }
    ends = true;
    other.join();
    file.close();
    const std::string text = text_of(path_);
    EXPECT_EQ(text.substr(0, children), std::string(children, 'c'));
    EXPECT_EQ(text.substr(1000), std::string(static_cast<size_t>(written), 'w'));
}

/// Somebody waits for a lock of this file.
bool is_waited_for(const std::string& path) {
    struct stat there {};
    if (stat(path.c_str(), &there) != 0) return false;
    std::ifstream locks("/proc/locks");
    for (std::string line; std::getline(locks, line);)
        if (line.find("->") != std::string::npos &&
            line.find(":" + std::to_string(there.st_ino) + " ") != std::string::npos)
            return true;
    return false;
}

bool is_asleep(pid_t thread) {
    const std::string status = text_of_file("/proc/self/task/" + std::to_string(thread) + "/stat");
    return status.find(") S ") != std::string::npos;
}

/// The child sees what the call has done: half of it would be left in its memory otherwise.
TEST_F(in_a_process, a_fork_waits_for_a_call_that_is_under_way) {
    if (!fs::exists("/proc/locks")) GTEST_SKIP() << "nobody says who waits for a lock";
    opened file(path_);
    ASSERT_TRUE(went_well(halcyon_logfs_append(file, "one ", 4, nullptr, nullptr)));
    const std::string lock = path_ + "/append-lock";
    const int held = open(lock.c_str(), O_RDWR | O_CLOEXEC);
    struct flock whole {};
    whole.l_type = F_WRLCK;
    ASSERT_EQ(fcntl(held, F_OFD_SETLK, &whole), 0);
    std::thread appends([&] { EXPECT_TRUE(went_well(halcyon_logfs_append(file, "two", 3, nullptr, nullptr))); });
    while (!is_waited_for(lock)) sched_yield();
    std::atomic<pid_t> forking{0};
    std::atomic<bool> is_done{false};
    int end = -1;
    std::thread forks([&] {
        forking = gettid();
        const pid_t child = fork();
        if (child == 0) _exit(text_of(path_) == "one two" ? 0 : 1);
        is_done = true;
        end = end_of(child);
    });
    while (!is_done && (forking == 0 || !is_asleep(forking))) sched_yield();
    EXPECT_FALSE(is_done);
    whole.l_type = F_UNLCK;
    EXPECT_EQ(fcntl(held, F_OFD_SETLK, &whole), 0);
    appends.join();
    forks.join();
    close(held);
    EXPECT_EQ(end, 0);
}

/// One that nobody closed: as after a kill, nothing of what was written is missing.
TEST_F(in_a_process, that_ends_without_a_close_has_written_what_its_calls_wrote) {
    const pid_t child = fork();
    if (child == 0) {
        halcyon_logfs_handle h = nullptr;
        const bool is_right = halcyon_logfs_open(path_.c_str(), for_both, nullptr, &h) == HALCYON_OK &&
                              halcyon_logfs_pwrite(h, "text", 4, 0, nullptr) == HALCYON_OK;
        kill(getpid(), is_right ? SIGKILL : SIGTERM);
    }
    EXPECT_EQ(end_of(child), SIGKILL);
    EXPECT_EQ(text_of(path_), "text");
}

TEST_F(in_a_process, handles_are_given_back) {
    const size_t before = open_descriptors();
    for (int i = 0; i < 600; ++i) {
        opened file(path_);
        if (i % 100 == 0) file.write("text", 0);
    }
    EXPECT_EQ(open_descriptors(), before);
    std::vector<halcyon_logfs_handle> many(100);
    for (auto& each : many) ASSERT_TRUE(went_well(halcyon_logfs_open(path_.c_str(), for_both, nullptr, &each)));
    std::vector<halcyon_logfs_handle> sorted = many;
    std::sort(sorted.begin(), sorted.end());
    EXPECT_EQ(std::unique(sorted.begin(), sorted.end()), sorted.end());
    for (auto& each : many) EXPECT_TRUE(went_well(halcyon_logfs_close(&each)));
    EXPECT_EQ(open_descriptors(), before);
}

}  // namespace
}  // namespace halcyon::logfs::tests
