#include "logfs/container/directory/open_mark.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "logfs/container/directory/container.hpp"
#include "logfs/container/log_file.hpp"
#include "logfs/container/tools/process.hpp"
#include "plain_file.hpp"
#include "temporary_folder.hpp"

namespace halcyon::logfs {
namespace {

class open_mark : public ::testing::Test {
  protected:
    void SetUp() override { in_.create(path_, 0644).value(); }
    int marker() const { return ::open((path_ + "/halcyon-container").c_str(), O_RDWR | O_CLOEXEC); }
    int say() { return say_open(kernel_files(), in_.directory(), "halcyon-container"); }

    halcyon::tests::temporary_folder folder_;
    std::string path_ = folder_.file("file");
    container in_;
};

TEST_F(open_mark, keeps_the_container_from_those_who_want_it_alone) {
    const int alone = marker();
    const int first = say();
    const int second = say();
    ASSERT_GE(first, 0);
    ASSERT_GE(second, 0);
    EXPECT_EQ(keep_alone(kernel_files(), alone), -EAGAIN);
    EXPECT_TRUE(is_held_open(in_));
    ::close(first);
    EXPECT_EQ(keep_alone(kernel_files(), alone), -EAGAIN);
    ::close(second);
    EXPECT_FALSE(is_held_open(in_));
    EXPECT_EQ(keep_alone(kernel_files(), alone), 0);
    ::close(alone);
}

TEST_F(open_mark, waits_for_who_has_it_alone_and_sees_that_it_was_replaced) {
    for (const bool is_replaced : {false, true}) {
        const int alone = marker();
        ASSERT_EQ(keep_alone(kernel_files(), alone), 0);
        std::atomic<int> said{0};
        std::thread opener([&] { said = say(); });
        // It waits for the lock.
        const std::string mark = ":" + std::to_string([&] {
                                     struct stat of {};
                                     ::fstat(alone, &of);
                                     return of.st_ino;
                                 }()) +
                                 " ";
        for (bool waits = false; !waits;) {
            std::ifstream locks("/proc/locks");
            for (std::string line; std::getline(locks, line);)
                waits |= line.find("->") != std::string::npos && line.find(mark) != std::string::npos;
        }
        EXPECT_EQ(said, 0);
        if (is_replaced) std::filesystem::remove(path_ + "/halcyon-container");
        ::close(alone);
        opener.join();
        if (is_replaced)
            EXPECT_EQ(said, -ESTALE);
        else
            EXPECT_GE(said, 0);
        if (said >= 0) ::close(said);
    }
}

TEST_F(open_mark, is_held_by_files_that_say_so_until_they_are_closed) {
    log_file file;
    opening how;
    how.says_open = true;
    file.open(path_, tests::identity(1), how).value();
    EXPECT_TRUE(is_held_open(in_));
    file.close().value();
    EXPECT_FALSE(is_held_open(in_));
    file.open(path_, tests::identity(1), {}).value();
    EXPECT_FALSE(is_held_open(in_));
}

}  // namespace
}  // namespace halcyon::logfs
