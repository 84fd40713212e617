#include "logfs/container/directory/access.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "logfs/container/directory/file_times.hpp"
#include "logfs/container/log_file.hpp"
#include "logfs/container/tools/check.hpp"
#include "plain_file.hpp"
#include "temporary_folder.hpp"

namespace halcyon::logfs {
namespace {

namespace fs = std::filesystem;

class container_access : public ::testing::Test {
  protected:
    /// A container of one writer that has closed.
    void SetUp() override {
        const mode_t before = ::umask(077);
        log_file file;
        opening how;
        how.may_write = how.creates = true;
        how.mode = 0600;
        file.open(path_, tests::identity(1), how).value();
        file.write(0, tests::as_bytes("hello")).value();
        file.close().value();
        ::umask(before);
        in_.open(path_).value();
    }
    static mode_t mode_of(const fs::path& path) {
        struct stat status {};
        EXPECT_EQ(::stat(path.c_str(), &status), 0) << path;
        return status.st_mode & 07777;
    }

    halcyon::tests::temporary_folder folder_;
    std::string path_ = folder_.file("file");
    container in_;
};

TEST_F(container_access, who_the_mode_lets_in_may_use_all_parts) {
    for (const auto& each : fs::recursive_directory_iterator(path_))
        ASSERT_EQ(mode_of(each.path()) & 0077, 0U) << each.path();
    set_mode(in_, 0640).value();
    EXPECT_EQ(mode_of(path_ + "/halcyon-container"), 0640U);
    EXPECT_EQ(mode_of(path_), 0750U);
    int droppings = 0;
    for (const auto& each : fs::recursive_directory_iterator(path_)) {
        if (each.is_directory()) {
            EXPECT_EQ(mode_of(each.path()), 0750U) << each.path();
        } else if (each.path().filename() != "halcyon-container") {
            EXPECT_EQ(mode_of(each.path()) & 0444, 0440U) << each.path();
            ++droppings;
        }
    }
    EXPECT_EQ(droppings, 2);
    set_mode(in_, 0600).value();
    EXPECT_EQ(mode_of(path_), 0700U);
}

TEST_F(container_access, the_owner_is_that_of_all_parts) {
    if (::geteuid() != 0) GTEST_SKIP() << "only root gives files away";
    set_owner(in_, 1234, 2345).value();
    set_owner(in_, static_cast<uid_t>(-1), 3456).value();
    struct stat status {};
    for (const auto& each : fs::recursive_directory_iterator(path_)) {
        ASSERT_EQ(::stat(each.path().c_str(), &status), 0);
        EXPECT_EQ(status.st_uid, 1234U) << each.path();
        EXPECT_EQ(status.st_gid, 3456U) << each.path();
    }
    ASSERT_EQ(::stat(path_.c_str(), &status), 0);
    EXPECT_EQ(status.st_uid, 1234U);
}

TEST_F(container_access, given_times_are_those_that_were_given_last) {
    file_times found;
    EXPECT_FALSE(read_times(in_, found));
    write_times(in_, {30, {0, 1}, {0, 2}}).value();
    write_times(in_, {31, {0, 3}, {-5, 4}}).value();
    ASSERT_TRUE(read_times(in_, found));
    EXPECT_EQ(found.as_of_ns, 31);
    EXPECT_EQ(found.accessed.tv_nsec, 3);
    EXPECT_EQ(found.modified.tv_sec, -5);
    EXPECT_EQ(found.modified.tv_nsec, 4);
    for (const check_finding& each : check(in_).value().findings) EXPECT_NE(each.where, "times") << describe(each);
}

TEST_F(container_access, times_may_lie_beyond_what_a_number_of_ns_says) {
    file_times found;
    for (const timespec& far : {timespec{20'000'000'000, 999'999'999}, timespec{-20'000'000'000, 1}}) {
        write_times(in_, {30, {1, 2}, far}).value();
        ASSERT_TRUE(read_times(in_, found));
        EXPECT_EQ(found.as_of_ns, 30);
        EXPECT_EQ(found.accessed.tv_sec, 1);
        EXPECT_EQ(found.accessed.tv_nsec, 2);
        EXPECT_EQ(found.modified.tv_sec, far.tv_sec);
        EXPECT_EQ(found.modified.tv_nsec, far.tv_nsec);
    }
    fs::resize_file(path_ + "/times", 36);
    EXPECT_FALSE(read_times(in_, found));
}

TEST_F(container_access, times_that_are_not_whole_are_none) {
    write_times(in_, {30, {0, 1}, {0, 2}}).value();
    file_times found;
    {
        std::fstream file(path_ + "/times", std::ios::in | std::ios::out | std::ios::binary);
        file.seekp(9);
        file.put('x');
    }
    EXPECT_FALSE(read_times(in_, found));
    write_times(in_, {30, {0, 1}, {0, 2}}).value();
    fs::resize_file(path_ + "/times", 20);
    EXPECT_FALSE(read_times(in_, found));
}

}  // namespace
}  // namespace halcyon::logfs
