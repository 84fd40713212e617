#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "logfs/container/directory/access.hpp"
#include "logfs/container/directory/other_backends.hpp"
#include "logfs/container/log_file.hpp"
#include "logfs/container/tools/check.hpp"
#include "logfs/container/tools/flatten.hpp"
#include "logfs/container/tools/punch.hpp"
#include "logfs/container/tools/remove.hpp"
#include "logfs/container/tools/repair.hpp"
#include "logfs/container/tools/stats.hpp"
#include "plain_file.hpp"
#include "temporary_folder.hpp"
#include "watched_files.hpp"

/// Where the droppings of a container are: on several backends, in one file for each node.
namespace halcyon::logfs {
namespace {

namespace fs = std::filesystem;
using tests::as_bytes;

std::string text_of(const std::string& path) {
    log_file file;
    const auto opened = file.open(path, tests::identity(99), {});
    if (!opened) return opened.why().message;
    tests::bytes data(static_cast<size_t>(file.size().value()));
    const auto read = file.read(0, data);
    return read ? tests::as_text(data) : read.why().message;
}

size_t files_below(const std::string& folder) {
    size_t count = 0;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) count += entry.is_regular_file() ? 1 : 0;
    return count;
}

class on_backends : public ::testing::Test {
  protected:
    void SetUp() override {
        for (const std::string& each : {home_, one_, two_}) fs::create_directory(each);
        in_.create(path_, 0640, 8).value();
        in_.place_on(list_);
    }
    void write(int64_t pid, int64_t offset, std::string_view text) {
        writer to(in_);
        to.open(tests::identity(pid)).value();
        to.write(offset, as_bytes(text)).value();
        to.close().value();
    }

    halcyon::tests::temporary_folder folder_;
    std::string home_ = folder_.file("home");
    std::string one_ = folder_.file("one");
    std::string two_ = folder_.file("two");
    std::string list_ = one_ + ":" + two_;
    std::string path_ = home_ + "/file";
    container in_;
};

/// Says which directories' names are synced.
class noted_names final : public tests::watched_files {
  public:
    std::set<std::string> directories;
    int sync_names(int directory) override {
        directories.insert(fs::read_symlink("/proc/self/fd/" + std::to_string(directory)));
        return watched_files::sync_names(directory);
    }
};

TEST_F(on_backends, host_directories_have_their_names_on_the_device) {
    noted_names calls;
    container in(calls);
    in.open(path_).value();
    in.place_on(list_);
    ASSERT_EQ(in.make_host_directory(0), 0);
    EXPECT_TRUE(calls.directories.contains(fs::canonical(one_)));
}

TEST_F(on_backends, droppings_are_spread_and_found_by_who_knows_of_no_backend) {
    for (int64_t pid = 0; pid < 8; ++pid) write(pid, pid, std::string(1, static_cast<char>('a' + pid)));
    EXPECT_EQ(text_of(path_), "abcdefgh");
    EXPECT_EQ(files_below(path_), 1U) << "the marker alone";
    EXPECT_EQ(fs::directory_entry(path_ + "/hostdir.0").is_symlink(), true);
    // A pair and the owner in each of four directories.
    EXPECT_EQ(files_below(one_), 12U);
    EXPECT_EQ(files_below(two_), 12U);
    EXPECT_TRUE(check(in_)->findings.empty());
    EXPECT_EQ(stats(in_)->writers, 8U);
}

TEST_F(on_backends, reader_sees_what_comes_later) {
    write(0, 0, "a");
    reader from(in_, tests::beside_writers());
    from.reload().value();
    write(8, 1, "b");  // into the same directory
    from.reload().value();
    EXPECT_EQ(tests::as_text(tests::all_of(from)), "ab");
}

TEST_F(on_backends, container_is_moved_changed_and_removed_as_a_whole) {
    write(0, 0, "a");
    write(1, 1, "b");
    fs::rename(path_, home_ + "/moved");
    EXPECT_EQ(text_of(home_ + "/moved"), "ab");
    ASSERT_TRUE(set_mode(in_, 0600).ok());
    for (const std::string& backend : {one_, two_}) {
        ASSERT_FALSE(fs::is_empty(backend));
        for (const auto& folder : fs::directory_iterator(backend))
            EXPECT_EQ(fs::status(folder).permissions(), fs::perms::owner_all) << folder.path();
    }
    ASSERT_TRUE(remove_container(home_ + "/moved").ok());
    EXPECT_TRUE(fs::is_empty(home_));
    EXPECT_TRUE(fs::is_empty(one_));
    EXPECT_TRUE(fs::is_empty(two_));
}

TEST_F(on_backends, plain_file_in_its_place_leaves_nothing_there) {
    write(0, 0, "a");
    write(1, 1, "b");
    ASSERT_TRUE(flatten(in_, path_).ok());
    EXPECT_EQ(fs::file_size(path_), 2U);
    EXPECT_TRUE(fs::is_empty(one_));
    EXPECT_TRUE(fs::is_empty(two_));
}

TEST_F(on_backends, copy_that_is_removed_takes_nothing_of_the_first_one) {
    write(0, 0, "a");
    fs::copy(path_, home_ + "/copy", fs::copy_options::recursive | fs::copy_options::copy_symlinks);
    ASSERT_TRUE(remove_container(home_ + "/copy").ok());
    EXPECT_EQ(text_of(path_), "a");
}

TEST_F(on_backends, container_takes_what_a_backend_does_not) {
    fs::remove(one_);
    for (int64_t pid = 0; pid < 8; ++pid) write(pid, pid, std::string(1, static_cast<char>('a' + pid)));
    EXPECT_EQ(text_of(path_), "abcdefgh");
    EXPECT_FALSE(fs::exists(one_));
    EXPECT_EQ(files_below(path_), 9U);
}

TEST_F(on_backends, reads_fail_where_a_backend_is_missing) {
    write(0, 0, "a");
    write(1, 1, "b");
    fs::rename(two_, two_ + " away");
    EXPECT_NE(text_of(path_).find("No such file or directory"), std::string::npos) << text_of(path_);
}

TEST_F(on_backends, list_is_taken_in_turn) {
    EXPECT_EQ(backend_of("/a:/b:/c", 0), "/a");
    EXPECT_EQ(backend_of("/a:/b:/c", 4), "/b");
    EXPECT_EQ(backend_of("/a:/b:/c", 5), "/c");
    EXPECT_EQ(backend_of("/a", 7), "/a");
    EXPECT_EQ(backend_of("", 7), "");
}

// --- one data dropping for a node ---

class logs_of_a_node : public ::testing::Test {
  protected:
    void SetUp() override { in_.create(path_, 0644, 1).value(); }
    static writer_options shared() {
        writer_options how;
        how.shares_with_node = true;
        return how;
    }
    std::set<ino_t> data_files() const {
        std::set<ino_t> found;
        for (const auto& entry : fs::directory_iterator(path_ + "/hostdir.0")) {
            struct stat file {};
            if (entry.path().filename().string().starts_with("data.") && ::stat(entry.path().c_str(), &file) == 0)
                found.insert(file.st_ino);
        }
        return found;
    }

    halcyon::tests::temporary_folder folder_;
    std::string path_ = folder_.file("file");
    container in_;
};

TEST_F(logs_of_a_node, are_one_file_in_which_nobody_writes_over_others) {
    constexpr int writers = 6;
    constexpr int64_t each = 40'000;
    std::vector<pid_t> children;
    for (int number = 0; number < writers; ++number) {
        const pid_t child = fork();
        if (child == 0) {
            writer to(in_);
            to.open(tests::identity(100 + number), shared()).value();
            std::mt19937_64 random(static_cast<uint64_t>(number));
            // Interleaved, and sometimes larger than a piece of the file.
            for (int64_t i = 0; i < 40; ++i)
                to.write((i * writers + number) * each, tests::random_bytes(random, each)).value();
            to.write(int64_t{100'000'000} * (number + 1), tests::random_bytes(random, 5'000'000)).value();
            to.close().value();
            _exit(0);
        }
        children.push_back(child);
    }
    for (const pid_t child : children) {
        int status = 0;
        ASSERT_EQ(waitpid(child, &status, 0), child);
        ASSERT_EQ(status, 0);
    }
    EXPECT_EQ(data_files().size(), 1U);
    reader from(in_, tests::beside_writers());
    from.reload().value();
    for (int number = 0; number < writers; ++number) {
        std::mt19937_64 random(static_cast<uint64_t>(number));
        tests::bytes read(each);
        for (int64_t i = 0; i < 40; ++i) {
            ASSERT_EQ(from.read((i * writers + number) * each, read).value(), each);
            ASSERT_EQ(read, tests::random_bytes(random, each)) << number << " " << i;
        }
        tests::bytes large(5'000'000);
        ASSERT_EQ(from.read(int64_t{100'000'000} * (number + 1), large).value(), 5'000'000);
        ASSERT_EQ(large, tests::random_bytes(random, 5'000'000)) << number;
    }
    const auto checked = check(in_);
    EXPECT_TRUE(checked->is_sound());
    EXPECT_TRUE(checked->findings.empty());
    EXPECT_LT(stats(in_)->data_bytes, int64_t{100} << 20);
}

TEST_F(logs_of_a_node, give_back_nothing_that_others_need) {
    writer one(in_);
    one.open(tests::identity(1), shared()).value();
    writer other(in_);
    other.open(tests::identity(2), shared()).value();
    one.write(0, as_bytes(std::string(100'000, 'x'))).value();
    other.write(0, as_bytes(std::string(100'000, 'y'))).value();
    one.sync().value();
    other.sync().value();
    const auto done = punch_dead(in_);
    ASSERT_TRUE(done.ok()) << done.why().message;
    EXPECT_EQ(done->punched_bytes, 0);
    EXPECT_EQ(text_of(path_), std::string(100'000, 'y'));
}

TEST_F(logs_of_a_node, are_own_files_where_there_are_no_second_names) {
    tests::watched_files calls;
    calls.before = [](std::string_view call, int64_t) { return call == "link" ? -EPERM : 0; };
    container there(calls);
    there.open(path_).value();
    for (int64_t pid = 1; pid <= 2; ++pid) {
        writer to(there);
        to.open(tests::identity(pid), shared()).value();
        to.write(pid - 1, as_bytes("x")).value();
        to.close().value();
    }
    EXPECT_EQ(text_of(path_), "xx");
    EXPECT_EQ(data_files().size(), 2U);
}

TEST_F(logs_of_a_node, leave_nothing_of_a_writer_that_wrote_nothing) {
    writer first(in_);
    first.open(tests::identity(1), shared()).value();
    first.write(0, as_bytes("x")).value();
    writer second(in_);
    second.open(tests::identity(2), shared()).value();
    second.close().value();
    EXPECT_EQ(text_of(path_), "x");
    EXPECT_TRUE(check(in_)->is_sound());
}

/// Killed at each step of its life: others read on, and nothing that it acknowledged is lost.
TEST_F(logs_of_a_node, survive_a_writer_that_is_killed_at_any_step) {
    writer other(in_);
    other.open(tests::identity(1), shared()).value();
    other.write(0, as_bytes("other")).value();
    bool was_killed = true;
    for (int last = 1; was_killed; ++last) {
        const int64_t offset = 10 * last;
        int told[2];
        ASSERT_EQ(pipe(told), 0);
        const pid_t child = fork();
        if (child == 0) {
            tests::watched_files calls;
            int step = 0;
            const auto passed = [&](std::string_view) {
                if (++step >= last) ::kill(::getpid(), SIGKILL);
            };
            calls.before = [&](std::string_view call, int64_t) {
                passed(call);
                return 0;
            };
            calls.behind = passed;
            container mine(calls);
            mine.open(path_).value();
            writer to(mine);
            to.open(tests::identity(1000 + last), shared()).value();
            to.write(offset, as_bytes("mine")).value();
            if (::write(told[1], "x", 1) != 1) _exit(1);
            to.close().value();
            _exit(0);
        }
        ::close(told[1]);
        char byte = 0;
        const bool is_acknowledged = ::read(told[0], &byte, 1) == 1;
        ::close(told[0]);
        int status = 0;
        ASSERT_EQ(waitpid(child, &status, 0), child);
        was_killed = WIFSIGNALED(status);
        const std::string text = text_of(path_);
        ASSERT_EQ(text.substr(0, 5), "other") << last << ": " << text;
        if (is_acknowledged) {
            ASSERT_EQ(text.substr(static_cast<size_t>(offset)), "mine") << last;
        }
        ASSERT_TRUE(check(in_)->is_sound()) << last;
        // So that the next one shows whether it is there.
        if (text.size() > 9) {
            writer cut(in_);
            cut.open(tests::identity(5000 + last)).value();
            cut.truncate(5).value();
            cut.close().value();
        }
    }
    EXPECT_EQ(data_files().empty(), false);
}

}  // namespace
}  // namespace halcyon::logfs
