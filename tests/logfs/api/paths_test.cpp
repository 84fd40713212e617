#include <gtest/gtest.h>

#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "api_test.hpp"
#include "logfs/container/tools/rename.hpp"
#include "watched_files.hpp"

/// What is done with containers by their paths.
namespace halcyon::logfs::tests {
namespace {

namespace fs = std::filesystem;

class path : public api_test {
  protected:
    static bool is_container(const std::string& at) {
        int is = -1;
        EXPECT_TRUE(went_well(halcyon_logfs_is_container(at.c_str(), &is)));
        EXPECT_TRUE(is == 0 || is == 1);
        return is == 1;
    }
    [[nodiscard]] std::vector<std::string> names() const { return folder_.names(); }

    std::string other_ = folder_.file("other");
};

TEST_F(path, is_a_container_or_not) {
    EXPECT_FALSE(is_container(path_));
    make(path_, "text");
    EXPECT_TRUE(is_container(path_));
    EXPECT_FALSE(is_container(folder_.path()));
    std::ofstream(other_) << "text";
    EXPECT_FALSE(is_container(other_));
}

TEST_F(path, becomes_a_plain_file_of_another_name) {
    opened file(path_);
    file.write("text", 100'000);
    halcyon_logfs_flattened_t made{};
    made.size_bytes = sizeof made;
    ASSERT_TRUE(went_well(halcyon_logfs_flatten(path_.c_str(), other_.c_str(), 0, &made)));
    EXPECT_EQ(made.bytes, 100'004);
    EXPECT_LT(made.written_bytes, 100'000) << "holes stay holes";
    EXPECT_EQ(made.conflict_bytes, 0);
    EXPECT_EQ(text_of_file(other_), std::string(100'000, '\0') + "text");
    EXPECT_TRUE(is_container(path_));
}

TEST_F(path, becomes_a_plain_file_in_its_place_when_nobody_has_it_open) {
    opened file(path_);
    file.write("text", 0);
    EXPECT_TRUE(failed(halcyon_logfs_flatten(path_.c_str(), nullptr, 0, nullptr), HALCYON_ERROR_UNAVAILABLE, EBUSY,
                       "has it open"));
    file.close();
    ASSERT_TRUE(went_well(halcyon_logfs_flatten(path_.c_str(), nullptr, 0, nullptr)));
    EXPECT_EQ(text_of_file(path_), "text");
    EXPECT_EQ(names(), std::vector<std::string>{"file"});
    EXPECT_TRUE(failed(halcyon_logfs_flatten(path_.c_str(), nullptr, 8, nullptr), HALCYON_ERROR_USAGE, EINVAL,
                       "how is 8; expected values of halcyon_logfs_flattening"));
}

TEST_F(path, is_removed_with_all_that_is_in_it) {
    make(path_, "text");
    fs::create_directories(path_ + "/users/own");
    std::ofstream(path_ + "/users/own/file") << "text";
    ASSERT_TRUE(went_well(halcyon_logfs_remove(path_.c_str())));
    EXPECT_EQ(names(), std::vector<std::string>{});
}

TEST_F(path, that_is_a_link_is_no_name_to_remove_or_rename) {
    make(path_, "text");
    const std::string link = folder_.file("link");
    fs::create_symlink(path_, link);
    EXPECT_EQ(text_of(link), "text");
    EXPECT_TRUE(failed(halcyon_logfs_remove(link.c_str()), HALCYON_ERROR_USAGE, 0, "a link to a log container"));
    EXPECT_TRUE(failed(halcyon_logfs_rename(link.c_str(), other_.c_str()), HALCYON_ERROR_USAGE, 0,
                       "a link to a log container"));
    EXPECT_TRUE(
        failed(halcyon_logfs_flatten(link.c_str(), nullptr, 0, nullptr), HALCYON_ERROR_USAGE, 0, "a link to a log"));
    EXPECT_EQ(text_of(link), "text");
}

TEST_F(path, becomes_another_while_it_is_open) {
    opened file(path_);
    file.write("te", 0);
    ASSERT_TRUE(went_well(halcyon_logfs_rename(path_.c_str(), other_.c_str())));
    file.write("xt", 2);
    file.close();
    EXPECT_EQ(names(), std::vector<std::string>{"other"});
    EXPECT_EQ(text_of(other_), "text");
}

TEST_F(path, replaces_a_file_and_a_container) {
    std::ofstream(other_) << "a plain file";
    make(path_, "first");
    ASSERT_TRUE(went_well(halcyon_logfs_rename(path_.c_str(), other_.c_str())));
    EXPECT_EQ(names(), std::vector<std::string>{"other"});
    EXPECT_EQ(text_of(other_), "first");
    make(path_, "second");
    ASSERT_TRUE(went_well(halcyon_logfs_rename(path_.c_str(), (other_ + "/").c_str())));
    EXPECT_EQ(names(), std::vector<std::string>{"other"});
    EXPECT_EQ(text_of(other_), "second");
    EXPECT_TRUE(went_well(halcyon_logfs_rename(other_.c_str(), other_.c_str())));
    EXPECT_EQ(text_of(other_), "second");
}

TEST_F(path, replaces_no_directory) {
    make(path_, "text");
    fs::create_directory(other_);
    EXPECT_TRUE(failed(halcyon_logfs_rename(path_.c_str(), other_.c_str()), HALCYON_ERROR_SYSTEM, EISDIR, other_));
    EXPECT_TRUE(failed(halcyon_logfs_rename(path_.c_str(), folder_.file("no/folder").c_str()), HALCYON_ERROR_SYSTEM,
                       ENOENT, "no/folder"));
    EXPECT_EQ(text_of(path_), "text");
}

/// As NFS: neither an exchange nor a promise that nothing is replaced.
TEST_F(path, is_renamed_where_names_cannot_be_exchanged) {
    watched_files calls;
    calls.before = [](std::string_view call, int64_t flags) { return call == "rename" && flags != 0 ? -EINVAL : 0; };
    for (const char* const text : {"first", "second"}) {
        make(path_, text);
        ASSERT_TRUE(rename_container(path_, other_, calls).ok());
        EXPECT_EQ(names(), std::vector<std::string>{"other"});
        EXPECT_EQ(text_of(other_), text);
    }
}

TEST_F(path, keeps_what_it_should_replace_where_it_cannot_be_renamed) {
    const auto text_at = [](const std::string& at) { return is_container(at) ? text_of(at) : text_of_file(at); };
    for (const bool is_plain : {true, false}) {
        make(path_, "new");
        if (is_plain)
            std::ofstream(other_) << "old";
        else
            make(other_, "old");
        watched_files calls;
        int renames = 0;
        calls.before = [&](std::string_view call, int64_t flags) {
            if (call != "rename") return 0;
            return flags != 0 ? -EINVAL : ++renames == 2 ? -EDQUOT : 0;
        };
        const auto done = rename_container(path_, other_, calls);
        ASSERT_FALSE(done.ok());
        EXPECT_EQ(done.why().system_errno, EDQUOT);
        EXPECT_EQ(text_at(other_), "old");
        EXPECT_EQ(text_of(path_), "new");
        EXPECT_EQ(names(), (std::vector<std::string>{"file", "other"}));
        ASSERT_TRUE(rename_container(path_, other_).ok());
    }
}

TEST_F(path, of_a_plain_file_replaces_a_container) {
    for (const bool exchanges : {true, false}) {
        watched_files calls;
        calls.before = [&](std::string_view call, int64_t flags) {
            return call == "rename" && flags != 0 && !exchanges ? -EINVAL : 0;
        };
        std::ofstream(path_) << "plain";
        make(other_, "logged");
        ASSERT_TRUE(rename_any(path_, other_, calls).ok());
        EXPECT_EQ(names(), std::vector<std::string>{"other"});
        EXPECT_EQ(text_of_file(other_), "plain");
        fs::remove(other_);
    }
    fs::create_directory(path_);
    make(other_, "logged");
    EXPECT_EQ(rename_any(path_, other_).why().system_errno, ENOTDIR);
    EXPECT_EQ(rename_any(folder_.file("missing"), other_).why().system_errno, ENOENT);
    EXPECT_EQ(text_of(other_), "logged");
}

}  // namespace
}  // namespace halcyon::logfs::tests
