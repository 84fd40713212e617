// What others find when a tool is killed before or behind any of its system calls.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "killed_at_step.hpp"
#include "logfs/container/tools/check.hpp"
#include "logfs/container/tools/export_plfs.hpp"
#include "logfs/container/tools/punch.hpp"
#include "logfs/container/tools/repair.hpp"
#include "open_container.hpp"

namespace halcyon::logfs {
namespace {

namespace fs = std::filesystem;
using halcyon::tests::killed_at;
using tests::open_container;

/// A container of two writers, the same each time but for the times of writes: of the second one, which was synced, all
/// is read; it has replaced the first half of what the first one wrote.
struct written {
    written() {
        std::mt19937_64 random(1);
        writer_options how;
        how.has_data_checks = true;
        writer& first = in.add_writer(1, how);
        writer& second = in.add_writer(2, how);
        const auto put = [&](writer& to, int64_t offset, size_t length) {
            const auto data = tests::random_bytes(random, length);
            to.write(offset, data).value();
            file.write(offset, data);
        };
        for (int64_t i = 0; i < 40; ++i) put(first, i * unit, unit);
        for (int64_t i = 0; i < 400; ++i) put(first, static_cast<int64_t>(random() % 40) * unit, 100 + random() % 100);
        first.sync().value();
        for (int64_t i = 0; i < 20; ++i) put(second, i * unit, unit);
        second.sync().value();
        index = in.index_path(first);
        data = in.data_path(first);
        in.close_writers();
    }

    static constexpr int64_t unit = 8192;

    open_container in;
    tests::plain_file file;
    std::string index;
    std::string data;
};

/// What it reads as; empty: reads fail.
tests::bytes read_all(container& in) {
    reader from(in, tests::beside_writers());
    if (!from.reload()) return {};
    tests::bytes all(static_cast<size_t>(from.size()));
    const auto read = from.read(0, all);
    return read && *read == from.size() ? all : tests::bytes();
}

using damage = std::function<void(const written&)>;

class killed_repair : public ::testing::TestWithParam<std::pair<const char*, damage>> {};

INSTANTIATE_TEST_SUITE_P(
    , killed_repair,
    ::testing::Values(
        std::pair<const char*, damage>{"of_a_changed_index",
                                       [](const written& on) {
                                           std::fstream file(on.index, std::ios::binary | std::ios::in | std::ios::out);
                                           file.seekp(4096 + 1000);
                                           file << "wrong";
                                       }},
        std::pair<const char*, damage>{"of_a_changed_head",
                                       [](const written& on) {
                                           std::fstream file(on.index, std::ios::binary | std::ios::in | std::ios::out);
                                           file.seekp(100);
                                           file << "wrong";
                                       }},
        std::pair<const char*, damage>{"of_data_that_were_cut",
                                       [](const written& on) { fs::resize_file(on.data, 30 * written::unit); }}),
    [](const auto& info) { return info.param.first; });

/// What a repair that nobody kills makes of it. How much is lost in a block of an index depends on the times in it.
tests::bytes repaired_copy(const written& of) {
    const std::string path = of.in.path + ".copy";
    fs::copy(of.in.path, path, fs::copy_options::recursive);
    container copy;
    copy.open(path).value();
    return repair(copy).ok() ? read_all(copy) : tests::bytes();
}

/// Reads fail as before, or give what a repair gives; and the next repair does what is left.
TEST_P(killed_repair, leaves_what_the_next_one_repairs) {
    long step = 0;
    for (bool was_killed = true; was_killed; ++step) {
        ASSERT_LT(step, 1000);
        written on;
        GetParam().second(on);
        const tests::bytes repaired = repaired_copy(on);
        ASSERT_FALSE(repaired.empty());
        const auto look = [&] {
            const tests::bytes now = read_all(on.in.of());
            // What was cut fails only where it is read.
            EXPECT_TRUE(now.empty() || now == repaired);
            const auto again = repair(on.in.of());
            ASSERT_TRUE(again.ok()) << again.why().message;
            EXPECT_TRUE(read_all(on.in.of()) == repaired);
            EXPECT_TRUE(check(on.in.of())->is_sound());
            EXPECT_TRUE(repair(on.in.of())->done.empty());
        };
        was_killed = killed_at(
            step, [&] { _exit(repair(on.in.of()).ok() ? 0 : 1); }, look);
        ASSERT_FALSE(HasFailure()) << "killed at step " << step;
    }
    EXPECT_GT(step, 4) << "the test shows nothing";
}

TEST(killed_punch, leaves_all_that_is_read_and_keeps_nobody_from_going_on) {
    long step = 0;
    for (bool was_killed = true; was_killed; ++step) {
        ASSERT_LT(step, 1000);
        written on;
        const auto before = on.in.new_reader();
        before->reload().value();
        const auto look = [&] {
            EXPECT_EQ(tests::difference(tests::all_of(*before), on.file.contents()), "none");
            EXPECT_EQ(tests::difference(on.in.contents(), on.file.contents()), "none");
            EXPECT_TRUE(check(on.in.of())->is_sound());
            before->reload().value();
            const auto again = punch_dead(on.in.of());
            ASSERT_TRUE(again.ok()) << again.why().message;
            EXPECT_FALSE(again->is_held);
            EXPECT_GT(again->dead_bytes, 0);
            EXPECT_EQ(tests::difference(on.in.contents(), on.file.contents()), "none");
            on.in.add_writer(3).write(0, tests::as_bytes("more")).value();
            on.file.write(0, tests::as_bytes("more"));
            EXPECT_EQ(tests::difference(on.in.contents(), on.file.contents()), "none");
        };
        was_killed = killed_at(
            step, [&] { _exit(punch_dead(on.in.of()).ok() ? 0 : 1); }, look);
        ASSERT_FALSE(HasFailure()) << "killed at step " << step;
    }
    EXPECT_GT(step, 4) << "the test shows nothing";
}

TEST(killed_export, leaves_all_of_it_or_nothing_and_the_next_one_leaves_nothing_else) {
    long step = 0;
    for (bool was_killed = true; was_killed; ++step) {
        ASSERT_LT(step, 1000);
        written on;
        const std::string target = on.in.folder.file("plfs");
        const auto look = [&] {
            EXPECT_EQ(tests::difference(on.in.contents(), on.file.contents()), "none");
            if (!fs::exists(target)) {
                const auto again = export_plfs(on.in.of(), target);
                ASSERT_TRUE(again.ok()) << again.why().message;
                EXPECT_EQ(on.in.folder.names(), (std::vector<std::string>{"file", "plfs"}));
            }
            container exported;
            ASSERT_TRUE(exported.open(target).ok());
            EXPECT_EQ(tests::difference(read_all(exported), on.file.contents()), "none");
        };
        was_killed = killed_at(
            step, [&] { _exit(export_plfs(on.in.of(), target).ok() ? 0 : 1); }, look);
        ASSERT_FALSE(HasFailure()) << "killed at step " << step;
    }
    EXPECT_GT(step, 10) << "the test shows nothing";
}

}  // namespace
}  // namespace halcyon::logfs
