#include "logfs/container/space/own_space.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "logfs/container/log_file.hpp"
#include "logfs/container/reading/held_view.hpp"
#include "logfs/container/tools/check.hpp"
#include "logfs/container/tools/stats.hpp"
#include "plain_file.hpp"
#include "temporary_folder.hpp"
#include "watched_files.hpp"

namespace halcyon::logfs {
namespace {

namespace fs = std::filesystem;
using tests::as_bytes;

constexpr int64_t unit = 4096;
constexpr int64_t units = 64;
constexpr int64_t whole = units * unit;

opening for_all(bool may_write = true) {
    opening how;
    how.may_write = may_write;
    how.creates = may_write;
    how.host_directories = 1;
    how.least_given_back = 8 * unit;
    return how;
}

/// All data droppings, on the device.
int64_t room_of(const std::string& path) {
    int64_t bytes = 0;
    for (const auto& each : fs::recursive_directory_iterator(path)) {
        struct stat found {};
        if (!each.path().filename().string().starts_with("data.")) continue;
        EXPECT_EQ(::stat(each.path().c_str(), &found), 0);
        bytes += found.st_blocks * 512;
    }
    return bytes;
}

int64_t generation_of(const std::string& path) {
    container of;
    of.open(path).value();
    return read_generation(of);
}

class own_space_of_a_file : public ::testing::Test {
  protected:
    void open(log_file& file, int64_t pid, const opening& how = for_all()) {
        file.open(path_, tests::identity(pid), how).value();
    }
    void put(log_file& to, int64_t offset, int64_t length) {
        const auto data = tests::random_bytes(random_, static_cast<size_t>(length));
        ASSERT_EQ(to.write(offset, data).value(), length);
        file_.write(offset, data);
    }
    void expect_right(log_file& from) {
        tests::bytes data(static_cast<size_t>(from.size().value()));
        ASSERT_EQ(from.read(0, data).value(), static_cast<int64_t>(data.size()));
        ASSERT_EQ(tests::difference(data, file_.contents()), "none");
    }
    void expect_right_anew() {
        log_file anew;
        open(anew, 99, for_all(false));
        expect_right(anew);
        EXPECT_TRUE(check(anew.of())->is_sound());
    }

    halcyon::tests::temporary_folder folder_;
    std::string path_ = folder_.file("file");
    std::mt19937_64 random_{1};
    tests::plain_file file_;
};

TEST_F(own_space_of_a_file, stays_small_when_it_is_rewritten_and_synced) {
    log_file file;
    open(file, 1);
    for (int round = 0; round < 20; ++round) {
        put(file, 0, whole);
        ASSERT_TRUE(file.sync().ok());
        EXPECT_LE(room_of(path_), 2 * whole);
        // Its own view is no hindrance.
        ASSERT_NO_FATAL_FAILURE(expect_right(file));
    }
    file.close().value();
    expect_right_anew();
}

TEST_F(own_space_of_a_file, stays_small_when_parts_of_it_are_rewritten) {
    log_file file;
    open(file, 1);
    for (int round = 0; round < 400; ++round) {
        const auto at = static_cast<int64_t>(random_() % units);
        put(file, at * unit + static_cast<int64_t>(random_() % 100), std::min((units - at) * unit, 5 * unit));
        if (random_() % 8 == 0) {
            ASSERT_TRUE(file.sync().ok());
        }
        if (random_() % 50 == 0) {
            file.erase(at * unit, 20 * unit).value();
            file_.erase(at * unit, 20 * unit);
        }
        ASSERT_LE(room_of(path_), 4 * whole) << round;
        ASSERT_NO_FATAL_FAILURE(expect_right(file)) << round;
    }
    file.close().value();
    EXPECT_GT(generation_of(path_), 10);
    expect_right_anew();
}

TEST_F(own_space_of_a_file, stays_small_when_it_is_rewritten_and_never_synced) {
    log_file file;
    open(file, 1);
    int64_t most = 0;
    for (int round = 0; round < 30; ++round) {
        for (int64_t at = 0; at < whole; at += 4 * unit) put(file, at, 4 * unit);
        most = std::max(most, room_of(path_));
    }
    EXPECT_LE(most, 4 * whole);
    expect_right(file);
    file.close().value();
    EXPECT_LE(room_of(path_), 2 * whole);
    expect_right_anew();
}

TEST_F(own_space_of_a_file, stays_small_when_each_program_writes_it_anew) {
    for (const bool syncs : {true, false}) {
        for (int round = 0; round < 10; ++round) {
            opening how = for_all();
            how.truncates = true;
            log_file file;
            open(file, 1, how);
            file_.truncate(0);
            put(file, 0, whole);
            if (syncs) {
                ASSERT_TRUE(file.sync().ok());
            }
            file.close().value();
            EXPECT_LE(room_of(path_), 2 * whole) << syncs;
        }
    }
    expect_right_anew();
}

/// What no commit of the older one names goes; all else may be needed after a crash.
TEST_F(own_space_of_a_file, keeps_what_was_synced_until_what_replaces_it_is) {
    log_file file;
    open(file, 1);
    put(file, 0, whole);
    ASSERT_TRUE(file.sync().ok());
    for (int round = 0; round < 3; ++round) put(file, 0, whole);
    file.truncate(0).value();
    file_.truncate(0);
    file.close().value();
    EXPECT_EQ(room_of(path_), whole);
    opening how = for_all();
    how.truncates = true;
    log_file second;
    open(second, 2, how);
    put(second, 0, unit);
    second.close().value();
    EXPECT_EQ(room_of(path_), whole + unit);
    expect_right_anew();
}

TEST_F(own_space_of_a_file, is_not_looked_at_by_a_writer_that_goes_forward) {
    tests::watched_files calls;
    log_file file(calls);
    open(file, 1);
    put(file, 0, unit);
    ASSERT_TRUE(file.sync_own().ok());
    calls.before = [](std::string_view call, int64_t) { return call == "open" || call == "lock_part" ? -EIO : 0; };
    for (int64_t at = 1; at < 8 * units; ++at) {
        put(file, at * 2 * unit, unit);
        if (at % units == 0) {
            ASSERT_TRUE(file.sync_own().ok());
        }
    }
    calls.before = [](std::string_view, int64_t) { return 0; };
    file.close().value();
    EXPECT_EQ(generation_of(path_), 0);
}

TEST_F(own_space_of_a_file, is_given_back_when_another_view_is_no_longer_in_the_way) {
    log_file file;
    open(file, 1);
    put(file, 0, whole);
    ASSERT_TRUE(file.sync().ok());
    log_file other;
    open(other, 2, for_all(false));
    tests::plain_file before = file_;
    expect_right(other);
    put(file, 0, whole);
    ASSERT_TRUE(file.sync().ok());
    for (int i = 0; i < 3; ++i) {
        ASSERT_TRUE(file.sync().ok());
        EXPECT_EQ(room_of(path_), 2 * whole);
        // As of its last refresh.
        std::swap(file_, before);
        ASSERT_NO_FATAL_FAILURE(expect_right(other));
        std::swap(file_, before);
    }
    // Whoever holds the next view need not be waited for.
    ASSERT_TRUE(other.refresh().ok());
    ASSERT_NO_FATAL_FAILURE(expect_right(other));
    ASSERT_TRUE(file.sync().ok());
    EXPECT_EQ(room_of(path_), whole);
    ASSERT_NO_FATAL_FAILURE(expect_right(other));
    ASSERT_NO_FATAL_FAILURE(expect_right(file));
}

TEST_F(own_space_of_a_file, says_why_it_is_not_given_back_and_goes_on) {
    for (const std::string_view refused : {"punch", "lock_part"}) {
        fs::remove_all(path_);
        file_.truncate(0);
        tests::watched_files calls;
        log_file file(calls);
        open(file, 1);
        const int why = refused == "punch" ? -EOPNOTSUPP : -ENOLCK;
        int asked = 0;
        calls.before = [&](std::string_view call, int64_t) {
            if (call != refused) return 0;
            ++asked;
            return why;
        };
        for (int round = 0; round < 5; ++round) {
            put(file, 0, whole);
            ASSERT_TRUE(file.sync().ok());
        }
        EXPECT_EQ(asked, 1) << refused;
        EXPECT_EQ(stats(file.of())->why_not_given_back, why) << refused;
        calls.before = [](std::string_view, int64_t) { return 0; };
        ASSERT_NO_FATAL_FAILURE(expect_right(file));
        file.close().value();
        expect_right_anew();
        // Another one tries it anew.
        log_file next;
        open(next, 2);
        for (int round = 0; round < 2; ++round) {
            put(next, 0, whole);
            ASSERT_TRUE(next.sync().ok());
        }
        EXPECT_EQ(stats(next.of())->why_not_given_back, 0);
    }
}

TEST_F(own_space_of_a_file, keeps_the_sums_of_what_is_read) {
    opening how = for_all();
    how.writing.has_data_checks = true;
    how.reading.verifies_data = true;
    how.least_given_back = 80 * unit;
    log_file file;
    open(file, 1, how);
    for (int round = 0; round < 400; ++round) {
        put(file, static_cast<int64_t>(random_() % units) * unit, 3 * unit + 5);
        if (random_() % 30 == 0) {
            ASSERT_TRUE(file.sync().ok());
        }
    }
    ASSERT_NO_FATAL_FAILURE(expect_right(file));
    file.close().value();
    EXPECT_GT(generation_of(path_), 0);
    const auto checked = [&] {
        container of;
        of.open(path_).value();
        return check(of).value();
    }();
    EXPECT_TRUE(checked.is_sound());
    expect_right_anew();
}

std::string text_of(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

/// The device has the punched data, and of the index what was synced: as after a crash of the node at that moment.
TEST_F(own_space_of_a_file, is_given_back_behind_what_a_crash_leaves) {
    tests::watched_files calls;
    log_file file(calls);
    opening how = for_all();
    how.writing.may_map_index = false;
    open(file, 1, how);
    std::string index;         // on the device
    tests::plain_file synced;  // the file, likewise
    int64_t changed_to = 0;    // since then, from the beginning
    int crashes[2] = {};
    const fs::path image = folder_.path() / "image";
    calls.behind = [&](std::string_view call) {
        if (call == "sync" && file.writing()) index = text_of(path_ + "/" + std::string(file.writing()->name()));
        if (call != "punch") return;
        ++crashes[file.writing()->index().has_uncommitted() ? 1 : 0];
        fs::remove_all(image);
        fs::copy(path_, image, fs::copy_options::recursive);
        std::ofstream(image / std::string(file.writing()->name()), std::ios::binary) << index;
        container left;
        left.open(image.string()).value();
        reader_options rebooted = tests::beside_writers();
        rebooted.boot_id = "another boot";
        reader from(left, rebooted);
        ASSERT_TRUE(from.reload().ok());
        tests::bytes data(static_cast<size_t>(whole - changed_to));
        ASSERT_EQ(from.read(changed_to, data).value(), static_cast<int64_t>(data.size()));
        ASSERT_TRUE(std::equal(data.begin(), data.end(), synced.contents().begin() + changed_to));
    };
    for (int round = 0; round < 12; ++round) {
        changed_to = whole;
        put(file, 0, whole);
        synced = file_;
        changed_to = 0;
        ASSERT_TRUE(file.sync().ok());
        ASSERT_FALSE(HasFatalFailure()) << round;
        changed_to = whole / 2;
        for (int again = 0; again < 9; ++again) put(file, 0, changed_to);
        ASSERT_FALSE(HasFatalFailure()) << round;
    }
    EXPECT_GT(crashes[0], 3);
    EXPECT_GT(crashes[1], 3);
}

/// One process at each step of giving back; then another goes on.
TEST_F(own_space_of_a_file, loses_nothing_when_its_process_is_killed_at_any_step) {
    {
        log_file file;
        open(file, 1);
        put(file, 0, whole);
        file.close().value();
    }
    for (int last = 1;; ++last) {
        const uint64_t seed = random_();
        const pid_t child = fork();
        if (child == 0) {
            tests::watched_files calls;
            log_file file(calls);
            if (!file.open(path_, tests::identity(last), for_all()).ok()) _exit(1);
            std::mt19937_64 random(seed);
            int step = 0;
            const auto count = [&](std::string_view) {
                if (++step >= last) ::kill(::getpid(), SIGKILL);
            };
            for (int round = 0; round < 2; ++round) {
                // Each step behind the second write, synced or not.
                const auto data = tests::random_bytes(random, static_cast<size_t>(whole));
                if (!file.write(0, data).ok()) _exit(2);
                if (round == 0) continue;
                calls.before = [&](std::string_view call, int64_t) {
                    count(call);
                    return 0;
                };
                calls.behind = count;
                if (last % 2 == 0 && !file.sync_own().ok()) _exit(3);
            }
            if (!file.close().ok()) _exit(4);
            _exit(0);
        }
        int status = 0;
        ASSERT_EQ(waitpid(child, &status, 0), child);
        std::mt19937_64 random(seed);
        tests::random_bytes(random, static_cast<size_t>(whole));
        file_.write(0, tests::random_bytes(random, static_cast<size_t>(whole)));
        log_file anew;
        open(anew, 99, for_all(false));
        ASSERT_NO_FATAL_FAILURE(expect_right(anew)) << "killed behind step " << last;
        ASSERT_TRUE(check(anew.of())->is_sound()) << "killed behind step " << last;
        anew.close().value();
        if (WIFEXITED(status) && last % 2 == 0) {
            ASSERT_EQ(WEXITSTATUS(status), 0);
            break;
        }
        ASSERT_TRUE(WIFSIGNALED(status) || WEXITSTATUS(status) == 0) << WEXITSTATUS(status);
        ASSERT_LT(last, 1000);
    }
}

/// Two processes rewrite their halves, now and then all of it anew; others read, and never see anything but what was
/// written there.
TEST_F(own_space_of_a_file, never_shows_zeros_to_anybody) {
    constexpr int rounds = 120;
    constexpr int readers = 3;
    {
        log_file file;
        open(file, 99);
        file.write(0, as_bytes(std::string(whole, '\1'))).value();
        file.sync().value();
    }
    std::vector<pid_t> writers;
    std::vector<pid_t> reading;
    for (int i = 0; i < readers + 2; ++i) {
        const pid_t child = fork();
        if (child != 0) {
            (i < readers ? reading : writers).push_back(child);
            continue;
        }
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        std::mt19937_64 random(static_cast<uint64_t>(i));
        log_file file;
        if (!file.open(path_, tests::identity(1 + i), for_all(i >= readers)).ok()) _exit(10);
        const int64_t begin = i == readers ? 0 : whole / 2;
        for (int round = 0; i >= readers && round < rounds; ++round) {
            const auto stamp = static_cast<char>(round == rounds - 1 ? 255 : 2 + round % 250);
            for (int64_t at = 0; at < whole / 2; at += 4 * unit) {
                if (!file.write(begin + at, as_bytes(std::string(4 * unit, stamp))).ok()) _exit(11);
            }
            if (random() % 3 != 0 && !file.sync().ok()) _exit(12);
        }
        if (i >= readers) _exit(file.close().ok() ? 0 : 13);
        tests::bytes buffer(static_cast<size_t>(3 * unit));
        for (;;) {
            if (random() % 5 == 0 && !file.refresh().ok()) _exit(14);
            const auto offset = static_cast<int64_t>(random() % (whole - 3 * unit));
            if (!file.read(offset, buffer).ok()) _exit(15);
            if (std::find(buffer.begin(), buffer.end(), std::byte{0}) != buffer.end()) _exit(16);
            if (buffer[0] == std::byte{255} && random() % 20 == 0) _exit(0);
        }
    }
    for (const pid_t child : writers) {
        int status = 0;
        ASSERT_EQ(waitpid(child, &status, 0), child);
        EXPECT_EQ(status, 0) << WEXITSTATUS(status);
    }
    for (const pid_t child : reading) {
        int status = 0;
        ASSERT_EQ(waitpid(child, &status, 0), child);
        EXPECT_EQ(status, 0) << WEXITSTATUS(status);
    }
    EXPECT_GT(generation_of(path_), 0);
}

}  // namespace
}  // namespace halcyon::logfs
