#include "calls/state/file_paths.hpp"

#include <gtest/gtest.h>

#include <string>

namespace halcyon::calls {
namespace {

/// "-": not known.
std::string path_of(file_paths& paths, uint32_t file, size_t room = 8192) {
    std::string text(room, '?');
    if (!paths.path_of(file, text.data(), room)) {
        EXPECT_EQ(text[0], '\0');
        return "-";
    }
    return text.c_str();
}

std::string long_path(uint32_t file, size_t bytes) {
    std::string path = "/" + std::to_string(file) + "/";
    return path.append(bytes - path.size(), static_cast<char>('a' + file % 26));
}

TEST(file_paths, are_known_by_their_ids) {
    file_paths paths;
    EXPECT_EQ(path_of(paths, 1), "-");
    paths.keep(1, "/a");
    paths.keep(2, "/scratch/b");
    EXPECT_EQ(path_of(paths, 1), "/a");
    EXPECT_EQ(path_of(paths, 2), "/scratch/b");
    EXPECT_EQ(path_of(paths, 3), "-");
    paths.keep(1, "/c");
    EXPECT_EQ(path_of(paths, 1), "/c");
}

TEST(file_paths, need_room_for_their_end) {
    file_paths paths;
    paths.keep(1, "/abc");
    EXPECT_EQ(path_of(paths, 1, 5), "/abc");
    EXPECT_EQ(path_of(paths, 1, 4), "-");
}

TEST(file_paths, of_the_newest_files_are_right_and_of_older_ones_right_or_unknown) {
    file_paths paths;
    uint32_t known = 0;
    constexpr uint32_t files = 20'000;
    constexpr size_t bytes = 1000;  // 8 MiB hold 8,388 of them
    for (uint32_t file = 1; file <= files; ++file) paths.keep(file, long_path(file, bytes));
    for (uint32_t file = 1; file <= files; ++file) {
        const std::string found = path_of(paths, file);
        known += found == "-" ? 0 : 1;
        if (found != "-") {
            EXPECT_EQ(found, long_path(file, bytes));
        }
        if (file > files - 8'000) {
            EXPECT_NE(found, "-") << file;
        }
    }
    EXPECT_LT(known, 8'389U);
}

TEST(file_paths, of_a_number_that_another_took_are_unknown) {
    file_paths paths;
    paths.keep(7, "/first");
    paths.keep(7 + 65'536, "/second");
    EXPECT_EQ(path_of(paths, 7), "-");
    EXPECT_EQ(path_of(paths, 7 + 65'536), "/second");
}

}  // namespace
}  // namespace halcyon::calls
