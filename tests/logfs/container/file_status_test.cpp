#include "logfs/container/directory/file_status.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <string>

#include "base/clock.hpp"
#include "logfs/container/log_file.hpp"
#include "logfs/container/tools/flatten.hpp"
#include "plain_file.hpp"
#include "temporary_folder.hpp"

namespace halcyon::logfs {
namespace {

using tests::as_bytes;

constexpr timespec stays{0, UTIME_OMIT};
constexpr timespec now{0, UTIME_NOW};
constexpr int64_t second_ns = 1'000'000'000;

int64_t ns_of(const timespec& time) {
    return time.tv_sec * second_ns + time.tv_nsec;
}

class file_status : public ::testing::Test {
  protected:
    void SetUp() override {
        opening how;
        how.may_write = how.creates = true;
        one_.open(path_, tests::identity(1), how).value();
        other_.open(path_, tests::identity(2), how).value();
    }
    static struct stat of(log_file& file) {
        struct stat out {};
        file.refresh().value();
        file.status(out).value();
        return out;
    }
    static void set(log_file& file, const timespec& accessed, const timespec& modified) {
        const timespec both[2] = {accessed, modified};
        file.set_times(both).value();
    }

    halcyon::tests::temporary_folder folder_;
    std::string path_ = folder_.file("file");
    log_file one_;
    log_file other_;
};

TEST_F(file_status, is_that_of_a_file) {
    one_.write(5, as_bytes("text")).value();
    one_.set_mode(0640).value();
    struct stat directory {};
    ASSERT_EQ(::stat(path_.c_str(), &directory), 0);
    const struct stat found = of(other_);
    EXPECT_EQ(found.st_mode, S_IFREG | 0640U);
    EXPECT_EQ(found.st_size, 9);
    EXPECT_EQ(found.st_blocks, 1);
    EXPECT_EQ(found.st_nlink, 1U);
    EXPECT_EQ(found.st_ino, directory.st_ino);
    EXPECT_EQ(found.st_dev, directory.st_dev);
}

TEST_F(file_status, time_of_modification_is_that_of_the_last_write) {
    const int64_t begin = realtime_ns();
    one_.write(0, as_bytes("text")).value();
    const int64_t end = realtime_ns();
    for (log_file* const file : {&one_, &other_}) {
        EXPECT_GE(ns_of(of(*file).st_mtim), begin);
        EXPECT_LE(ns_of(of(*file).st_mtim), end);
        EXPECT_GE(ns_of(of(*file).st_ctim), begin);
    }
}

TEST_F(file_status, given_times_hold_for_all_until_somebody_writes) {
    one_.write(0, as_bytes("text")).value();
    set(one_, {1000, 1}, {2000, 999'999'999});
    for (log_file* const file : {&one_, &other_}) {
        EXPECT_EQ(ns_of(of(*file).st_atim), 1000 * second_ns + 1);
        EXPECT_EQ(ns_of(of(*file).st_mtim), 2001 * second_ns - 1);
        EXPECT_GT(ns_of(of(*file).st_ctim), 2001 * second_ns);
    }
    const int64_t begin = realtime_ns();
    other_.write(0, as_bytes("m")).value();
    other_.settle().value();
    for (log_file* const file : {&one_, &other_}) {
        EXPECT_EQ(ns_of(of(*file).st_atim), 1000 * second_ns + 1);
        EXPECT_GE(ns_of(of(*file).st_mtim), begin);
    }
    set(other_, stays, {3000, 0});
    one_.write(1, as_bytes("o")).value();
    EXPECT_GE(ns_of(of(one_).st_mtim), begin) << "the writer that wrote before them writes after them";
}

TEST_F(file_status, given_times_hold_where_nothing_was_written) {
    set(one_, {1000, 0}, {-5, 500'000'000});
    EXPECT_EQ(ns_of(of(other_).st_mtim), -5 * second_ns + 500'000'000);
    EXPECT_EQ(of(other_).st_mtim.tv_sec, -5);
}

TEST_F(file_status, a_time_that_is_left_out_stays) {
    one_.write(0, as_bytes("text")).value();
    const int64_t written = ns_of(of(one_).st_mtim);
    set(one_, {1000, 0}, stays);
    EXPECT_EQ(ns_of(of(other_).st_mtim), written);
    EXPECT_EQ(of(other_).st_atim.tv_sec, 1000);
    set(other_, stays, {2000, 0});
    EXPECT_EQ(of(one_).st_atim.tv_sec, 1000);
    EXPECT_EQ(of(one_).st_mtim.tv_sec, 2000);
    set(other_, stays, stays);
    EXPECT_EQ(of(one_).st_mtim.tv_sec, 2000);
    const int64_t begin = realtime_ns();
    set(one_, now, now);
    EXPECT_GE(ns_of(of(other_).st_atim), begin);
    EXPECT_GE(ns_of(of(other_).st_mtim), begin);
}

TEST_F(file_status, times_are_those_of_the_plain_file_that_is_made_of_it) {
    const auto flattened = [&] {
        container from;
        from.open(path_).value();
        flatten(from, folder_.file("flat")).value();
        struct stat made {};
        EXPECT_EQ(::stat(folder_.file("flat").c_str(), &made), 0);
        return made;
    };
    one_.write(0, as_bytes("text")).value();
    set(one_, {1000, 5}, {2000, 6});
    EXPECT_EQ(ns_of(flattened().st_atim), 1000 * second_ns + 5);
    EXPECT_EQ(ns_of(flattened().st_mtim), 2000 * second_ns + 6);
    one_.write(0, as_bytes("more")).value();
    one_.settle().value();
    EXPECT_EQ(ns_of(flattened().st_mtim), ns_of(of(one_).st_mtim));
}

TEST_F(file_status, modes_do_not_change_times) {
    one_.write(0, as_bytes("text")).value();
    const int64_t written = ns_of(of(one_).st_mtim);
    one_.set_mode(0600).value();
    EXPECT_EQ(ns_of(of(one_).st_mtim), written);
    set(one_, {1000, 0}, {2000, 0});
    one_.set_mode(0644).value();
    EXPECT_EQ(of(one_).st_mtim.tv_sec, 2000);
}

/// In a process of another user, who may do with files what their modes say.
template <class Work>
int as_other_user(Work work) {
    constexpr uid_t nobody = 65534;
    const pid_t child = ::fork();
    if (child == 0) {
        if (::setgid(nobody) != 0 || ::setuid(nobody) != 0) ::_exit(100);
        ::_exit(work());
    }
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST_F(file_status, times_are_for_the_owner_to_set_and_now_is_for_all_that_may_write) {
    if (::geteuid() != 0) GTEST_SKIP() << "only root becomes another user";
    std::filesystem::permissions(folder_.path(), std::filesystem::perms(0755));
    one_.write(0, as_bytes("text")).value();
    one_.set_mode(0644).value();
    const auto set_times_to = [&](const timespec& time) {
        const timespec both[2] = {time, time};
        container of;
        if (!of.open(path_)) return 101;
        const auto done = set_times(of, {4, realtime_ns()}, both);
        return done.ok() ? 0 : done.why().system_errno;
    };
    EXPECT_EQ(as_other_user([&] { return set_times_to({1000, 0}); }), EPERM);
    EXPECT_EQ(as_other_user([&] { return set_times_to(now); }), EACCES);
    one_.set_mode(0666).value();
    EXPECT_EQ(as_other_user([&] { return set_times_to({1000, 0}); }), EPERM);
    set(one_, {1000, 0}, {2000, 0});
    EXPECT_EQ(as_other_user([&] { return set_times_to(now); }), 0);
    EXPECT_GT(of(one_).st_mtim.tv_sec, 2000);
}

}  // namespace
}  // namespace halcyon::logfs
