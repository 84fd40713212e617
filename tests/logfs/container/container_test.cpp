#include "logfs/container/directory/container.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "killed_at_step.hpp"
#include "logfs/container/directory/begun_container.hpp"
#include "logfs/container/files/file_systems.hpp"
#include "logfs/container/format/dropping_name.hpp"
#include "logfs/container/log_file.hpp"
#include "logfs/container/tools/remove.hpp"
#include "plain_file.hpp"
#include "temporary_folder.hpp"
#include "watched_files.hpp"

namespace halcyon::logfs {
namespace {

namespace fs = std::filesystem;

class containers : public ::testing::Test {
  protected:
    void put(const std::string& path, const std::string& text) const { std::ofstream(path) << text; }

    halcyon::tests::temporary_folder folder_;
    std::string path_ = folder_.file("file");
};

TEST_F(containers, a_new_one_is_there_whole) {
    container made;
    ASSERT_TRUE(made.create(path_, 0640, 7).ok());
    EXPECT_EQ(made.path(), path_);
    EXPECT_EQ(folder_.names(), (std::vector<std::string>{"file"}));
    EXPECT_TRUE(container::is_at(kernel_files(), path_));
    container opened;
    ASSERT_TRUE(opened.open(path_ + "/").ok());
    EXPECT_EQ(opened.host_directories(), 7U);
    EXPECT_EQ(opened.id(), made.id());
    struct stat mark {};
    ASSERT_EQ(::stat((path_ + "/halcyon-container").c_str(), &mark), 0);
    EXPECT_EQ(mark.st_mode & 0777, 0640U);
    struct stat directory {};
    ASSERT_EQ(::stat(path_.c_str(), &directory), 0);
    EXPECT_EQ(directory.st_mode & 0777, 0750U);
}

TEST_F(containers, nothing_is_created_over_something) {
    container made;
    put(path_, "text");
    EXPECT_EQ(made.create(path_, 0644).why().system_errno, EEXIST);
    fs::remove(path_);
    fs::create_directory(path_);
    EXPECT_EQ(made.create(path_, 0644).why().system_errno, EEXIST);
    fs::remove(path_);
    ASSERT_TRUE(made.create(path_, 0644).ok());
    container again;
    const auto refused = again.create(path_, 0644);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.why().system_errno, EEXIST);
    EXPECT_NE(refused.why().message.find(path_), std::string::npos);
    EXPECT_EQ(folder_.names(), (std::vector<std::string>{"file"}));
    EXPECT_EQ(made.create(folder_.file("other"), 0644, 0).why().kind, error_kind::usage);
    EXPECT_EQ(made.create(folder_.file("no/such/folder"), 0644).why().system_errno, ENOENT);
}

TEST_F(containers, of_several_that_create_it_one_succeeds) {
    constexpr int processes = 8;
    for (int round = 0; round < 10; ++round) {
        const std::string path = folder_.file("file" + std::to_string(round));
        for (int i = 0; i < processes; ++i) {
            if (fork() == 0) {
                container made;
                const auto created = made.create(path, 0644);
                _exit(created.ok() ? 1 : created.why().system_errno == EEXIST ? 0 : 2);
            }
        }
        int winners = 0;
        for (int i = 0; i < processes; ++i) {
            int status = 0;
            wait(&status);
            ASSERT_TRUE(WIFEXITED(status));
            ASSERT_LT(WEXITSTATUS(status), 2);
            winners += WEXITSTATUS(status);
        }
        EXPECT_EQ(winners, 1);
        container opened;
        EXPECT_TRUE(opened.open(path).ok());
    }
    EXPECT_EQ(folder_.names().size(), 10U);
}

/// As on NFS or Lustre: somebody else takes the name at the last moment.
TEST_F(containers, of_several_one_succeeds_where_a_rename_cannot_refuse_to_replace) {
    for (const bool is_file : {false, true}) {
        tests::watched_files calls;
        calls.before = [&](std::string_view call, int64_t flags) {
            if (call != "rename") return 0;
            if (flags != 0) return -EINVAL;
            container quicker;
            if (is_file)
                put(path_, "text");
            else
                EXPECT_TRUE(quicker.create(path_, 0644, 9).ok());
            return 0;
        };
        container made(calls);
        const auto created = made.create(path_, 0644);
        ASSERT_FALSE(created.ok());
        EXPECT_EQ(created.why().system_errno, EEXIST) << created.why().message;
        EXPECT_EQ(folder_.names(), (std::vector<std::string>{"file"}));
        container there;
        EXPECT_EQ(there.open(path_).ok(), !is_file);
        EXPECT_TRUE(is_file || there.host_directories() == 9);
        fs::remove_all(path_);
    }
    tests::watched_files calls;
    calls.before = [](std::string_view call, int64_t flags) { return call == "rename" && flags != 0 ? -EINVAL : 0; };
    container made(calls);
    ASSERT_TRUE(made.create(path_, 0644).ok());
    container again(calls);
    EXPECT_EQ(again.create(path_, 0644).why().system_errno, EEXIST);
    EXPECT_EQ(folder_.names(), (std::vector<std::string>{"file"}));
}

/// As on GlusterFS, where a directory is renamed by one storage host after the other: containers have their name first.
TEST_F(containers, are_created_in_their_place_where_directories_are_not_renamed_as_a_whole) {
    tests::watched_files calls;
    calls.type = fuse_magic;
    calls.before = [&](std::string_view call, int64_t) {
        EXPECT_NE(call, "rename");
        return 0;
    };
    for (int i = 0; i < 3; ++i) {
        container made(calls);
        ASSERT_TRUE(made.create(path_ + std::to_string(i), 0644).ok());
        EXPECT_EQ(made.create(path_ + std::to_string(i), 0644).why().system_errno, EEXIST);
    }
    EXPECT_EQ(folder_.names(), (std::vector<std::string>{"file0", "file1", "file2"}));
    for (const std::string call : {"make_directory", "open", "write", "close", "set_mode"}) {
        calls.before = [&](std::string_view now, int64_t) { return now == call ? -EIO : 0; };
        container made(calls);
        EXPECT_EQ(made.create(path_, 0644).why().system_errno, EIO) << call;
        EXPECT_FALSE(fs::exists(path_)) << call;
    }
}

/// Another process creates it: it has its name, its marker comes later.
TEST_F(containers, that_others_create_at_this_moment_are_waited_for) {
    for (const bool has_empty_marker : {false, true}) {
        fs::remove_all(path_);
        fs::create_directory(path_);
        if (has_empty_marker) put(path_ + "/halcyon-container", "");
        container elsewhere;
        ASSERT_TRUE(elsewhere.create(path_ + ".other", 0644, 9).ok());
        int pauses = 0;
        tests::watched_files calls;
        calls.type = fuse_magic;
        calls.before = [&](std::string_view call, int64_t) {
            if (call == "pause" && ++pauses == 3)
                fs::rename(path_ + ".other/halcyon-container", path_ + "/halcyon-container");
            return 0;
        };
        log_file file(calls);
        opening how;
        how.creates = how.may_write = true;
        ASSERT_TRUE(file.open(path_, tests::identity(1), how).ok()) << has_empty_marker;
        EXPECT_EQ(file.of().host_directories(), 9U);
        EXPECT_EQ(pauses, 3);
        fs::remove_all(path_ + ".other");
    }
}

/// A kernel that looks at the name before it asks for the file would take it for a directory.
TEST_F(containers, that_others_create_at_this_moment_are_waited_for_by_who_looks) {
    struct stat there {};
    int pauses = 0;
    tests::watched_files calls;
    calls.type = fuse_magic;
    calls.behind = [&](std::string_view call) {
        if (call == "make_directory") {
            ASSERT_EQ(::stat(path_.c_str(), &there), 0);
        }
    };
    calls.before = [&](std::string_view call, int64_t) {
        if (call == "pause" && ++pauses == 3) put(path_ + "/halcyon-container", "halcyon log container\n");
        return 0;
    };
    container made(calls);
    ASSERT_TRUE(made.create(path_, 0640).ok());
    EXPECT_EQ(there.st_mode & 07777, mode_t{01750});
    struct stat whole {};
    ASSERT_EQ(::stat(path_.c_str(), &whole), 0);
    EXPECT_EQ(whole.st_mode & 07777, mode_t{0750});
    fs::remove_all(path_);
    fs::create_directory(path_);
    EXPECT_FALSE(becomes_container(calls, AT_FDCWD, path_.c_str(), whole)) << "a directory of the user";
    struct stat old = there;
    old.st_ctim.tv_sec -= 3600;
    EXPECT_FALSE(becomes_container(calls, AT_FDCWD, path_.c_str(), old)) << "a process was killed";
    EXPECT_EQ(pauses, 0);
    EXPECT_TRUE(becomes_container(calls, AT_FDCWD, path_.c_str(), there));
    EXPECT_EQ(pauses, 3);
}

TEST_F(containers, killed_creations_in_their_place_leave_what_can_be_removed) {
    opening how;
    how.creates = how.may_write = true;
    const auto error = [&] {
        tests::watched_files calls;
        calls.type = fuse_magic;
        calls.before = [](std::string_view call, int64_t) { return call == "pause" ? -1 : 0; };
        log_file file(calls);
        const auto opened = file.open(path_, tests::identity(1), how);
        return opened.ok() ? 0 : opened.why().system_errno;
    };
    int killed_with_name_alone = 0;
    bool was_killed = true;
    for (long step = 0; was_killed; ++step) {
        const auto create = [&] {
            tests::watched_files calls;
            calls.type = fuse_magic;
            container made(calls);
            made.create(path_, 0644).value();
        };
        was_killed = halcyon::tests::killed_at(step, create, [] {});
        const bool has_name = fs::exists(path_);
        const bool is_whole = container::is_at(kernel_files(), path_);
        ASSERT_TRUE(is_whole || !has_name || fs::is_directory(path_)) << step;
        EXPECT_EQ(error(), has_name && !is_whole ? EISDIR : 0) << step;
        if (has_name && !is_whole) {
            ++killed_with_name_alone;
            EXPECT_FALSE(fs::exists(path_ + "/halcyon-container") && fs::file_size(path_ + "/halcyon-container") > 0);
            fs::remove_all(path_);
            EXPECT_EQ(error(), 0) << step;
        }
        fs::remove_all(path_);
    }
    EXPECT_GE(killed_with_name_alone, 4) << "behind mkdir, around the marker's creation, before it is written";
}

TEST_F(containers, no_directory_of_the_user_is_waited_for) {
    int pauses = 0;
    int64_t paused_ns = 0;
    tests::watched_files calls;
    calls.before = [&](std::string_view call, int64_t ns) {
        if (call != "pause") return 0;
        ++pauses;
        paused_ns += ns;
        return -1;  // without the pause
    };
    opening how;
    how.creates = how.may_write = true;
    fs::create_directory(path_);
    const auto error = [&] {
        log_file file(calls);
        return file.open(path_, tests::identity(1), how).why().system_errno;
    };
    EXPECT_EQ(error(), EISDIR);
    EXPECT_EQ(pauses, 0) << "directories are renamed as a whole there";
    calls.type = fuse_magic;
    put(path_ + "/text", "of the user");
    EXPECT_EQ(error(), EISDIR);
    EXPECT_EQ(pauses, 0) << "it is not empty";
    fs::remove(path_ + "/text");
    EXPECT_EQ(error(), EISDIR);
    EXPECT_GT(pauses, 50);
    EXPECT_NEAR(static_cast<double>(paused_ns), 5e9, 1e8);
}

TEST_F(containers, other_things_are_told_apart) {
    container what;
    EXPECT_EQ(what.open(path_).why().system_errno, ENOENT);
    put(path_, "text");
    EXPECT_EQ(what.open(path_).why().kind, error_kind::usage);
    EXPECT_NE(what.open(path_).why().message.find("a file, no log container"), std::string::npos);
    EXPECT_FALSE(container::is_at(kernel_files(), path_));
    fs::remove(path_);
    fs::create_directory(path_);
    EXPECT_NE(what.open(path_).why().message.find("no file halcyon-container"), std::string::npos);
    EXPECT_FALSE(what.is_open());
    put(path_ + "/.plfsaccess113918400", "");
    ASSERT_TRUE(what.open(path_).ok());
    EXPECT_TRUE(what.is_plfs());
    EXPECT_NE(what.expect_ours().why().message.find("a container of PLFS"), std::string::npos);
}

/// What PLFS knows its own containers by (its access file) and reads in them (names that begin with "dropping.").
TEST_F(containers, plfs_takes_none_for_its_own) {
    log_file file;
    opening how;
    how.may_write = true;
    how.creates = true;
    ASSERT_TRUE(file.open(path_, tests::identity(1), how).ok());
    file.append(tests::as_bytes("text")).value();
    int names = 0;
    for (const auto& entry : fs::recursive_directory_iterator(path_)) {
        const std::string name = entry.path().filename();
        EXPECT_FALSE(name.starts_with(".plfsaccess")) << name;
        EXPECT_FALSE(name.starts_with("dropping.")) << name;
        EXPECT_FALSE(name.starts_with("version-tag")) << name;
        ++names;
    }
    // The marker, the lock, a host directory, and two droppings.
    EXPECT_EQ(names, 5);
}

TEST_F(containers, a_damaged_or_newer_marker_is_named) {
    container made;
    ASSERT_TRUE(made.create(path_, 0644).ok());
    made.close();
    const std::string mark = path_ + "/halcyon-container";
    put(mark, "halcyon log container\nversion 9\nsomething new\n");
    const auto newer = made.open(path_);
    ASSERT_FALSE(newer.ok());
    EXPECT_EQ(newer.why().kind, error_kind::config);
    EXPECT_NE(newer.why().message.find("halcyon-container: format version 9; this release reads version 1"),
              std::string::npos)
        << newer.why().message;
    put(mark, "halcyon log container\nversion 1\nhost directories 32\nid 5\ncheck 6\n");
    EXPECT_NE(made.open(path_).why().message.find("damaged"), std::string::npos);
    // Nothing of it is left, but the rest of a container is there.
    for (const char* const part : {"halcyon-descriptor", "hostdir.3"}) {
        fs::create_directory(path_ + "/" + part);
        for (const char* const text : {"", "?"}) {
            put(mark, text);
            EXPECT_NE(made.open(path_).why().message.find("damaged"), std::string::npos) << part << text;
            EXPECT_TRUE(container::is_at(kernel_files(), path_));
        }
        fs::remove(path_ + "/" + part);
    }
}

TEST_F(containers, only_a_plain_file_that_begins_as_one_is_a_marker) {
    container made;
    ASSERT_TRUE(made.create(folder_.file("other"), 0644).ok());
    const std::string mark = path_ + "/halcyon-container";
    const auto is_none = [&](const char* why) {
        EXPECT_FALSE(container::is_at(kernel_files(), path_));
        container what;
        const auto opened = what.open(path_);
        ASSERT_FALSE(opened.ok());
        EXPECT_EQ(opened.why().kind, error_kind::usage);
        EXPECT_EQ(opened.why().system_errno, EISDIR);
        EXPECT_NE(opened.why().message.find(why), std::string::npos) << opened.why().message;
        fs::remove(mark);
    };
    fs::create_directory(path_);
    fs::create_directory(mark);
    is_none("it has no file halcyon-container");
    fs::create_symlink("../other/halcyon-container", mark);
    is_none("it has no file halcyon-container");
    put(mark, "mine");
    is_none("its file halcyon-container is no marker of one");
    put(mark, "");
    is_none("its file halcyon-container is no marker of one");
    ASSERT_EQ(::mkfifo(mark.c_str(), 0600), 0);
    is_none("it has no file halcyon-container");
    fs::create_directory(path_ + "/.plfsaccess113918400");
    is_none("it has no file halcyon-container");
    fs::create_directory(mark);
    fs::remove(path_ + "/.plfsaccess113918400");
    put(path_ + "/.plfsaccess113918400", "");
    container plfs;
    ASSERT_TRUE(plfs.open(path_).ok());
    EXPECT_TRUE(plfs.is_plfs());
}

TEST_F(containers, one_that_is_moved_while_it_is_open_goes_on) {
    container made;
    ASSERT_TRUE(made.create(path_, 0644).ok());
    fs::rename(path_, folder_.file("moved"));
    EXPECT_EQ(made.make_host_directory(5), 0);
    EXPECT_TRUE(fs::exists(folder_.file("moved/hostdir.5")));
}

TEST_F(containers, is_removed_whole_and_nothing_else_is) {
    put(path_, "text");
    EXPECT_EQ(remove_container(path_).why().kind, error_kind::usage);
    EXPECT_TRUE(fs::exists(path_));
    fs::remove(path_);
    container made;
    ASSERT_TRUE(made.create(path_, 0644).ok());
    ASSERT_EQ(made.make_host_directory(5), 0);
    ASSERT_TRUE(remove_container(path_).ok());
    EXPECT_TRUE(folder_.names().empty());
}

TEST_F(containers, the_longest_names_are_possible) {
    const std::string longest = folder_.file(std::string(255, 'n'));
    container made;
    const auto created = made.create(longest, 0644);
    ASSERT_TRUE(created.ok()) << created.why().message;
    EXPECT_TRUE(container::is_at(kernel_files(), longest));
    EXPECT_EQ(made.create(folder_.file(std::string(256, 'n')), 0644).why().system_errno, ENAMETOOLONG);
}

}  // namespace
}  // namespace halcyon::logfs
