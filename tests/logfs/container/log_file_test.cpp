#include "logfs/container/log_file.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "for_writing.hpp"
#include "named_files.hpp"
#include "plain_file.hpp"
#include "temporary_folder.hpp"

namespace halcyon::logfs {
namespace {

namespace fs = std::filesystem;
using tests::as_bytes;
using tests::for_writing;

std::string text_of(log_file& from) {
    tests::bytes data(static_cast<size_t>(from.size().value()));
    EXPECT_EQ(from.read(0, data).value(), static_cast<int64_t>(data.size()));
    return tests::as_text(data);
}

class log_files : public ::testing::Test {
  protected:
    halcyon::tests::temporary_folder folder_;
    std::string path_ = folder_.file("file");
};

TEST_F(log_files, reads_see_the_own_writes_at_once) {
    log_file file;
    ASSERT_TRUE(file.open(path_, tests::identity(1), for_writing()).ok());
    EXPECT_EQ(text_of(file), "");
    file.write(0, as_bytes("hello")).value();
    EXPECT_EQ(text_of(file), "hello");
    file.truncate(2).value();
    EXPECT_EQ(text_of(file), "he");
    file.erase(0, 1).value();
    EXPECT_EQ(text_of(file), std::string("\0e", 2));
    file.reach(3).value();
    EXPECT_EQ(file.size().value(), 3);
    EXPECT_EQ(file.next_data(0).value(), 1);
    EXPECT_EQ(file.next_hole(1).value(), 2);
}

TEST_F(log_files, reads_see_the_writes_of_others_after_a_refresh) {
    log_file one;
    log_file other;
    ASSERT_TRUE(one.open(path_, tests::identity(1), for_writing()).ok());
    ASSERT_TRUE(other.open(path_, tests::identity(2), for_writing()).ok());
    one.write(0, as_bytes("hello")).value();
    EXPECT_EQ(text_of(other), "");
    other.refresh().value();
    EXPECT_EQ(text_of(other), "hello");
    other.write(1, as_bytes("u")).value();
    one.refresh().value();
    EXPECT_EQ(text_of(one), "hullo");
}

TEST_F(log_files, how_it_is_opened_says_what_may_be_done) {
    log_file file;
    opening how;
    EXPECT_EQ(file.open(path_, tests::identity(1), how).why().system_errno, ENOENT);
    how = for_writing();
    how.is_exclusive = true;
    ASSERT_TRUE(file.open(path_, tests::identity(1), how).ok());
    EXPECT_EQ(file.open(path_, tests::identity(1), how).why().kind, error_kind::usage);
    file.write(0, as_bytes("hello")).value();
    log_file again;
    EXPECT_EQ(again.open(path_, tests::identity(2), how).why().system_errno, EEXIST);
    how.is_exclusive = false;
    how.may_read = false;
    how.truncates = true;
    ASSERT_TRUE(again.open(path_, tests::identity(2), how).ok());
    tests::bytes buffer(5);
    EXPECT_EQ(again.read(0, buffer).why().system_errno, EBADF);
    again.close().value();
    opening reading;
    ASSERT_TRUE(again.open(path_, tests::identity(2), reading).ok());
    EXPECT_EQ(again.size().value(), 0);
    EXPECT_EQ(again.write(0, as_bytes("x")).why().system_errno, EBADF);
    EXPECT_EQ(again.truncate(0).why().system_errno, EBADF);
    again.close().value();
    std::ofstream(folder_.file("plain")) << "text";
    EXPECT_EQ(again.open(folder_.file("plain"), tests::identity(2), for_writing()).why().kind, error_kind::usage);
}

TEST_F(log_files, calls_on_one_that_is_not_open_are_refused) {
    log_file file;
    const auto expect_closed = [&] {
        tests::bytes buffer(5);
        EXPECT_EQ(file.read(0, buffer).why().system_errno, EBADF);
        EXPECT_EQ(file.write(0, as_bytes("x")).why().system_errno, EBADF);
        EXPECT_EQ(file.append(as_bytes("x")).why().system_errno, EBADF);
        EXPECT_EQ(file.truncate(0).why().system_errno, EBADF);
        EXPECT_EQ(file.size().why().system_errno, EBADF);
        EXPECT_EQ(file.next_data(0).why().system_errno, EBADF);
        EXPECT_EQ(file.next_hole(0).why().system_errno, EBADF);
        EXPECT_EQ(file.refresh().why().system_errno, EBADF);
        EXPECT_EQ(file.settle().why().system_errno, EBADF);
        EXPECT_EQ(file.raise_epoch(1).why().system_errno, EBADF);
        EXPECT_EQ(file.sync().why().system_errno, EBADF);
    };
    expect_closed();
    ASSERT_TRUE(file.open(path_, tests::identity(1), for_writing()).ok());
    file.write(0, as_bytes("hello")).value();
    ASSERT_TRUE(file.close().ok());
    expect_closed();
    ASSERT_TRUE(file.open(path_, tests::identity(1), for_writing()).ok());
    EXPECT_EQ(text_of(file), "hello");
}

TEST_F(log_files, what_was_created_here_is_synced_without_a_write_too) {
    tests::named_files calls;
    log_file file(calls);
    ASSERT_TRUE(file.open(path_, tests::identity(1), for_writing()).ok());
    calls.noted.clear();
    ASSERT_TRUE(file.sync().ok());
    EXPECT_EQ(calls.take_syncs(), (std::vector<std::string>{"halcyon-container", ".", ".."}));
    ASSERT_TRUE(file.sync().ok());
    EXPECT_TRUE(calls.take_syncs().empty());
    file.close().value();
    ASSERT_TRUE(file.open(path_, tests::identity(1), for_writing()).ok());
    calls.noted.clear();
    ASSERT_TRUE(file.sync().ok());
    EXPECT_TRUE(calls.take_syncs().empty());
}

TEST_F(log_files, opening_without_writing_creates_no_droppings) {
    log_file file;
    ASSERT_TRUE(file.open(path_, tests::identity(1), for_writing()).ok());
    file.close().value();
    size_t names = 0;
    for ([[maybe_unused]] const auto& each : fs::recursive_directory_iterator(path_)) ++names;
    EXPECT_EQ(names, 1U);
}

/// Every line of every process is there once, whole, and none lies over another.
TEST_F(log_files, appends_of_several_processes_keep_out_of_each_others_way) {
    constexpr int processes = 4;
    constexpr int lines = 300;
    {
        log_file made;
        ASSERT_TRUE(made.open(path_, tests::identity(99), for_writing()).ok());
        made.write(0, as_bytes("begin\n")).value();
    }
    for (int process = 0; process < processes; ++process) {
        if (fork() == 0) {
            log_file file;
            if (!file.open(path_, tests::identity(process), for_writing()).ok()) _exit(1);
            for (int i = 0; i < lines; ++i) {
                const std::string line = std::to_string(process) + " " + std::to_string(i) + "\n";
                const auto done = file.append(as_bytes(line));
                if (!done.ok() || done->bytes != static_cast<int64_t>(line.size())) _exit(2);
            }
            _exit(file.close().ok() ? 0 : 3);
        }
    }
    for (int i = 0; i < processes; ++i) {
        int status = 0;
        wait(&status);
        ASSERT_EQ(status, 0);
    }
    log_file file;
    ASSERT_TRUE(file.open(path_, tests::identity(1), {}).ok());
    std::istringstream text(text_of(file));
    std::map<int, int> next;
    std::string line;
    std::getline(text, line);
    EXPECT_EQ(line, "begin");
    while (std::getline(text, line)) {
        int process = 0;
        int number = 0;
        ASSERT_EQ(std::sscanf(line.c_str(), "%d %d", &process, &number), 2) << line;
        ASSERT_EQ(next[process]++, number);
    }
    for (int process = 0; process < processes; ++process) EXPECT_EQ(next[process], lines);
}

TEST_F(log_files, a_forked_child_leaves_the_parents_file_alone) {
    log_file file;
    ASSERT_TRUE(file.open(path_, tests::identity(1), for_writing()).ok());
    file.write(0, as_bytes("parent")).value();
    const pid_t child = fork();
    if (child == 0) {
        file.abandon();
        log_file own;
        const bool done = own.open(path_, tests::identity(2), for_writing()).ok() && own.write(6, as_bytes("!")).ok() &&
                          own.close().ok();
        _exit(done ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
    file.write(7, as_bytes("?")).value();
    file.refresh().value();
    EXPECT_EQ(text_of(file), "parent!?");
}

}  // namespace
}  // namespace halcyon::logfs
