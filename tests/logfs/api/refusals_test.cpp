#include <gtest/gtest.h>

#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "api_test.hpp"
#include "logfs/container/directory/container.hpp"
#include "logfs/container/tools/export_plfs.hpp"

/// Calls that make no sense, and paths that are no containers.
namespace halcyon::logfs::tests {
namespace {

namespace fs = std::filesystem;

void put(const std::string& path, const std::string& text) {
    std::ofstream(path) << text;
}

class refusals : public api_test {
  protected:
    int open(unsigned mode) const {
        halcyon_logfs_handle h = nullptr;
        const int code = halcyon_logfs_open(path_.c_str(), mode, nullptr, &h);
        EXPECT_EQ(h, nullptr);
        return code;
    }
    /// All calls that take a container by its path.
    [[nodiscard]] std::vector<std::pair<std::string, std::function<int()>>> by_path() const {
        const char* const path = path_.c_str();
        return {{"open", [this] { return open(HALCYON_LOGFS_READ); }},
                {"status_of",
                 [path] {
                     halcyon_logfs_status_t status{};
                     status.size_bytes = sizeof status;
                     return halcyon_logfs_status_of(path, &status);
                 }},
                {"flatten", [path] { return halcyon_logfs_flatten(path, nullptr, 0, nullptr); }},
                {"remove", [path] { return halcyon_logfs_remove(path); }},
                {"rename", [this, path] { return halcyon_logfs_rename(path, folder_.file("to").c_str()); }}};
    }
    void expect_all_refuse(int code, int number, const std::string& message) const {
        for (const auto& [name, call] : by_path()) EXPECT_TRUE(failed(call(), code, number, message)) << name;
        EXPECT_TRUE(fs::exists(path_) || number == ENOENT);
    }
};

TEST_F(refusals, name_what_is_not_there) {
    expect_all_refuse(HALCYON_ERROR_SYSTEM, ENOENT, path_);
}

TEST_F(refusals, leave_a_plain_file_alone) {
    put(path_, "text");
    expect_all_refuse(HALCYON_ERROR_USAGE, ENOTDIR, "a file, no log container");
    EXPECT_TRUE(failed(open(for_writing), HALCYON_ERROR_USAGE, ENOTDIR, "a file, no log container"));
    EXPECT_TRUE(failed(open(for_writing | HALCYON_LOGFS_TRUNCATE), HALCYON_ERROR_USAGE, ENOTDIR, path_));
    EXPECT_EQ(text_of_file(path_), "text");
}

TEST_F(refusals, leave_a_foreign_directory_alone) {
    fs::create_directory(path_);
    put(path_ + "/halcyon-container", "a user's own file");
    expect_all_refuse(HALCYON_ERROR_USAGE, EISDIR, "a directory, no log container");
    EXPECT_TRUE(failed(open(for_writing), HALCYON_ERROR_USAGE, EISDIR, "a directory, no log container"));
    EXPECT_EQ(text_of_file(path_ + "/halcyon-container"), "a user's own file");
}

TEST_F(refusals, name_the_version_of_a_later_release) {
    make(path_, "text");
    put(path_ + "/halcyon-container", "halcyon log container\nversion 9\nsomething new\n");
    expect_all_refuse(HALCYON_ERROR_CONFIG, EIO, "format version 9; this release reads version 1");
}

TEST_F(refusals, keep_containers_of_plfs_as_they_are) {
    const std::string ours = folder_.file("ours");
    make(ours, "text");
    container in;
    in.open(ours).value();
    ASSERT_TRUE(export_plfs(in, path_).ok());
    EXPECT_EQ(text_of(path_), "text");
    EXPECT_TRUE(failed(open(HALCYON_LOGFS_WRITE), HALCYON_ERROR_USAGE, EROFS, "a container of PLFS"));
    halcyon_logfs_status_t status{};
    status.size_bytes = sizeof status;
    ASSERT_TRUE(went_well(halcyon_logfs_status_of(path_.c_str(), &status)));
    EXPECT_EQ(status.is_plfs, 1);
}

TEST_F(refusals, keep_handles_to_what_they_were_opened_for) {
    make(path_, "text");
    const opened reads(path_, HALCYON_LOGFS_READ);
    const opened writes(path_, HALCYON_LOGFS_WRITE);
    char byte = '?';
    uint64_t done = 7;
    EXPECT_TRUE(
        failed(halcyon_logfs_pread(writes, &byte, 1, 0, &done), HALCYON_ERROR_USAGE, EBADF, "for writing only"));
    EXPECT_EQ(done, 0U);
    const std::string only = "for reading only";
    EXPECT_TRUE(failed(halcyon_logfs_pwrite(reads, &byte, 1, 0, nullptr), HALCYON_ERROR_USAGE, EBADF, only));
    EXPECT_TRUE(failed(halcyon_logfs_append(reads, &byte, 1, nullptr, nullptr), HALCYON_ERROR_USAGE, EBADF, only));
    EXPECT_TRUE(failed(halcyon_logfs_truncate(reads, 1), HALCYON_ERROR_USAGE, EBADF, only));
    EXPECT_TRUE(failed(halcyon_logfs_erase(reads, 0, 1), HALCYON_ERROR_USAGE, EBADF, only));
}

TEST_F(refusals, name_ranges_of_no_file) {
    opened file(path_);
    char byte = '?';
    const auto write = [&](uint64_t bytes, int64_t offset) {
        return halcyon_logfs_pwrite(file, &byte, bytes, offset, nullptr);
    };
    EXPECT_TRUE(failed(write(1, -1), HALCYON_ERROR_USAGE, EINVAL, "before the beginning"));
    EXPECT_TRUE(failed(write(2, INT64_MAX - 1), HALCYON_ERROR_USAGE, EFBIG, "beyond the largest file"));
    EXPECT_TRUE(failed(write(UINT64_MAX, 0), HALCYON_ERROR_USAGE, EINVAL, "more than a file has"));
    EXPECT_TRUE(failed(halcyon_logfs_pread(file, &byte, 1, -1, nullptr), HALCYON_ERROR_USAGE, EINVAL, "before"));
    EXPECT_TRUE(failed(halcyon_logfs_truncate(file, -1), HALCYON_ERROR_USAGE, EINVAL, "a size below 0"));
    EXPECT_TRUE(failed(halcyon_logfs_erase(file, 0, 0), HALCYON_ERROR_USAGE, EINVAL, "no range"));
    EXPECT_EQ(file.size(), 0);
}

TEST_F(refusals, name_each_null_pointer) {
    make(path_, "text");
    const opened file(path_);
    const char* const path = path_.c_str();
    halcyon_logfs_handle none = nullptr;
    halcyon_logfs_handle* const nowhere = nullptr;
    const auto null = [](int code, const std::string& what) {
        return failed(code, HALCYON_ERROR_USAGE, EINVAL, what + " is a null pointer");
    };
    EXPECT_TRUE(null(halcyon_logfs_open(nullptr, for_both, nullptr, &none), "path"));
    EXPECT_TRUE(null(halcyon_logfs_open(path, for_both, nullptr, nowhere), "h"));
    EXPECT_TRUE(null(halcyon_logfs_pread(file, nullptr, 1, 0, nullptr), "buffer"));
    EXPECT_TRUE(null(halcyon_logfs_pwrite(file, nullptr, 1, 0, nullptr), "data"));
    EXPECT_TRUE(null(halcyon_logfs_append(file, nullptr, 1, nullptr, nullptr), "data"));
    EXPECT_TRUE(null(halcyon_logfs_size(file, nullptr), "bytes"));
    EXPECT_TRUE(null(halcyon_logfs_status(file, nullptr), "status"));
    EXPECT_TRUE(null(halcyon_logfs_propose_epoch(file, nullptr), "time_ns"));
    EXPECT_TRUE(null(halcyon_logfs_close(nowhere), "h"));
    int is = 0;
    EXPECT_TRUE(null(halcyon_logfs_is_container(nullptr, &is), "path"));
    EXPECT_TRUE(null(halcyon_logfs_is_container(path, nullptr), "is"));
    EXPECT_TRUE(null(halcyon_logfs_status_of(nullptr, nullptr), "path"));
    EXPECT_TRUE(null(halcyon_logfs_status_of(path, nullptr), "status"));
    EXPECT_TRUE(null(halcyon_logfs_flatten(nullptr, path, 0, nullptr), "path"));
    EXPECT_TRUE(null(halcyon_logfs_remove(nullptr), "path"));
    EXPECT_TRUE(null(halcyon_logfs_rename(nullptr, path), "from"));
    EXPECT_TRUE(null(halcyon_logfs_rename(path, nullptr), "to"));
    EXPECT_EQ(text_of(path_), "text");
}

/// Those of each call on a handle: one that was closed, null, and what never was one.
TEST_F(refusals, name_handles_that_are_not_open) {
    halcyon_logfs_handle closed = nullptr;
    ASSERT_TRUE(went_well(halcyon_logfs_open(path_.c_str(), for_both, nullptr, &closed)));
    halcyon_logfs_handle kept = closed;
    ASSERT_TRUE(went_well(halcyon_logfs_close(&closed)));
    const opened another(path_);  // in the place of the closed one
    int stranger = 0;
    for (halcyon_logfs_handle h : {kept, halcyon_logfs_handle{}, reinterpret_cast<halcyon_logfs_handle>(&stranger),
                                   reinterpret_cast<halcyon_logfs_handle>(UINTPTR_MAX)}) {
        char byte = '?';
        int64_t number = 0;
        halcyon_logfs_status_t status{};
        status.size_bytes = sizeof status;
        halcyon_logfs_handle copy = h;
        const int codes[] = {halcyon_logfs_pread(h, &byte, 1, 0, nullptr),
                             halcyon_logfs_pwrite(h, &byte, 1, 0, nullptr),
                             halcyon_logfs_append(h, &byte, 1, nullptr, nullptr),
                             halcyon_logfs_truncate(h, 1),
                             halcyon_logfs_erase(h, 0, 1),
                             halcyon_logfs_size(h, &number),
                             halcyon_logfs_status(h, &status),
                             halcyon_logfs_refresh(h),
                             halcyon_logfs_settle(h),
                             halcyon_logfs_sync(h),
                             halcyon_logfs_propose_epoch(h, &number),
                             halcyon_logfs_raise_epoch(h, 1),
                             halcyon_logfs_close(&copy)};
        for (const int code : codes)
            EXPECT_TRUE(failed(code, HALCYON_ERROR_USAGE, EBADF,
                               h == nullptr ? "the handle is null" : "this handle is not open"));
        EXPECT_EQ(copy, h);
    }
    EXPECT_EQ(another.size(), 0);
}

TEST_F(refusals, are_told_to_the_thread_whose_call_it_was) {
    EXPECT_EQ(open(HALCYON_LOGFS_READ), HALCYON_ERROR_SYSTEM);
    std::thread([] {
        EXPECT_STREQ(halcyon_logfs_error_message(), "");
        EXPECT_EQ(halcyon_logfs_error_number(), 0);
        EXPECT_EQ(halcyon_logfs_sync(nullptr), HALCYON_ERROR_USAGE);
    }).join();
    EXPECT_EQ(halcyon_logfs_error_number(), ENOENT);
}

}  // namespace
}  // namespace halcyon::logfs::tests
