#include "base/rename_over.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "temporary_folder.hpp"

namespace halcyon {
namespace {

class renaming : public ::testing::Test {
  protected:
    void make_file(const std::string& name) const { std::ofstream(folder_.file(name)) << name; }
    void make_folder(const std::string& name, const std::string& file) const {
        std::filesystem::create_directories(folder_.file(name + "/inner"));
        make_file(name + "/inner/" + file);
    }
    [[nodiscard]] bool has(const std::string& name) const { return std::filesystem::exists(folder_.file(name)); }
    [[nodiscard]] result<void> rename(const std::string& from, const std::string& to) const {
        return rename_over(folder_.file(from), folder_.file(to));
    }

    halcyon::tests::temporary_folder folder_;
};

TEST_F(renaming, a_folder_takes_the_place_of_another_with_all_that_is_in_it) {
    make_folder("new", "b");
    make_folder("old", "a");
    ASSERT_TRUE(rename("new", "old").ok());
    EXPECT_EQ(folder_.names(), std::vector<std::string>{"old"});
    EXPECT_TRUE(has("old/inner/b"));
    EXPECT_FALSE(has("old/inner/a"));
}

TEST_F(renaming, files_and_free_names_are_as_with_the_system_call) {
    make_file("new");
    make_file("old");
    ASSERT_TRUE(rename("new", "old").ok());
    make_folder("folder", "a");
    ASSERT_TRUE(rename("folder", "free").ok());
    EXPECT_EQ(folder_.names(), (std::vector<std::string>{"free", "old"}));
    std::ostringstream text;
    text << std::ifstream(folder_.file("old")).rdbuf();
    EXPECT_EQ(text.str(), "new");
}

TEST_F(renaming, a_failure_names_both_and_changes_nothing) {
    make_folder("folder", "a");
    make_file("file");
    const auto missing = rename("absent", "folder");
    ASSERT_FALSE(missing.ok());
    EXPECT_EQ(missing.why().system_errno, ENOENT);
    EXPECT_NE(missing.why().message.find(folder_.file("absent")), std::string::npos) << missing.why().message;
    EXPECT_NE(missing.why().message.find(folder_.file("folder")), std::string::npos) << missing.why().message;
    EXPECT_EQ(rename("folder", "file").why().system_errno, ENOTDIR);
    EXPECT_TRUE(has("folder/inner/a"));
    EXPECT_TRUE(has("file"));
}

}  // namespace
}  // namespace halcyon
