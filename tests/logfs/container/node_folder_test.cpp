#include "logfs/container/directory/node_folder.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>
#include <filesystem>
#include <iterator>
#include <string>

#include "temporary_folder.hpp"
#include "watched_files.hpp"

namespace halcyon::logfs {
namespace {

namespace fs = std::filesystem;

class a_node_folder : public ::testing::Test {
  protected:
    /// As an image of a container would come there; its time is so many seconds ago.
    void add(uint64_t number, size_t bytes, int64_t age_s) {
        memory_source memory(calls_);
        node_folder in(calls_, memory);
        ASSERT_EQ(in.open(path_, true), 0);
        ASSERT_EQ(in.begin_adding(), 0);
        const int fd = in.create(name(number));
        ASSERT_GE(fd, 0);
        const std::string text(bytes, 'x');
        ASSERT_EQ(::pwrite(fd, text.data(), text.size(), 0), static_cast<ssize_t>(text.size()));
        timespec times[2] = {};
        ::clock_gettime(CLOCK_REALTIME, &times[0]);
        times[0].tv_sec -= age_s;
        times[1] = times[0];
        ASSERT_EQ(::futimens(fd, times), 0);
        ::close(fd);
        ASSERT_EQ(in.keep(name(number)), 0);
    }
    static short_name name(uint64_t number) { return short_name("index.1.").add(number); }
    int opened() {
        memory_source memory(calls_);
        node_folder in(calls_, memory);
        return in.open(path_, false);
    }
    int opened_file() {
        memory_source memory(calls_);
        node_folder in(calls_, memory);
        EXPECT_EQ(in.open(path_, false), 0);
        int64_t bytes = 0;
        const int fd = in.open_file(name(1), bytes);
        if (fd >= 0) ::close(fd);
        return fd < 0 ? fd : static_cast<int>(bytes);
    }
    bool makes_room(int64_t bytes, int64_t most) {
        memory_source memory(calls_);
        node_folder in(calls_, memory);
        EXPECT_EQ(in.open(path_, true), 0);
        EXPECT_EQ(in.begin_adding(), 0);
        return in.make_room(bytes, most);
    }
    std::string path_of(uint64_t number) { return path_ + "/" + name(number).c_str(); }

    halcyon::tests::temporary_folder folder_;
    std::string path_ = folder_.file("node");
    tests::watched_files calls_;
};

TEST_F(a_node_folder, is_made_for_its_user_alone) {
    EXPECT_EQ(opened(), -ENOENT);
    add(1, 100, 0);
    struct stat there {};
    ASSERT_EQ(::stat(path_.c_str(), &there), 0);
    EXPECT_EQ(there.st_mode & 07777, 0700U);
    ASSERT_EQ(::stat(path_of(1).c_str(), &there), 0);
    EXPECT_EQ(there.st_mode & 07777, 0400U);
    EXPECT_EQ(opened_file(), 100);
}

TEST_F(a_node_folder, that_others_may_look_into_is_refused) {
    add(1, 100, 0);
    for (const mode_t mode : {0710U, 0740U, 0702U, 0777U}) {
        ASSERT_EQ(::chmod(path_.c_str(), mode), 0);
        EXPECT_EQ(opened(), -EPERM) << mode;
    }
    ASSERT_EQ(::chmod(path_.c_str(), 0700), 0);
    EXPECT_EQ(opened(), 0);
}

TEST_F(a_node_folder, that_a_link_leads_to_is_refused) {
    add(1, 100, 0);
    fs::rename(path_, folder_.file("elsewhere"));
    fs::create_directory_symlink(folder_.file("elsewhere"), path_);
    EXPECT_EQ(opened(), -ENOTDIR);
    fs::remove(path_);
    fs::rename(folder_.file("elsewhere"), path_);
    EXPECT_EQ(opened(), 0);
}

TEST_F(a_node_folder, of_another_user_is_refused) {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
    add(1, 100, 0);
    ASSERT_EQ(::chown(path_.c_str(), 4711, 4711), 0);
    EXPECT_EQ(opened(), -EPERM);
}

TEST_F(a_node_folder, whose_file_others_could_have_written_is_not_read) {
    add(1, 100, 0);
    for (const mode_t mode : {0604U, 0640U, 0622U}) {
        ASSERT_EQ(::chmod(path_of(1).c_str(), mode), 0);
        EXPECT_EQ(opened_file(), -EPERM) << mode;
    }
    ASSERT_EQ(::chmod(path_of(1).c_str(), 0600), 0);
    EXPECT_EQ(opened_file(), 100);
    fs::create_hard_link(path_of(1), folder_.file("other-name"));
    EXPECT_EQ(opened_file(), -EPERM);
    fs::remove(path_of(1));
    fs::create_symlink(folder_.file("other-name"), path_of(1));
    EXPECT_EQ(opened_file(), -ELOOP);
    fs::remove(path_of(1));
    ASSERT_EQ(::mkfifo(path_of(1).c_str(), 0600), 0);
    EXPECT_EQ(opened_file(), -EPERM);
    if (::geteuid() != 0) return;
    fs::remove(path_of(1));
    fs::copy_file(folder_.file("other-name"), path_of(1));
    ASSERT_EQ(::chown(path_of(1).c_str(), 4711, 4711), 0);
    EXPECT_EQ(opened_file(), -EPERM);
}

TEST_F(a_node_folder, must_have_a_whole_path) {
    memory_source memory(calls_);
    for (const std::string& path : {std::string(), std::string("node"), "/" + std::string(300, 'x')}) {
        node_folder in(calls_, memory);
        EXPECT_EQ(in.open(path, true), -EINVAL) << path;
    }
}

TEST_F(a_node_folder, has_one_process_at_a_time_that_adds) {
    memory_source memory(calls_);
    node_folder first(calls_, memory);
    node_folder second(calls_, memory);
    ASSERT_EQ(first.open(path_, true), 0);
    ASSERT_EQ(second.open(path_, true), 0);
    EXPECT_EQ(first.begin_adding(), 0);
    EXPECT_EQ(second.begin_adding(), -EAGAIN);
}

TEST_F(a_node_folder, loses_its_oldest_files_where_it_would_become_too_large) {
    add(1, 1000, 20);
    add(2, 1000, 40);
    add(3, 1000, 10);
    add(4, 1000, 30);
    EXPECT_TRUE(makes_room(1000, 5000));
    EXPECT_TRUE(fs::exists(path_of(2)));
    EXPECT_TRUE(makes_room(1001, 4000));
    EXPECT_FALSE(fs::exists(path_of(2)));
    EXPECT_FALSE(fs::exists(path_of(4)));
    EXPECT_TRUE(fs::exists(path_of(1)));
    EXPECT_TRUE(fs::exists(path_of(3)));
    // What would not fit anyway is no reason to remove anything.
    EXPECT_FALSE(makes_room(4001, 4000));
    EXPECT_TRUE(fs::exists(path_of(1)));
}

TEST_F(a_node_folder, takes_nothing_where_the_node_has_little_room) {
    add(1, 1000, 20);
    calls_.is_full = true;
    EXPECT_FALSE(makes_room(1000, 5000));
}

TEST_F(a_node_folder, keeps_nothing_that_a_killed_process_had_begun) {
    add(1, 1000, 20);
    {
        memory_source memory(calls_);
        node_folder in(calls_, memory);
        ASSERT_EQ(in.open(path_, true), 0);
        ASSERT_EQ(in.begin_adding(), 0);
        ::close(in.create(name(2)));
    }
    ASSERT_EQ(std::distance(fs::directory_iterator(path_), {}), 3);  // with the lock
    EXPECT_TRUE(makes_room(1, 5000));
    EXPECT_EQ(std::distance(fs::directory_iterator(path_), {}), 2);
    EXPECT_TRUE(fs::exists(path_of(1)));
}

TEST(node_folder_name, follows_the_wish) {
    EXPECT_EQ(node_folder_named("").view(), "/tmp/halcyon-logs-" + std::to_string(::geteuid()));
    EXPECT_EQ(node_folder_named("none").view(), "");
    EXPECT_EQ(node_folder_named("/local/indexes").view(), "/local/indexes");
}

}  // namespace
}  // namespace halcyon::logfs
