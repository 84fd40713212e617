#include "calls/backends/followed_path.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "temporary_folder.hpp"

namespace halcyon::calls::backends {
namespace {

namespace fs = std::filesystem;

class followed_path : public ::testing::Test {
  protected:
    followed_path() : top_(fs::canonical(folder_.path()).string()) {
        fs::create_directories(top_ + "/real/inner");
        std::ofstream(top_ + "/real/file") << "text";
        fs::create_directory_symlink("real", top_ + "/way");
        fs::create_symlink("way/file", top_ + "/link");
        fs::create_symlink(top_ + "/way/new", top_ + "/to-new");
        fs::create_symlink("../to-new", top_ + "/real/back");
        fs::create_symlink("loop", top_ + "/loop");
    }
    /// Below the folder; "-": nobody can tell.
    [[nodiscard]] std::string of(const std::string& path, last_link last = last_link::is_followed) const {
        char out[PATH_MAX];
        const size_t length = follow_links((top_ + "/" + path).c_str(), last, out);
        if (length == 0) return "-";
        EXPECT_EQ(std::string(out).size(), length);
        return std::string(out).substr(top_.size() + 1);
    }

    tests::temporary_folder folder_;
    std::string top_;
};

TEST_F(followed_path, is_where_the_kernel_finds_the_file_or_makes_it) {
    EXPECT_EQ(of("real/file"), "real/file");
    EXPECT_EQ(of("link"), "real/file");
    EXPECT_EQ(of("way/inner/../file"), "real/file");
    EXPECT_EQ(of("way/absent"), "real/absent");
    EXPECT_EQ(of("to-new"), "real/new");
    EXPECT_EQ(of("way/back"), "real/new");
    const fs::path before = fs::current_path();
    fs::current_path(top_ + "/way");
    char out[PATH_MAX];
    EXPECT_GT(follow_links("absent", last_link::is_followed, out), 0U);
    EXPECT_EQ(out, top_ + "/real/absent");
    EXPECT_GT(follow_links("/absent", last_link::is_followed, out), 0U);
    EXPECT_STREQ(out, "/absent");
    fs::current_path(before);
}

TEST_F(followed_path, is_not_known_of_what_cannot_be) {
    for (const char* const path : {"loop", "absent/file", "real/file/below", "way/absent/", "absent/.."})
        EXPECT_EQ(of(path), "-") << path;
    char out[PATH_MAX];
    EXPECT_EQ(follow_links("", last_link::is_followed, out), 0U);
    EXPECT_EQ(follow_links(std::string(5000, 'x').c_str(), last_link::is_followed, out), 0U);
    EXPECT_EQ(of(std::string(300, 'x')), "-");
}

TEST_F(followed_path, keeps_a_link_that_is_meant_itself) {
    EXPECT_EQ(of("link", last_link::stays), "link");
    EXPECT_EQ(of("way/back", last_link::stays), "real/back");
    EXPECT_EQ(of("way/absent", last_link::stays), "real/absent");
}

}  // namespace
}  // namespace halcyon::calls::backends
