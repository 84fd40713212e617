#include "base/replace_file.hpp"

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

namespace {

int close_fails_with = 0;
int fsync_fails_with = 0;
int synced = 0;

}  // namespace

/// Stands before the C library's: a file system that finds its quota used up says so here.
extern "C" int close(int fd) {
    const auto status = static_cast<int>(::syscall(SYS_close, fd));
    if (close_fails_with == 0) return status;
    errno = std::exchange(close_fails_with, 0);
    return -1;
}

/// Likewise: tells a disk's failure.
extern "C" int fsync(int fd) {
    ++synced;
    if (fsync_fails_with == 0) return static_cast<int>(::syscall(SYS_fsync, fd));
    errno = std::exchange(fsync_fails_with, 0);
    return -1;
}

namespace halcyon {
namespace {

class replacing : public testing::Test {
  protected:
    void SetUp() override {
        char name[] = "/tmp/halcyon-replace-XXXXXX";
        ASSERT_NE(::mkdtemp(name), nullptr);
        directory_ = name;
        path = (directory_ / "counts.json").string();
        ASSERT_TRUE(replace_file(path, "old").ok());
    }
    void TearDown() override {
        close_fails_with = fsync_fails_with = synced = 0;
        std::filesystem::remove_all(directory_);
    }
    std::string contents() const {
        std::ifstream in(path);
        return {std::istreambuf_iterator<char>(in), {}};
    }
    ptrdiff_t files() const {
        return std::distance(std::filesystem::directory_iterator(directory_), std::filesystem::directory_iterator());
    }

    std::string path;

  private:
    std::filesystem::path directory_;
};

TEST_F(replacing, the_new_text_is_all_there_is) {
    ASSERT_TRUE(replace_file(path, "new and longer").ok());
    EXPECT_EQ(contents(), "new and longer");
    EXPECT_EQ(files(), 1);
}

TEST_F(replacing, a_failure_of_close_leaves_the_old_text_and_nothing_else) {
    close_fails_with = EDQUOT;
    const auto done = replace_file(path, "new");
    ASSERT_FALSE(done.ok());
    EXPECT_EQ(done.why().kind, error_kind::system);
    EXPECT_EQ(done.why().system_errno, EDQUOT);
    EXPECT_NE(done.why().message.find(path), std::string::npos) << done.why().message;
    EXPECT_EQ(contents(), "old");
    EXPECT_EQ(files(), 1);
}

TEST_F(replacing, what_has_to_last_is_stored_before_it_has_its_name_and_the_name_then) {
    ASSERT_TRUE(replace_file(path, "brief").ok());
    EXPECT_EQ(synced, 0);
    ASSERT_TRUE(replace_file(path, "new", lasting::yes).ok());
    EXPECT_EQ(synced, 2) << "the file and its folder";
    EXPECT_EQ(contents(), "new");
    fsync_fails_with = EIO;
    const auto done = replace_file(path, "newer", lasting::yes);
    ASSERT_FALSE(done.ok());
    EXPECT_EQ(done.why().system_errno, EIO);
    EXPECT_EQ(contents(), "new");
    EXPECT_EQ(files(), 1);
}

}  // namespace
}  // namespace halcyon
