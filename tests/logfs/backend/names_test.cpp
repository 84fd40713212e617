#include <sys/stat.h>
#include <unistd.h>

#include "logfs/backend/mounted_log.hpp"

namespace halcyon::logfs {
namespace {

using calls::opened_file;

constexpr unsigned exchange = 2;  // RENAME_EXCHANGE

class log_names : public log_test {};

TEST_F(log_names, a_file_is_a_container_and_looks_like_a_file) {
    put("f", "text");
    EXPECT_TRUE(is_container("f"));
    struct stat state {};
    ASSERT_EQ(files().stat_path(path("f").c_str(), true, state), 0);
    EXPECT_TRUE(S_ISREG(state.st_mode));
    EXPECT_EQ(state.st_size, 4);
    EXPECT_EQ(state.st_blocks, 1);
    EXPECT_TRUE(files().answers(path("f").c_str()));
    EXPECT_TRUE(files().answers(path("absent").c_str()));
}

TEST_F(log_names, plain_files_are_left_to_the_kernel) {
    put_plain("plain", "text");
    EXPECT_FALSE(files().answers(path("plain").c_str()));
    std::filesystem::create_symlink("plain", real("link"));
    EXPECT_FALSE(files().answers(path("link").c_str()));
    std::filesystem::create_symlink("nowhere", real("dangling"));
    EXPECT_TRUE(files().answers(path("dangling").c_str()));
    struct stat state {};
    ASSERT_EQ(files().stat_path(path("plain").c_str(), true, state), 0);
    EXPECT_EQ(state.st_size, 4);
}

TEST_F(log_names, nothing_is_below_a_file) {
    put("f", "text");
    constexpr timespec given[2] = {{1000, 0}, {2000, 0}};
    ASSERT_EQ(files().set_times(path("f").c_str(), true, given), 0);
    ASSERT_TRUE(std::filesystem::exists(real("f") + "/times"));
    for (const char* const name : {"f/halcyon-container", "f/hostdir.0", "f/absent", "f/hostdir.0/absent", "f/times"}) {
        EXPECT_EQ(stat_error(name), -ENOTDIR) << name;
        EXPECT_EQ(opened_file(files(), path(name), O_RDWR).result(), -ENOTDIR) << name;
        EXPECT_EQ(opened_file(files(), path(name), O_RDWR | O_CREAT).result(), -ENOTDIR) << name;
        EXPECT_EQ(files().make_directory(path(name).c_str(), 0755), -ENOTDIR) << name;
        EXPECT_EQ(files().unlink(path(name).c_str()), -ENOTDIR) << name;
        EXPECT_TRUE(files().answers(path(name).c_str())) << name;
    }
    put("g", "other");
    EXPECT_EQ(files().rename(path("g").c_str(), path("f/g").c_str(), 0), -ENOTDIR);
    EXPECT_EQ(files().make_symbolic_link("g", path("f/l").c_str()), -ENOTDIR);
    EXPECT_EQ(content("f"), "text");
}

TEST_F(log_names, a_name_like_those_in_a_container_is_a_name_like_any_other_elsewhere) {
    ASSERT_EQ(files().make_directory(path("meta").c_str(), 0755), 0);
    put("meta/hostdir.7", "text");
    put("halcyon-notes", "notes");
    EXPECT_EQ(content("meta/hostdir.7"), "text");
    EXPECT_EQ(content("halcyon-notes"), "notes");
}

TEST_F(log_names, a_folder_called_as_a_marker_is_a_folder) {
    put("f", "text");
    ASSERT_EQ(files().make_directory(path("halcyon-container").c_str(), 0755), 0);
    EXPECT_EQ(content("f"), "text");
    EXPECT_EQ(listed(""), (std::set<std::string>{"f", "halcyon-container"}));
    put("halcyon-container/g", "inner");
    put("h", "beside");
    EXPECT_TRUE(is_container("halcyon-container/g"));
    EXPECT_EQ(content("halcyon-container/g"), "inner");
    EXPECT_EQ(content("h"), "beside");
    EXPECT_EQ(files().remove_directory(path("halcyon-container").c_str()), -ENOTEMPTY);
    EXPECT_EQ(files().unlink(path("halcyon-container/g").c_str()), 0);
    EXPECT_EQ(files().remove_directory(path("halcyon-container").c_str()), 0);
    EXPECT_EQ(listed(""), (std::set<std::string>{"f", "h"}));
}

TEST_F(log_names, a_file_called_as_a_marker_is_a_file) {
    ASSERT_EQ(files().make_directory(path("d").c_str(), 0755), 0);
    for (const char* const name : {"halcyon-container", ".plfsaccess113918400"}) {
        const std::string marker = "d/" + std::string(name);
        put(marker, "text");
        put("d/f", "beside");
        EXPECT_TRUE(is_container(marker));
        EXPECT_EQ(content(marker), "text");
        EXPECT_EQ(content("d/f"), "beside");
        EXPECT_EQ(listed("d"), (std::set<std::string>{"f", name}));
        struct stat folder {};
        ASSERT_EQ(files().stat_path(path("d").c_str(), true, folder), 0);
        EXPECT_TRUE(S_ISDIR(folder.st_mode));
        EXPECT_EQ(files().rename(path(marker).c_str(), path("d/g").c_str(), 0), 0);
        EXPECT_EQ(content("d/g"), "text");
        EXPECT_EQ(files().unlink(path("d/g").c_str()), 0);
    }
}

TEST_F(log_names, what_lies_there_called_as_a_marker_makes_no_container) {
    put("f", "text");
    const auto lies_in = [&](const std::string& folder) {
        put(folder + "/g", "beside");
        EXPECT_EQ(content(folder + "/g"), "beside") << folder;
        EXPECT_EQ(listed(folder), (std::set<std::string>{"g", "halcyon-container"}));
        EXPECT_EQ(listed("").count(folder), 1U);
        EXPECT_EQ(opened_file(files(), path(folder), O_RDWR).result(), -EISDIR) << folder;
    };
    for (const char* const folder : {"text", "empty", "link", "pipe"}) std::filesystem::create_directory(real(folder));
    put_plain("text/halcyon-container", "mine");
    put_plain("empty/halcyon-container", "");
    std::filesystem::create_symlink("../f/halcyon-container", real("link/halcyon-container"));
    ASSERT_EQ(::mkfifo(real("pipe/halcyon-container").c_str(), 0600), 0);
    for (const char* const folder : {"text", "empty", "link", "pipe"}) lies_in(folder);
    EXPECT_FALSE(files().answers(path("text/halcyon-container").c_str()));
    EXPECT_EQ(content("f"), "text");
}

TEST_F(log_names, links_lead_to_containers) {
    put("f", "text");
    ASSERT_EQ(files().make_symbolic_link("f", path("link").c_str()), 0);
    EXPECT_EQ(content("link"), "text");
    EXPECT_EQ(opened_file(files(), path("link"), O_RDONLY | O_NOFOLLOW).result(), -ELOOP);
    EXPECT_EQ(opened_file(files(), path("link"), O_CREAT | O_EXCL | O_RDWR).result(), -EEXIST);
    ASSERT_EQ(files().make_symbolic_link("made", path("dangling").c_str()), 0);
    EXPECT_EQ(opened_file(files(), path("dangling"), O_RDONLY).result(), -ENOENT);
    put("dangling", "by a link");
    EXPECT_EQ(content("made"), "by a link");
    EXPECT_TRUE(is_container("made"));
    EXPECT_EQ(files().unlink(path("link").c_str()), 0);
    EXPECT_EQ(content("f"), "text");
    struct stat state {};
    ASSERT_EQ(files().stat_path(path("dangling").c_str(), false, state), 0);
    EXPECT_TRUE(S_ISLNK(state.st_mode));
    ASSERT_EQ(files().make_symbolic_link("loop", path("loop").c_str()), 0);
    EXPECT_EQ(opened_file(files(), path("loop"), O_CREAT | O_RDWR).result(), -ELOOP);
}

TEST_F(log_names, a_container_has_one_name) {
    put("f", "text");
    EXPECT_EQ(files().link(path("f").c_str(), path("g").c_str()), -EPERM);
    EXPECT_EQ(stat_error("g"), -ENOENT);
    put_plain("plain", "text");
    EXPECT_EQ(files().link(path("plain").c_str(), path("same").c_str()), 0);
    EXPECT_EQ(plain("same"), "text");
}

TEST_F(log_names, rename_replaces_plain_files_and_is_replaced_by_them) {
    put("f", "logged");
    put_plain("plain", "plain");
    EXPECT_EQ(files().rename(path("f").c_str(), path("plain").c_str(), 0), 0);
    EXPECT_EQ(stat_error("f"), -ENOENT);
    EXPECT_EQ(content("plain"), "logged");
    put_plain("other", "other");
    EXPECT_EQ(files().rename(path("other").c_str(), path("plain").c_str(), 0), 0);
    EXPECT_EQ(stat_error("other"), -ENOENT);
    EXPECT_EQ(plain("plain"), "other");
    put("g", "logged");
    EXPECT_EQ(files().rename(path("g").c_str(), path("plain").c_str(), exchange), 0);
    EXPECT_EQ(content("plain"), "logged");
    EXPECT_EQ(plain("g"), "other");
    EXPECT_EQ(listed(""), (std::set<std::string>{"g", "plain"}));
}

/// Removed containers that are still there.
int left() {
    int count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(mounted_log::of_process().file("")))
        count += entry.path().filename().string().rfind(".halcyon-removed-", 0) == 0 ? 1 : 0;
    return count;
}

TEST_F(log_names, a_removed_file_is_gone_from_the_disk_when_nobody_has_it_open) {
    put("f", "text");
    ASSERT_EQ(left(), 0);
    {
        const opened_file file(files(), path("f"), O_RDWR);
        EXPECT_EQ(files().unlink(path("f").c_str()), 0);
        EXPECT_EQ(left(), 1);
        calls::child_process child(files(), [&] {
            opened_file own(files(), path("f"), O_RDWR);
            return own.result() == -ENOENT ? 0 : 1;
        });
        EXPECT_EQ(child.result(), 0);
        EXPECT_EQ(left(), 1);
    }
    EXPECT_EQ(left(), 0);
    put("g", "old");
    put("h", "new");
    EXPECT_EQ(files().rename(path("h").c_str(), path("g").c_str(), 0), 0);
    EXPECT_EQ(left(), 0);
    EXPECT_EQ(content("g"), "new");
}

TEST_F(log_names, a_removed_file_goes_with_the_last_process_that_ends) {
    put("f", "text");
    opened_file file(files(), path("f"), O_RDWR);
    const auto end = [&] {
        files().before_end();
        return left();
    };
    calls::child_process child(files(), [&] {
        if (file.read(10, 0) != "text" || files().unlink(path("f").c_str()) != 0 || end() != 1) return 1;
        // A stream that is written behind that.
        return file.write("late", 0) == 4 ? 0 : 2;
    });
    EXPECT_EQ(child.result(), 0);
    EXPECT_EQ(file.read(10, 0), "late");
    EXPECT_EQ(end(), 0);
    EXPECT_EQ(file.write("later", 0), -EBADF) << "nobody could read it";
    EXPECT_EQ(end(), 0);
}

TEST_F(log_names, a_removed_file_goes_with_a_child_that_ends_behind_its_parent) {
    calls::child_process parent(files(), [&] {
        int ends[2];
        auto* const file = new opened_file(files(), path("f"), O_CREAT | O_RDWR);  // it is never closed
        const bool is_there = file->write("text", 0) == 4 && files().unlink(path("f").c_str()) == 0;
        if (!is_there || ::pipe(ends) != 0) return 1;
        calls::child_process child(files(), [&] {
            char told = 0;
            if (::read(ends[0], &told, 1) != 1 || left() != 1 || file->read(10, 0) != "text") return 2;
            files().before_end();
            return left() == 0 ? 0 : 3;
        });
        files().before_end();
        return ::write(ends[1], "x", 1) == 1 ? child.result() : 4;
    });
    EXPECT_EQ(parent.result(), 0);
}

TEST_F(log_names, a_folder_can_be_removed_while_its_file_is_open) {
    ASSERT_EQ(files().make_directory(path("d").c_str(), 0755), 0);
    put("d/f", "text");
    opened_file file(files(), path("d/f"), O_RDONLY);
    EXPECT_EQ(files().unlink(path("d/f").c_str()), 0);
    EXPECT_EQ(files().remove_directory(path("d").c_str()), 0);
    EXPECT_EQ(file.read(10, 0), "text");
    EXPECT_EQ(file.path(), "errno " + std::to_string(ENOENT));
}

TEST_F(log_names, what_a_killed_process_left_is_never_listed_and_in_nobodys_way) {
    ASSERT_EQ(files().make_directory(path("d").c_str(), 0755), 0);
    std::filesystem::create_directory(real("d/.halcyon-begun-12345"));
    std::ofstream(real("d/.halcyon-begun-12345") + "/halcyon-container") << "?";
    EXPECT_EQ(listed("d"), std::set<std::string>{});
    EXPECT_EQ(files().remove_directory(path("d").c_str()), 0);
    EXPECT_FALSE(std::filesystem::exists(real("d")));
}

TEST_F(log_names, files_without_a_name_go_with_their_last_user) {
    {
        opened_file file(files(), folder_, O_TMPFILE | O_RDWR);
        ASSERT_EQ(file.result(), 0);
        EXPECT_EQ(file.write("text", 0), 4);
        EXPECT_EQ(file.read(10, 0), "text");
        EXPECT_EQ(file.stat().st_nlink, 0U);
        EXPECT_EQ(listed(""), std::set<std::string>{});
    }
    for (const auto& entry : std::filesystem::directory_iterator(mounted_log::of_process().file("")))
        EXPECT_NE(entry.path().filename().string().rfind(".halcyon-", 0), 0U) << entry.path();
    EXPECT_EQ(opened_file(files(), folder_, O_TMPFILE | O_RDONLY).result(), -EINVAL);
    put("f", "");
    EXPECT_EQ(opened_file(files(), path("f"), O_TMPFILE | O_RDWR).result(), -ENOTDIR);
}

TEST_F(log_names, modes_hold_for_all_that_is_in_a_container) {
    put("f", "text");
    EXPECT_EQ(files().set_mode(path("f").c_str(), 0600), 0);
    const auto mode_of = [&](const std::string& file) {
        struct stat state {};
        EXPECT_EQ(::stat(file.c_str(), &state), 0) << file;
        return state.st_mode & 0777;
    };
    EXPECT_EQ(mode_of(real("f")), 0700U);
    EXPECT_EQ(files().set_mode(path("f").c_str(), 0644), 0);
    EXPECT_EQ(mode_of(real("f")), 0755U);
    for (const auto& entry : std::filesystem::recursive_directory_iterator(real("f")))
        EXPECT_EQ(mode_of(entry.path()) & 0444, 0444U) << entry.path();
    EXPECT_EQ(files().access(path("f").c_str(), X_OK, 0), -EACCES);
    EXPECT_EQ(files().access(path("f").c_str(), R_OK | W_OK, 0), 0);
}

TEST_F(log_names, times_are_those_that_were_given_until_something_is_written) {
    put("f", "text");
    opened_file file(files(), path("f"), O_RDWR);
    constexpr timespec given[2] = {{1000, 5}, {2000, 6}};
    ASSERT_EQ(files().set_times(file.handle(), given), 0);
    struct stat by_path {};
    ASSERT_EQ(files().stat_path(path("f").c_str(), true, by_path), 0);
    for (const struct stat& found : {file.stat(), by_path}) {
        EXPECT_EQ(found.st_atim.tv_sec, 1000);
        EXPECT_EQ(found.st_atim.tv_nsec, 5);
        EXPECT_EQ(found.st_mtim.tv_sec, 2000);
        EXPECT_EQ(found.st_mtim.tv_nsec, 6);
        EXPECT_GT(found.st_ctim.tv_sec, 2000);
    }
    constexpr timespec access_only[2] = {{3000, 0}, {0, UTIME_OMIT}};
    ASSERT_EQ(files().set_times(path("f").c_str(), true, access_only), 0);
    EXPECT_EQ(file.stat().st_atim.tv_sec, 3000);
    EXPECT_EQ(file.stat().st_mtim.tv_sec, 2000);
    EXPECT_EQ(file.write("m", 4), 1);
    EXPECT_GT(file.stat().st_mtim.tv_sec, 1'600'000'000);
    EXPECT_EQ(file.stat().st_atim.tv_sec, 3000);
}

TEST_F(log_names, a_damaged_container_says_so_and_can_be_removed) {
    put("f", "text");
    std::ofstream(real("f") + "/halcyon-container") << "no marker of ours";
    EXPECT_EQ(stat_error("f"), -EIO);
    EXPECT_EQ(opened_file(files(), path("f"), O_RDONLY).result(), -EIO);
    EXPECT_EQ(files().unlink(path("f").c_str()), 0);
    EXPECT_EQ(stat_error("f"), -ENOENT);
}

TEST_F(log_names, a_mount_is_no_container_and_in_none) {
    put("f", "text");
    log_backend other;
    EXPECT_EQ(other.start(real("f").c_str()), -ENOTDIR);
    EXPECT_EQ(other.start((real("f") + "/hostdir.0").c_str()), -ENOENT);
    put_plain("plain", "text");
    EXPECT_EQ(other.start(real("plain").c_str()), -ENOTDIR);
    EXPECT_EQ(other.start(real("absent").c_str()), -ENOENT);
}

TEST_F(log_names, containers_of_plfs_are_read_and_stay_as_they_are) {
    std::filesystem::create_directories(real("f") + "/hostdir.0");
    std::ofstream(real("f") + "/.plfsaccess113918400") << "";
    struct stat state {};
    ASSERT_EQ(files().stat_path(path("f").c_str(), true, state), 0);
    EXPECT_TRUE(S_ISREG(state.st_mode));
    EXPECT_EQ(state.st_size, 0);
    EXPECT_EQ(opened_file(files(), path("f"), O_RDWR).result(), -EROFS);
    opened_file file(files(), path("f"), O_RDONLY);
    EXPECT_EQ(file.read(10, 0), "");
    const int fd = files().descriptor_of(file.handle(), O_RDONLY);
    char byte = 0;
    EXPECT_EQ(::read(fd, &byte, 1), -1);
    EXPECT_EQ(errno, EISDIR);
    EXPECT_EQ(::close(fd), 0);
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(real("f")), {}), 2);
    EXPECT_EQ(files().unlink(path("f").c_str()), 0);
}

}  // namespace
}  // namespace halcyon::logfs
