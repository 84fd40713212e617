#pragma once

#include "calls/backend_conformance/fixture.hpp"

namespace halcyon::calls {

inline constexpr unsigned no_replace = 1;  // RENAME_NOREPLACE
inline constexpr unsigned exchange = 2;    // RENAME_EXCHANGE

TEST_P(backend_conformance, unlink_takes_names_away) {
    put("a", "x");
    ASSERT_EQ(make_directory("d"), 0);
    EXPECT_EQ(unlink("a"), 0);
    EXPECT_EQ(open_error("a", O_RDONLY), -ENOENT);
    EXPECT_EQ(unlink("d"), -EISDIR);
    EXPECT_EQ(unlink("none/a"), -ENOENT);
    put("b", "x");
    EXPECT_EQ(unlink("b/a"), -ENOTDIR);
    EXPECT_EQ(backend().unlink("/"), -EISDIR);
}

TEST_P(backend_conformance, rename_moves_and_replaces_files) {
    put("a", "first");
    put("b", "second");
    ASSERT_EQ(make_directory("d"), 0);
    opened_file replaced(backend(), path("b"), O_RDONLY);
    EXPECT_EQ(rename("a", "b"), 0);
    EXPECT_FALSE(is_there("a"));
    EXPECT_EQ(content("b"), "first");
    EXPECT_EQ(replaced.read(10, 0), "second");
    EXPECT_EQ(replaced.stat().st_nlink, 0U);
    EXPECT_EQ(rename("b", "d/c"), 0);
    EXPECT_EQ(content("d/c"), "first");
    EXPECT_EQ(rename("d/c", "d/c"), 0);
    EXPECT_EQ(rename("a", "b"), -ENOENT);
    EXPECT_EQ(rename("d/c", "none/c"), -ENOENT);
    EXPECT_EQ(rename("d/c", "d"), -ENOTEMPTY);
    ASSERT_EQ(make_directory("e"), 0);
    EXPECT_EQ(rename("d/c", "e"), -EISDIR);
    EXPECT_EQ(listed("d"), std::vector<std::string>{"c"});
}

TEST_P(backend_conformance, rename_moves_directories_with_all_below) {
    ASSERT_EQ(make_directory("d"), 0);
    ASSERT_EQ(make_directory("d/e"), 0);
    put("d/e/a", "text");
    ASSERT_EQ(make_directory("f"), 0);
    EXPECT_EQ(rename("d", "f/g"), 0);
    EXPECT_EQ(content("f/g/e/a"), "text");
    EXPECT_FALSE(is_there("d"));
    EXPECT_EQ(rename("f", "f/g/h"), -EINVAL);
    EXPECT_EQ(rename("f", "f/h"), -EINVAL);
    EXPECT_EQ(rename("f/g/e", "f"), -ENOTEMPTY);
    ASSERT_EQ(make_directory("empty"), 0);
    EXPECT_EQ(rename("f/g", "empty"), 0);
    EXPECT_EQ(content("empty/e/a"), "text");
    put("file", "");
    EXPECT_EQ(rename("empty", "file"), -ENOTDIR);
    ASSERT_EQ(make_directory("full"), 0);
    put("full/x", "");
    EXPECT_EQ(rename("empty", "full"), -ENOTEMPTY);
    EXPECT_TRUE(is_there("full/x"));
}

TEST_P(backend_conformance, rename_keeps_to_its_flags) {
    put("a", "first");
    put("b", "second");
    EXPECT_EQ(rename("a", "b", no_replace), -EEXIST);
    EXPECT_EQ(content("b"), "second");
    EXPECT_EQ(rename("a", "c", no_replace), 0);
    EXPECT_EQ(content("c"), "first");
    EXPECT_EQ(rename("c", "b", no_replace | exchange), -EINVAL);
    const int exchanged = rename("c", "b", exchange);
    if (exchanged == -EINVAL) return;  // a backend may have no such thing
    EXPECT_EQ(exchanged, 0);
    EXPECT_EQ(content("b"), "first");
    EXPECT_EQ(content("c"), "second");
    EXPECT_EQ(rename("c", "none", exchange), -ENOENT);
}

TEST_P(backend_conformance, an_open_files_path_follows_its_renames) {
    ASSERT_EQ(make_directory("d"), 0);
    put("d/a", "");
    opened_file file(backend(), path("d/a"), O_RDONLY);
    opened_file directory(backend(), path("d"), O_RDONLY | O_DIRECTORY);
    opened_file root(backend(), "/", O_RDONLY | O_DIRECTORY);
    EXPECT_EQ(file.path(), path("d/a"));
    EXPECT_EQ(directory.path(), path("d"));
    EXPECT_EQ(root.path(), "/");
    EXPECT_EQ(rename("d/a", "d/b"), 0);
    EXPECT_EQ(file.path(), path("d/b"));
    EXPECT_EQ(rename("d", "e"), 0);
    EXPECT_EQ(file.path(), path("e/b"));
    EXPECT_EQ(directory.path(), path("e"));
    put("x", "");
    EXPECT_EQ(rename("x", "e/b"), 0);
    EXPECT_EQ(file.path(), "errno " + std::to_string(ENOENT));
    std::string room(path("e").size(), '?');
    EXPECT_LT(backend().path_of(directory.handle(), room.data(), room.size()), 0) << "no room for the null";
}

TEST_P(backend_conformance, hard_links_are_the_same_file) {
    if (!GetParam().links) GTEST_SKIP() << "this backend has no links";
    put("a", "text");
    ASSERT_EQ(make_directory("d"), 0);
    EXPECT_EQ(link("a", "d/b"), 0);
    EXPECT_EQ(stat("a").st_nlink, 2U);
    EXPECT_EQ(stat("a").st_ino, stat("d/b").st_ino);
    put("d/b", "other");
    EXPECT_EQ(content("a"), "other");
    EXPECT_EQ(rename("a", "d/b"), 0) << "both are the same file already";
    EXPECT_TRUE(is_there("a"));
    EXPECT_EQ(unlink("a"), 0);
    EXPECT_EQ(content("d/b"), "other");
    EXPECT_EQ(stat("d/b").st_nlink, 1U);
    put("c", "");
    EXPECT_EQ(link("c", "d/b"), -EEXIST);
    EXPECT_EQ(link("none", "e"), -ENOENT);
    EXPECT_EQ(link("d", "e"), -EPERM);
    EXPECT_EQ(link("c", "none/e"), -ENOENT);
}

TEST_P(backend_conformance, symbolic_links_are_followed_where_they_should_be) {
    if (!GetParam().links) GTEST_SKIP() << "this backend has no links";
    ASSERT_EQ(make_directory("d"), 0);
    put("d/a", "text");
    EXPECT_EQ(symbolic_link("d/a", "to_file"), 0);
    EXPECT_EQ(symbolic_link("../d", "d/to_directory"), 0);
    EXPECT_EQ(symbolic_link("nowhere", "dangling"), 0);
    EXPECT_EQ(symbolic_link("x", "to_file"), -EEXIST);
    EXPECT_EQ(symbolic_link("", "empty"), -ENOENT);
    EXPECT_EQ(content("to_file"), "text");
    EXPECT_EQ(content("d/to_directory/to_directory/a"), "text");
    EXPECT_EQ(stat("to_file").st_mode & S_IFMT, static_cast<mode_t>(S_IFREG));
    const struct stat itself = stat("to_file", false);
    EXPECT_EQ(itself.st_mode & S_IFMT, static_cast<mode_t>(S_IFLNK));
    EXPECT_EQ(itself.st_size, 3);
    EXPECT_EQ(open_error("to_file", O_RDONLY | O_NOFOLLOW), -ELOOP);
    EXPECT_EQ(open_error("d/to_directory/a", O_RDONLY | O_NOFOLLOW), 0);
    EXPECT_EQ(open_error("to_file", O_RDWR | O_CREAT | O_EXCL), -EEXIST);
    EXPECT_EQ(stat_error("dangling"), -ENOENT);
    EXPECT_EQ(stat_error("dangling", false), 0);
    EXPECT_EQ(open_error("dangling", O_RDONLY), -ENOENT);
    EXPECT_EQ(open_error("dangling", O_RDWR | O_CREAT), 0);
    EXPECT_TRUE(is_there("nowhere"));
    EXPECT_EQ(rename("to_file", "moved"), 0);
    EXPECT_EQ(content("moved"), "text");
    EXPECT_EQ(unlink("moved"), 0);
    EXPECT_EQ(content("d/a"), "text");
    EXPECT_EQ(symbolic_link("loop", "loop"), 0);
    EXPECT_EQ(open_error("loop", O_RDONLY), -ELOOP);
    EXPECT_EQ(stat_error("loop/a"), -ELOOP);
    EXPECT_EQ(remove_directory("d/to_directory"), -ENOTDIR);
    char text[8] = "???????";
    EXPECT_EQ(backend().read_link(path("dangling").c_str(), text, sizeof text), 7);
    EXPECT_EQ(std::string(text, 8), std::string("nowhere\0", 8));
    EXPECT_EQ(backend().read_link(path("dangling").c_str(), text, 3), 3);
    EXPECT_EQ(backend().read_link(path("d/a").c_str(), text, 3), -EINVAL);
    EXPECT_EQ(backend().read_link(path("none").c_str(), text, 3), -ENOENT);
}

}  // namespace halcyon::calls
