#include "logfs/container/tools/punch.hpp"

#include <gtest/gtest.h>
#include <linux/magic.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <functional>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "logfs/container/reading/held_view.hpp"
#include "logfs/container/tools/check.hpp"
#include "logfs/container/tools/flatten.hpp"
#include "logfs/container/tools/stats.hpp"
#include "open_container.hpp"
#include "watched_files.hpp"

namespace halcyon::logfs {
namespace {

namespace fs = std::filesystem;
using tests::as_bytes;
using tests::open_container;

int64_t blocks_of(const std::string& path) {
    struct stat found {};
    EXPECT_EQ(::stat(path.c_str(), &found), 0) << path;
    return found.st_blocks;
}

class punching : public ::testing::Test {
  protected:
    static constexpr int64_t unit = 8192;

    void put(writer& to, int64_t offset, size_t length) {
        const auto data = tests::random_bytes(random_, length);
        to.write(offset, data).value();
        file_.write(offset, data);
    }
    /// One writer's data, which another one has replaced, both of them synced.
    void replace_all(open_container& in, const writer_options& how = {}) {
        writer& first = in.add_writer(1, how);
        writer& second = in.add_writer(2, how);
        for (int64_t i = 0; i < 32; ++i) put(first, i * unit, unit);
        first.sync().value();
        data_ = in.data_path(first);
        for (int64_t i = 0; i < 32; ++i) put(second, i * unit, unit);
        second.sync().value();
    }
    static std::unique_ptr<reader> reader_of(open_container& in) {
        auto from = in.new_reader();
        from->reload().value();
        return from;
    }

    std::mt19937_64 random_{1};
    tests::plain_file file_;
    std::string data_;
};

TEST_F(punching, gives_back_what_was_replaced_when_what_replaced_it_is_synced) {
    open_container in;
    writer& first = in.add_writer(1);
    writer& second = in.add_writer(2);
    for (int64_t i = 0; i < 50; ++i) put(first, i * unit, unit);
    first.settle().value();
    const std::string data = in.data_path(first);
    ASSERT_TRUE(first.sync().ok());
    const auto before = blocks_of(data);
    // Nothing is dead; then what replaces it is not synced; then half a block of each stays.
    EXPECT_EQ(punch_dead(in.of())->dead_bytes, 0);
    for (int64_t i = 0; i < 25; ++i) put(second, i * unit, 6000);
    EXPECT_EQ(punch_dead(in.of())->dead_bytes, 0);
    EXPECT_FALSE(fs::exists(in.path + "/punched"));
    ASSERT_TRUE(second.sync().ok());
    const auto done = punch_dead(in.of());
    ASSERT_TRUE(done.ok()) << done.why().message;
    EXPECT_EQ(done->punched_bytes, 25 * 4096);
    EXPECT_LE(blocks_of(data), before - 25 * 8 + 16);  // and what the file system notes about that
    EXPECT_EQ(tests::difference(in.contents(), file_.contents()), "none");
    EXPECT_TRUE(fs::exists(in.path + "/punched"));
    // Truncated, and what is there anew lies elsewhere.
    second.truncate(100).value();
    file_.truncate(100);
    put(second, 300'000, 10);
    ASSERT_TRUE(second.sync().ok());
    EXPECT_GT(punch_dead(in.of())->punched_bytes, 300'000);
    EXPECT_EQ(tests::difference(in.contents(), file_.contents()), "none");
    const auto checked = check(in.of()).value();
    EXPECT_TRUE(checked.is_sound());
}

TEST_F(punching, keeps_a_file_that_is_written_over_and_over_from_growing) {
    open_container in;
    writer& to = in.add_writer(1);
    const std::string data(1 << 20, 'x');
    for (int round = 0; round < 20; ++round) {
        to.write(0, as_bytes(data)).value();
        ASSERT_TRUE(to.sync().ok());
        const auto done = punch_dead(in.of());
        ASSERT_TRUE(done.ok()) << done.why().message;
        EXPECT_FALSE(done->is_held);
    }
    EXPECT_LE(stats(in.of())->space_amplification(), 2.0);
    EXPECT_EQ(tests::read_text(in), data);
    // What was given back already is no reason for readers to reload, where the file system says that it is gone.
    if (blocks_of(in.data_path(to)) * 512 > 1 << 20) return;
    const int64_t generation = read_generation(in.of());
    EXPECT_GT(punch_dead(in.of())->dead_bytes, 0);
    EXPECT_EQ(read_generation(in.of()), generation);
}

/// A reader that has read shows what it has shown, until it reloads.
TEST_F(punching, waits_for_those_who_may_read_what_is_dead_by_now) {
    open_container in;
    writer& first = in.add_writer(1);
    for (int64_t i = 0; i < 32; ++i) put(first, i * unit, unit);
    first.sync().value();
    const std::string data = in.data_path(first);
    const auto before = blocks_of(data);
    const auto from = reader_of(in);
    const auto old = tests::all_of(*from);
    ASSERT_EQ(tests::difference(old, file_.contents()), "none");
    writer& second = in.add_writer(2);
    for (int64_t i = 0; i < 32; ++i) put(second, i * unit, unit);
    second.sync().value();
    for (int i = 0; i < 3; ++i) {
        const auto held = punch_dead(in.of());
        ASSERT_TRUE(held.ok()) << held.why().message;
        EXPECT_TRUE(held->is_held);
        EXPECT_EQ(held->punched_bytes, 0);
    }
    EXPECT_EQ(blocks_of(data), before);
    EXPECT_EQ(tests::difference(tests::all_of(*from), old), "none");
    ASSERT_TRUE(from->reload().ok());
    const auto done = punch_dead(in.of());
    ASSERT_TRUE(done.ok()) << done.why().message;
    EXPECT_FALSE(done->is_held);
    EXPECT_EQ(done->punched_bytes, 32 * unit);
    EXPECT_LT(blocks_of(data), before);
    EXPECT_EQ(tests::difference(tests::all_of(*from), file_.contents()), "none");
}

/// Its view is from before, and it has not held it: it takes a new one.
TEST_F(punching, is_seen_by_a_reader_that_reads_for_the_first_time_after_it) {
    open_container in;
    writer& first = in.add_writer(1);
    for (int64_t i = 0; i < 32; ++i) put(first, i * unit, unit);
    first.sync().value();
    const auto from = reader_of(in);
    writer& second = in.add_writer(2);
    for (int64_t i = 0; i < 32; ++i) put(second, i * unit, unit);
    second.sync().value();
    ASSERT_EQ(punch_dead(in.of())->punched_bytes, 32 * unit);
    EXPECT_EQ(tests::difference(tests::all_of(*from), file_.contents()), "none");
}

TEST_F(punching, waits_also_for_a_reader_whose_forked_child_has_given_it_up) {
    open_container in;
    replace_all(in);
    auto from = reader_of(in);
    tests::all_of(*from);
    const pid_t child = fork();
    if (child == 0) {
        from.reset();
        _exit(0);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(punch_dead(in.of())->is_held);
    from.reset();
    EXPECT_EQ(punch_dead(in.of())->punched_bytes, 32 * unit);
}

TEST_F(punching, goes_on_when_the_last_reader_has_reloaded_if_it_is_told_to_wait) {
    open_container in;
    replace_all(in);
    const auto from = reader_of(in);
    tests::all_of(*from);
    const pid_t child = fork();
    if (child == 0) {
        container own;
        punch_options how;
        how.waits = true;
        if (!own.open(in.path).ok()) _exit(1);
        const auto done = punch_dead(own, how);
        _exit(done.ok() && done->punched_bytes == 32 * unit ? 0 : 2);
    }
    int status = 0;
    while (read_generation(in.of()) == 0) ASSERT_EQ(waitpid(child, &status, WNOHANG), 0);
    EXPECT_EQ(tests::difference(tests::all_of(*from), file_.contents()), "none");
    ASSERT_EQ(waitpid(child, &status, WNOHANG), 0);
    ASSERT_TRUE(from->reload().ok());
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    EXPECT_EQ(tests::difference(tests::all_of(*from), file_.contents()), "none");
}

/// The generation is raised by one at a time; all else may be done by several.
TEST_F(punching, is_begun_by_one_at_a_time) {
    tests::watched_files calls;
    open_container in(calls);
    replace_all(in);
    std::set<std::string, std::less<>> seen;
    calls.behind = [&](std::string_view call) {
        if ((call != "lock_part" && call != "punch") || !seen.emplace(call).second) return;
        container own;
        own.open(in.path).value();
        const auto other = punch_dead(own);
        EXPECT_EQ(other.ok(), call == "punch");
        if (!other) {
            EXPECT_EQ(other.why().kind, error_kind::unavailable);
        }
    };
    EXPECT_EQ(punch_dead(in.of())->punched_bytes, 32 * unit);
    EXPECT_EQ(seen.size(), 2U);
    EXPECT_EQ(tests::difference(in.contents(), file_.contents()), "none");
}

TEST_F(punching, is_left_where_a_file_system_has_no_locks) {
    tests::watched_files calls;
    open_container in(calls);
    replace_all(in);
    calls.before = [](std::string_view call, int64_t) { return call == "lock_part" ? -ENOLCK : 0; };
    const auto refused = punch_dead(in.of());
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.why().system_errno, ENOLCK);
    EXPECT_EQ(tests::difference(in.contents(), file_.contents()), "none");
}

/// A reader on another node would not be seen.
TEST_F(punching, is_left_where_locks_may_hold_on_one_node_only) {
    tests::watched_files calls;
    open_container in(calls);
    replace_all(in);
    const auto before = blocks_of(data_);
    calls.type = NFS_SUPER_MAGIC;
    EXPECT_EQ(punch_dead(in.of()).why().system_errno, ENOLCK);
    EXPECT_EQ(stats(in.of())->why_not_given_back, -ENOLCK);
    EXPECT_EQ(blocks_of(data_), before);
    calls.type = 0;
    EXPECT_EQ(punch_dead(in.of())->punched_bytes, 32 * unit);
}

TEST_F(punching, that_fails_is_told_and_can_be_tried_again) {
    tests::watched_files calls;
    open_container in(calls);
    replace_all(in);
    calls.before = [](std::string_view call, int64_t) { return call == "punch" ? -EOPNOTSUPP : 0; };
    EXPECT_EQ(punch_dead(in.of()).why().system_errno, EOPNOTSUPP);
    calls.before = [](std::string_view, int64_t) { return 0; };
    EXPECT_EQ(punch_dead(in.of())->punched_bytes, 32 * unit);
    EXPECT_EQ(tests::difference(in.contents(), file_.contents()), "none");
}

/// Sums cover 64 KiB: what was summed together with something that is read stays, and all sums that can be read fit.
TEST_F(punching, leaves_data_that_are_summed_with_live_ones) {
    open_container in;
    writer_options how;
    how.has_data_checks = true;
    writer& first = in.add_writer(1, how);
    for (int64_t i = 0; i < 64; ++i) put(first, i * unit, unit);
    first.sync().value();
    writer& second = in.add_writer(2, how);
    // All of the first half but 100 bytes; every second unit of the second half.
    for (int64_t i = 0; i < 32; ++i) put(second, i * unit, i == 9 ? unit - 100 : unit);
    for (int64_t i = 32; i < 64; i += 2) put(second, i * unit, unit);
    second.sync().value();
    const auto done = punch_dead(in.of());
    ASSERT_TRUE(done.ok()) << done.why().message;
    // 32 units are 4 sums, of which one has the 100 bytes.
    EXPECT_EQ(done->punched_bytes, 3 * 65536);
    reader_options verifying = tests::beside_writers();
    verifying.verifies_data = true;
    EXPECT_EQ(tests::difference(in.contents(verifying), file_.contents()), "none");
    const auto checked = check(in.of()).value();
    EXPECT_TRUE(checked.is_sound());
    EXPECT_TRUE(flatten(in.of(), in.folder.file("flat")).ok());
}

/// One process writes a file over and over and gives back what is dead; others read it meanwhile.
TEST_F(punching, never_shows_zeros_to_anybody) {
    constexpr int64_t blocks = 48;
    constexpr int rounds = 150;
    constexpr int readers = 3;
    open_container in;
    {
        writer begun(in.of());
        begun.open(tests::identity(99)).value();
        begun.write(0, as_bytes(std::string(blocks * unit, '\1'))).value();
        begun.sync().value();
        begun.close().value();
    }
    std::vector<pid_t> children;
    for (int i = 0; i < readers; ++i) {
        children.push_back(fork());
        if (children.back() != 0) continue;
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        container own;
        if (!own.open(in.path).ok()) _exit(10);
        reader from(own, tests::beside_writers());
        if (!from.reload().ok()) _exit(11);
        std::mt19937_64 random(static_cast<uint64_t>(i));
        tests::bytes buffer(static_cast<size_t>(3 * unit));
        for (;;) {
            if (random() % 5 == 0 && !from.reload().ok()) _exit(12);
            const auto offset = static_cast<int64_t>(random() % ((blocks - 3) * unit));
            if (!from.read(offset, buffer).ok()) _exit(13);
            if (std::find(buffer.begin(), buffer.end(), std::byte{0}) != buffer.end()) _exit(14);
            // The last round.
            if (buffer[0] == std::byte{255}) _exit(0);
        }
    }
    int64_t punched = 0;
    {
        writer to(in.of());
        to.open(tests::identity(1)).value();
        for (int round = 0; round < rounds; ++round) {
            const auto stamp = static_cast<char>(round == rounds - 1 ? 255 : 2 + round % 250);
            to.write(0, as_bytes(std::string(blocks * unit, stamp))).value();
            to.sync().value();
            punch_options how;
            how.waits = round % 10 == 0;
            punched += punch_dead(in.of(), how).value().punched_bytes;
        }
        to.close().value();
    }
    for (const pid_t child : children) {
        int status = 0;
        ASSERT_EQ(waitpid(child, &status, 0), child);
        EXPECT_EQ(status, 0) << WEXITSTATUS(status);
    }
    EXPECT_GT(punched, blocks * unit);
}

}  // namespace
}  // namespace halcyon::logfs
