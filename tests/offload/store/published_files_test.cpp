// How often the file system is asked.

#include "offload/store/hdf5/published_files.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <string>

#include "view_fixture.hpp"

namespace {

long asked = 0;

}  // namespace

/// Stands before the C library's.
extern "C" int stat(const char* path, struct stat* info) noexcept {
    ++asked;
    return static_cast<int>(::syscall(SYS_newfstatat, AT_FDCWD, path, info, 0));
}

namespace halcyon::offload::testing {
namespace {

using hdf5::published_files;

class many_files : public view {
  protected:
    static constexpr int files = 1000;

    many_files() {
        publish_line("n0000", 0, {0});
        for (int i = 1; i < files; ++i) copy_as(i);
        EXPECT_EQ(known_.update(published_files::look::quick).added.size(), static_cast<size_t>(files));
        asked = 0;
    }
    std::string path_of(int iteration) const { return folder_.file(file_name("sim", "n0000", iteration, 0, ".h5")); }
    void copy_as(int iteration) const { std::filesystem::copy(path_of(0), path_of(iteration)); }

    published_files known_{folder_.path().string(), "sim"};
};

TEST_F(many_files, that_are_known_are_not_asked_about_again_but_for_a_few) {
    EXPECT_FALSE(known_.update(published_files::look::quick).any());
    EXPECT_GT(asked, 0);
    EXPECT_LT(asked, 100);
    asked = 0;
    copy_as(files);
    const auto news = known_.update(published_files::look::quick);
    EXPECT_EQ(news.added.size(), 1U);
    EXPECT_FALSE(news.other);
    EXPECT_LT(asked, 100);
    asked = 0;
    EXPECT_FALSE(known_.update(published_files::look::at_each).any());
    EXPECT_EQ(asked, files + 1);
}

TEST_F(many_files, one_that_is_replaced_is_seen_at_once) {
    copy_as(files);
    std::filesystem::rename(path_of(files), path_of(17));
    EXPECT_TRUE(known_.update(published_files::look::quick).other);
}

TEST_F(many_files, one_that_is_removed_is_seen_at_once) {
    std::filesystem::remove(path_of(17));
    EXPECT_TRUE(known_.update(published_files::look::quick).other);
    EXPECT_EQ(known_.all().size(), static_cast<size_t>(files - 1));
}

TEST_F(many_files, one_that_is_changed_in_place_is_seen_when_its_turn_comes) {
    std::filesystem::resize_file(path_of(17), 100);
    bool seen = false;
    for (int look = 0; look < 20 && !seen; ++look) seen = known_.update(published_files::look::quick).other;
    EXPECT_TRUE(seen);
    EXPECT_EQ(known_.all().at(file_name("sim", "n0000", 17, 0, ".h5")).contents, nullptr);
}

}  // namespace
}  // namespace halcyon::offload::testing
