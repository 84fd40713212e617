#include "base/sync_path.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>
#include <fstream>

#include "temporary_folder.hpp"

namespace {

TEST(sync_path, a_directory_whose_file_system_cannot_sync_it_is_as_durable_as_it_gets) {
    EXPECT_TRUE(halcyon::sync_directory("/proc").ok());
}

TEST(sync_path, what_is_not_there_fails_with_its_name) {
    for (const auto& outcome : {halcyon::sync_file("/nowhere/at/all"), halcyon::sync_tree("/nowhere/at/all"),
                                halcyon::sync_directory("/nowhere/at/all")}) {
        ASSERT_FALSE(outcome.ok());
        EXPECT_EQ(outcome.why().system_errno, ENOENT);
        EXPECT_EQ(outcome.why().message.find("/nowhere/at/all: cannot sync"), 0U) << outcome.why().message;
    }
}

TEST(sync_path, a_file_is_no_directory) {
    const auto outcome = halcyon::sync_directory("/proc/self/exe");
    ASSERT_FALSE(outcome.ok());
    EXPECT_EQ(outcome.why().system_errno, ENOTDIR);
}

TEST(sync_path, a_tree_is_all_below_a_folder_and_no_link) {
    const halcyon::tests::temporary_folder folder;
    std::filesystem::create_directories(folder.file("a/b"));
    std::ofstream(folder.file("a/b/c")) << "c";
    std::filesystem::create_symlink("/nowhere", folder.file("a/link"));
    EXPECT_TRUE(halcyon::sync_tree(folder.file("a")).ok());
    EXPECT_TRUE(halcyon::sync_tree(folder.file("a/b/c")).ok());
}

}  // namespace
