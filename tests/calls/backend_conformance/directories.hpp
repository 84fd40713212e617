#pragma once

#include <dirent.h>

#include <set>

#include "calls/backend_conformance/fixture.hpp"

namespace halcyon::calls {

TEST_P(backend_conformance, directories_are_made_and_removed) {
    EXPECT_EQ(make_directory("d"), 0);
    EXPECT_EQ(make_directory("d"), -EEXIST);
    EXPECT_EQ(make_directory("none/d"), -ENOENT);
    put("a", "");
    EXPECT_EQ(make_directory("a"), -EEXIST);
    EXPECT_EQ(make_directory("a/d"), -ENOTDIR);
    EXPECT_EQ(make_directory("d/e"), 0);
    EXPECT_EQ(remove_directory("d"), -ENOTEMPTY);
    EXPECT_EQ(remove_directory("a"), -ENOTDIR);
    EXPECT_EQ(remove_directory("none"), -ENOENT);
    EXPECT_EQ(remove_directory("d/e"), 0);
    EXPECT_EQ(remove_directory("d"), 0);
    EXPECT_FALSE(is_there("d"));
    EXPECT_EQ(backend().remove_directory("/"), -EBUSY);
    EXPECT_EQ(backend().make_directory("/", 0755), -EEXIST);
}

TEST_P(backend_conformance, lists_each_entry_once_with_dots) {
    put("a", "");
    ASSERT_EQ(make_directory("d"), 0);
    ASSERT_EQ(make_directory("d/e"), 0);
    if (GetParam().links) {
        ASSERT_EQ(symbolic_link("a", "l"), 0);
    }
    opened_file directory(backend(), path(""), O_RDONLY | O_DIRECTORY);
    std::map<std::string, file_backend::entry> found;
    file_backend::entry next{};
    uint64_t after = 0;
    while (backend().next_entry(directory.handle(), after, next) == 1 && found.size() < 100) {
        EXPECT_TRUE(found.emplace(next.name, next).second) << next.name;
    }
    EXPECT_EQ(found.size(), GetParam().links ? 5U : 4U);
    EXPECT_EQ(found["."].inode, stat("").st_ino);
    EXPECT_EQ(found["."].type, DT_DIR);
    EXPECT_EQ(found[".."].type, DT_DIR);
    EXPECT_EQ(found["a"].inode, stat("a").st_ino);
    EXPECT_EQ(found["a"].type, DT_REG);
    EXPECT_EQ(found["d"].inode, stat("d").st_ino);
    EXPECT_EQ(found["d"].type, DT_DIR);
    if (GetParam().links) {
        EXPECT_EQ(found["l"].type, DT_LNK);
    }
    opened_file below(backend(), path("d"), O_RDONLY | O_DIRECTORY);
    const auto entries = below.entries();
    const auto up = std::find_if(entries.begin(), entries.end(), [](const auto& entry) { return entry.first == ".."; });
    ASSERT_NE(up, entries.end());
    EXPECT_EQ(up->second, stat("").st_ino);
    EXPECT_EQ(entries.front().first, ".");
    opened_file file(backend(), path("a"), O_RDONLY);
    after = 0;
    EXPECT_EQ(backend().next_entry(file.handle(), after, next), -ENOTDIR);
}

TEST_P(backend_conformance, listing_goes_on_from_where_it_was) {
    std::set<std::string> names;
    for (int i = 0; i < 50; ++i) {
        names.insert("f" + std::to_string(i));
        put("f" + std::to_string(i), "");
    }
    opened_file directory(backend(), path(""), O_RDONLY | O_DIRECTORY);
    file_backend::entry next{};
    uint64_t after = 0;
    std::vector<uint64_t> places{0};
    std::vector<std::string> in_order;
    while (backend().next_entry(directory.handle(), after, next) == 1 && in_order.size() < 100) {
        in_order.emplace_back(next.name);
        places.push_back(after);
    }
    ASSERT_EQ(in_order.size(), names.size() + 2);
    for (size_t i = in_order.size(); i-- > 0;) {
        after = places[i];
        ASSERT_EQ(backend().next_entry(directory.handle(), after, next), 1);
        EXPECT_EQ(next.name, in_order[i]);
        EXPECT_EQ(after, places[i + 1]);
    }
}

TEST_P(backend_conformance, listing_bears_changes_in_the_meantime) {
    constexpr int files = 300;
    for (int i = 0; i < files; ++i) put("f" + std::to_string(i), "");
    opened_file directory(backend(), path(""), O_RDONLY | O_DIRECTORY);
    std::map<std::string, int> found;
    file_backend::entry next{};
    uint64_t after = 0;
    int seen = 0;
    while (backend().next_entry(directory.handle(), after, next) == 1 && seen < 10'000) {
        ++found[next.name];
        const int number = seen++;
        // What was just listed goes, every other time, and so does one that may lie ahead; others come.
        const bool goes = number % 2 == 0 && next.name[0] == 'f' && std::stoi(next.name + 1) % 3 == 0;
        EXPECT_TRUE(!goes || !is_there(next.name) || unlink(next.name) == 0);
        if (number < files) {
            const std::string ahead = "f" + std::to_string(number);
            EXPECT_TRUE(number % 3 != 1 || !is_there(ahead) || unlink(ahead) == 0);
            put("new" + std::to_string(number), "");
        }
    }
    EXPECT_LT(seen, 10'000);
    for (int i = 2; i < files; i += 3) EXPECT_EQ(found["f" + std::to_string(i)], 1) << i;
    for (const auto& [name, times] : found) EXPECT_EQ(times, 1) << name;
    EXPECT_EQ(found["."], 1);
    EXPECT_EQ(found[".."], 1);
}

TEST_P(backend_conformance, removed_directories_are_empty_for_who_has_them_open) {
    ASSERT_EQ(make_directory("d"), 0);
    opened_file directory(backend(), path("d"), O_RDONLY | O_DIRECTORY);
    EXPECT_EQ(remove_directory("d"), 0);
    EXPECT_EQ(directory.path(), "errno " + std::to_string(ENOENT));
    file_backend::entry next{};
    uint64_t after = 0;
    for (int i = 0; i < 2; ++i) {
        const int result = backend().next_entry(directory.handle(), after, next);
        EXPECT_TRUE(result == 0 || result == -ENOENT || next.name[0] == '.') << next.name;
    }
    EXPECT_EQ(make_directory("d"), 0);
    EXPECT_NE(stat("d").st_ino, directory.stat().st_ino);
}

}  // namespace halcyon::calls
