#include "small_disk.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "api_test.hpp"

/// A file system of one MiB that is full, and one that has become read-only; needs root.
namespace halcyon::logfs::tests {
namespace {

class small_disk : public api_test {
  protected:
    void SetUp() override {
        if (!disk_.is_there()) GTEST_SKIP() << disk_.why_not();
    }

    halcyon::tests::small_disk disk_{folder_.path()};
};

TEST_F(small_disk, that_is_full_takes_what_fits_and_more_when_there_is_room) {
    const std::string ballast = folder_.file("ballast");
    std::ofstream(ballast) << std::string(300'000, 'b');
    opened file(path_);
    const std::string data(900'000, 'd');
    uint64_t done = 0;
    EXPECT_TRUE(
        failed(halcyon_logfs_pwrite(file, data.data(), data.size(), 0, &done), HALCYON_ERROR_SYSTEM, ENOSPC, path_));
    EXPECT_GT(done, 0U);
    EXPECT_LT(done, data.size());
    EXPECT_EQ(file.size(), static_cast<int64_t>(done));
    EXPECT_EQ(file.read(data.size(), 0), data.substr(0, done));
    int64_t at = -1;
    uint64_t appended = 0;
    EXPECT_TRUE(failed(halcyon_logfs_append(file, data.data(), data.size(), &at, &appended), HALCYON_ERROR_SYSTEM,
                       ENOSPC, path_));
    std::remove(ballast.c_str());
    const std::string more(10'000, 'm');
    ASSERT_TRUE(went_well(halcyon_logfs_append(file, more.data(), more.size(), &at, &appended)));
    EXPECT_EQ(at, static_cast<int64_t>(done));
    file.close();
    EXPECT_EQ(text_of(path_), data.substr(0, done) + more);
}

TEST_F(small_disk, that_is_full_takes_no_plain_file_and_keeps_the_container) {
    opened file(path_);
    const std::string data(600'000, 'd');
    file.write(data, 0);
    file.close();
    const std::string flat = folder_.file("flat");
    EXPECT_TRUE(failed(halcyon_logfs_flatten(path_.c_str(), flat.c_str(), 0, nullptr), HALCYON_ERROR_SYSTEM, ENOSPC,
                       "flattened"));
    EXPECT_TRUE(failed(halcyon_logfs_flatten(path_.c_str(), nullptr, 0, nullptr), HALCYON_ERROR_SYSTEM, ENOSPC, ""));
    EXPECT_EQ(folder_.names(), std::vector<std::string>{"file"});
    EXPECT_EQ(text_of(path_), data);
}

TEST_F(small_disk, that_becomes_read_only_is_read_and_not_written) {
    make(path_, "text");
    opened file(path_);  // nothing is written yet
    ASSERT_TRUE(disk_.become_read_only()) << std::strerror(errno);
    uint64_t done = 7;
    EXPECT_TRUE(failed(halcyon_logfs_pwrite(file, "more", 4, 4, &done), HALCYON_ERROR_SYSTEM, EROFS, path_));
    EXPECT_EQ(done, 0U);
    EXPECT_EQ(halcyon_logfs_append(file, "more", 4, nullptr, nullptr), HALCYON_ERROR_SYSTEM);
    EXPECT_EQ(halcyon_logfs_error_number(), EROFS);
    EXPECT_EQ(file.read(100, 0), "text");
    file.close();
    const std::string other = folder_.file("other");
    halcyon_logfs_handle h = nullptr;
    EXPECT_EQ(halcyon_logfs_open(other.c_str(), for_writing, nullptr, &h), HALCYON_ERROR_SYSTEM);
    EXPECT_EQ(halcyon_logfs_error_number(), EROFS);
    EXPECT_TRUE(failed(halcyon_logfs_remove(path_.c_str()), HALCYON_ERROR_SYSTEM, EROFS, path_));
    EXPECT_TRUE(failed(halcyon_logfs_rename(path_.c_str(), other.c_str()), HALCYON_ERROR_SYSTEM, EROFS, other));
    EXPECT_TRUE(
        failed(halcyon_logfs_flatten(path_.c_str(), other.c_str(), 0, nullptr), HALCYON_ERROR_SYSTEM, EROFS, ""));
    EXPECT_EQ(text_of(path_), "text");
}

}  // namespace
}  // namespace halcyon::logfs::tests
