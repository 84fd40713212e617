#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "logfs/container/tools/check.hpp"
#include "logfs/container/tools/flatten.hpp"
#include "logfs/container/tools/repair.hpp"
#include "logfs/container/tools/stats.hpp"
#include "open_container.hpp"
#include "watched_files.hpp"

namespace halcyon::logfs {
namespace {

namespace fs = std::filesystem;
using tests::as_bytes;
using tests::open_container;

std::string file_text(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

struct stat status_of(const std::string& path) {
    struct stat found {};
    EXPECT_EQ(::stat(path.c_str(), &found), 0) << path;
    return found;
}

class tools : public ::testing::Test {
  protected:
    /// Strided writes of several ranks, with a hole.
    void fill() {
        std::mt19937_64 random(1);
        for (int64_t rank = 0; rank < 3; ++rank) {
            writer& to = in_.add_writer(rank);
            for (int64_t i = 0; i < 1000; ++i) put(to, random, (i * 3 + rank) * 1000, 1000);
            if (rank == 1) put(to, random, 10'000'000, 5000);
        }
    }
    void put(writer& to, std::mt19937_64& random, int64_t offset, size_t length) {
        const auto data = tests::random_bytes(random, length);
        to.write(offset, data).value();
        file_.write(offset, data);
    }
    [[nodiscard]] bool equals(const std::string& path) const {
        return file_text(path) == tests::as_text(file_.contents());
    }

    open_container in_;
    tests::plain_file file_;
};

TEST_F(tools, flatten_makes_a_sparse_plain_file) {
    fill();
    const std::string target = in_.folder.file("flat");
    ASSERT_EQ(::chmod((in_.path + "/halcyon-container").c_str(), 0604), 0);
    const auto done = flatten(in_.of(), target);
    ASSERT_TRUE(done.ok()) << done.why().message;
    EXPECT_EQ(done->size, file_.size());
    EXPECT_EQ(done->written_bytes, 3'005'000);
    EXPECT_TRUE(equals(target));
    EXPECT_LT(status_of(target).st_blocks * 512, 4'000'000);
    EXPECT_EQ(status_of(target).st_mode & 0777, 0604U);
    EXPECT_EQ(in_.folder.names(), (std::vector<std::string>{"file", "flat"}));
}

TEST_F(tools, flatten_replaces_a_file_and_takes_a_containers_place) {
    fill();
    const std::string target = in_.folder.file("flat");
    std::ofstream(target) << "old";
    ASSERT_TRUE(flatten(in_.of(), target).ok());
    EXPECT_TRUE(equals(target));
    // What its writers, of which nothing is known here, wrote later would be lost.
    const auto refused = flatten(in_.of(), in_.path);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.why().kind, error_kind::unavailable);
    EXPECT_NE(refused.why().message.find("of node0 did not close it"), std::string::npos) << refused.why().message;
    EXPECT_EQ(in_.folder.names(), (std::vector<std::string>{"file", "flat"}));
    in_.close_writers();
    const auto done = flatten(in_.of(), in_.path + "/");
    ASSERT_TRUE(done.ok()) << done.why().message;
    EXPECT_TRUE(fs::is_regular_file(in_.path));
    EXPECT_TRUE(equals(in_.path));
    EXPECT_EQ(in_.folder.names(), (std::vector<std::string>{"file", "flat"}));
}

TEST_F(tools, flatten_that_cannot_leaves_everything_as_it_was) {
    fill();
    const std::string target = in_.folder.file("flat");
    std::ofstream(target) << "old";
    flatten_options stopping;
    stopping.on_progress = [](int64_t) { return false; };
    EXPECT_EQ(flatten(in_.of(), target, stopping).why().kind, error_kind::unavailable);
    EXPECT_EQ(file_text(target), "old");
    // Somebody writes whenever a part is done.
    writer& to = in_.add_writer(9);
    flatten_options writing;
    writing.on_progress = [&](int64_t) {
        to.write(0, as_bytes("x")).value();
        return true;
    };
    const auto busy = flatten(in_.of(), target, writing);
    ASSERT_FALSE(busy.ok());
    EXPECT_EQ(busy.why().kind, error_kind::unavailable);
    EXPECT_NE(busy.why().message.find("is being written"), std::string::npos);
    EXPECT_EQ(file_text(target), "old");
    fs::create_directory(in_.folder.file("folder"));
    std::ofstream(in_.folder.file("folder/inside")) << "text";
    EXPECT_FALSE(flatten(in_.of(), in_.folder.file("folder")).ok());
    EXPECT_FALSE(flatten(in_.of(), in_.folder.file("no/such/folder")).ok());
    EXPECT_EQ(in_.folder.names(), (std::vector<std::string>{"file", "flat", "folder"}));
}

TEST_F(tools, flatten_takes_no_containers_place_that_a_process_has_open) {
    auto to = std::make_unique<writer>(in_.of());
    to->open(writer_identity::of_this_process()).value();
    to->write(0, as_bytes("hello")).value();
    const auto refused = flatten(in_.of(), in_.path);
    ASSERT_FALSE(refused.ok());
    EXPECT_NE(refused.why().message.find("has it open"), std::string::npos) << refused.why().message;
    EXPECT_EQ(tests::read_text(in_), "hello");
    // Of a process of this host that has ended the log stays as it is.
    auto gone = writer_identity::of_this_process();
    gone.pid = INT32_MAX;
    to->close().value();
    to = std::make_unique<writer>(in_.of());
    to->open(gone).value();
    to->write(5, as_bytes(", world")).value();
    to->abandon();
    const auto done = flatten(in_.of(), in_.path);
    ASSERT_TRUE(done.ok()) << done.why().message;
    EXPECT_EQ(file_text(in_.path), "hello, world");
}

TEST_F(tools, flatten_overrides_that_when_it_is_told) {
    writer& to = in_.add_writer(1);
    to.write(0, as_bytes("hello")).value();
    flatten_options how;
    how.ignores_writers = true;
    ASSERT_TRUE(flatten(in_.of(), in_.path, how).ok());
    EXPECT_EQ(file_text(in_.path), "hello");
}

TEST_F(tools, flatten_leaves_what_took_the_containers_name_alone) {
    fill();
    in_.close_writers();
    flatten_options how;
    how.on_progress = [&](int64_t) {
        if (fs::is_directory(in_.path)) {
            fs::rename(in_.path, in_.folder.file("moved"));
            std::ofstream(in_.path) << "another";
        }
        return true;
    };
    const auto refused = flatten(in_.of(), in_.path, how);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.why().kind, error_kind::unavailable);
    EXPECT_EQ(file_text(in_.path), "another");
    EXPECT_EQ(in_.folder.names(), (std::vector<std::string>{"file", "moved"}));
    EXPECT_EQ(tests::difference(in_.contents(), file_.contents()), "none");
}

TEST_F(tools, flatten_is_done_by_one_at_a_time) {
    fill();
    const std::string target = in_.folder.file("flat");
    flatten_options how;
    bool is_first = true;
    how.on_progress = [&](int64_t) {
        if (!std::exchange(is_first, false)) return true;
        const auto other = flatten(in_.of(), target);
        EXPECT_FALSE(other.ok());
        if (other.ok()) return true;
        EXPECT_NE(other.why().message.find("another process is flattening it"), std::string::npos);
        return true;
    };
    ASSERT_TRUE(flatten(in_.of(), target, how).ok());
    EXPECT_FALSE(is_first);
    EXPECT_TRUE(equals(target));
    // What one that was killed left is no hindrance, and goes.
    std::ofstream(in_.folder.file(".halcyon-flattened-" + std::to_string(in_.of().id()))) << std::string(100, 'x');
    ASSERT_TRUE(flatten(in_.of(), target).ok());
    EXPECT_TRUE(equals(target));
    EXPECT_EQ(in_.folder.names(), (std::vector<std::string>{"file", "flat"}));
}

TEST_F(tools, flatten_of_an_empty_container_is_an_empty_file) {
    const std::string target = in_.folder.file("flat");
    ASSERT_TRUE(flatten(in_.of(), target).ok());
    EXPECT_EQ(status_of(target).st_size, 0);
}

TEST_F(tools, map_says_where_each_part_lies) {
    fill();
    const auto from = in_.new_reader();
    ASSERT_TRUE(from->reload().ok());
    int64_t at = 0;
    size_t holes = 0;
    size_t parts = 0;
    ASSERT_TRUE(map(*from, 0, from->size(), [&](const segment& each) {
        EXPECT_EQ(each.start, at);
        at = each.end();
        ++parts;
        holes += each.is_hole() ? 1 : 0;
        if (!each.is_hole() && each.start < 3'000'000) {
            EXPECT_EQ(from->writers()[each.dropping].rank, each.start / 1000 % 3);
            EXPECT_EQ(each.physical, each.start / 3000 * 1000);
        }
        return true;
    }));
    EXPECT_EQ(at, from->size());
    EXPECT_EQ(holes, 1U);
    EXPECT_EQ(parts, 3002U);
    parts = 0;
    ASSERT_TRUE(map(*from, 0, from->size(), [&](const segment&) { return ++parts < 5; }));
    EXPECT_EQ(parts, 5U);
}

TEST_F(tools, stats_count_what_is_there) {
    fill();
    const auto figures = stats(in_.of()).value();
    EXPECT_EQ(figures.size, file_.size());
    EXPECT_EQ(figures.hole_bytes, file_.size() - 3'005'000);
    EXPECT_EQ(figures.segments, 3001U);
    EXPECT_EQ(figures.writers, 3U);
    EXPECT_EQ(figures.open_writers, 3U);
    EXPECT_EQ(figures.hosts, 1U);
    EXPECT_EQ(figures.writes, 3001U);
    EXPECT_EQ(figures.written_bytes, 3'005'000);
    EXPECT_EQ(figures.data_bytes, 3'005'000);
    EXPECT_NEAR(figures.space_amplification(), 1, 0.01);
    in_.close_writers();
    const auto closed = stats(in_.of()).value();
    EXPECT_EQ(closed.open_writers, 0U);
    EXPECT_LT(closed.index_share(), 0.01);
    EXPECT_LE(closed.index_bytes, figures.index_bytes);
}

TEST_F(tools, check_of_a_sound_container_finds_nothing) {
    fill();
    const auto open = check(in_.of()).value();
    EXPECT_TRUE(open.is_sound());
    EXPECT_EQ(open.open_writers, 3U);
    in_.close_writers();
    const auto closed = check(in_.of()).value();
    EXPECT_TRUE(closed.findings.empty()) << describe(closed.findings.front());
    EXPECT_EQ(closed.writers, 3U);
    EXPECT_EQ(closed.size, file_.size());
    EXPECT_TRUE(repair(in_.of())->done.empty());
}

TEST_F(tools, check_names_what_is_foreign_or_missing) {
    fill();
    writer& to = in_.add_writer(9);
    to.write(0, as_bytes("x")).value();
    to.sync().value();
    const std::string index = in_.index_path(to);
    const std::string data = in_.data_path(to);
    in_.close_writers();
    std::ofstream(in_.path + "/README") << "text";
    fs::remove(index);
    const auto lonely = check(in_.of()).value();
    EXPECT_FALSE(lonely.is_sound());
    ASSERT_EQ(lonely.findings.size(), 2U);
    std::string text;
    for (const auto& each : lonely.findings) text += describe(each) + "\n";
    EXPECT_NE(text.find("note: README: no file of a container"), std::string::npos) << text;
    EXPECT_NE(text.find("its index dropping is missing"), std::string::npos) << text;
    const auto repaired = repair(in_.of()).value();
    ASSERT_EQ(repaired.done.size(), 1U);
    EXPECT_FALSE(fs::exists(data));
    EXPECT_TRUE(check(in_.of())->is_sound());
    EXPECT_TRUE(in_.new_reader()->reload().ok());
}

TEST_F(tools, what_was_not_synced_and_has_lost_its_index_is_a_loss) {
    fill();
    writer& to = in_.add_writer(9);
    to.write(0, as_bytes("x")).value();
    const std::string index = in_.index_path(to);
    in_.close_writers();
    fs::remove(index);
    const auto found = check(in_.of()).value();
    EXPECT_TRUE(found.is_sound());
    ASSERT_EQ(found.findings.size(), 1U);
    EXPECT_EQ(found.findings.front().how, check_finding::weight::loss) << describe(found.findings.front());
    EXPECT_EQ(tests::difference(in_.contents(), file_.contents()), "none");
    EXPECT_EQ(repair(in_.of())->done.size(), 1U);
    EXPECT_EQ(check(in_.of())->count(check_finding::weight::loss), 0U);
}

TEST_F(tools, repair_cuts_what_data_droppings_do_not_hold) {
    writer& to = in_.add_writer(1);
    for (int64_t i = 0; i < 100; ++i) to.write(i * 100, as_bytes(std::string(50, 'x'))).value();
    const std::string data = in_.data_path(to);
    in_.close_writers();
    fs::resize_file(data, 40 * 50 + 20);
    EXPECT_EQ(check(in_.of())->count(check_finding::weight::loss), 1U);
    const auto done = repair(in_.of()).value();
    EXPECT_EQ(done.cut_bytes, 59 * 50 + 30);
    const std::string text = tests::read_text(in_);
    ASSERT_EQ(text.size(), 4020U);
    for (size_t i = 0; i < text.size(); ++i) ASSERT_EQ(text[i], i % 100 < 50 ? 'x' : '\0') << i;
}

/// The new index says that all of it is on the device: so it has to be there.
TEST_F(tools, repair_syncs_data_before_it_says_that_they_are_there) {
    tests::watched_files calls;
    open_container in(calls);
    writer& to = in.add_writer(1);
    for (int64_t i = 0; i < 100; ++i) to.write(i * 100, as_bytes(std::string(50, 'x'))).value();
    const std::string data = in.data_path(to);
    in.close_writers();
    fs::resize_file(data, 1000);
    std::vector<std::string> steps;
    calls.behind = [&](std::string_view call) {
        if (call == "sync" || call == "commit" || call == "rename") steps.emplace_back(call);
    };
    ASSERT_EQ(repair(in.of())->rewritten, 1U);
    // The data; the index with its commit; the copy of the old one; then it takes its place, and directories follow.
    ASSERT_GE(steps.size(), 6U);
    steps.resize(5);
    EXPECT_EQ(steps, (std::vector<std::string>{"sync", "commit", "sync", "sync", "rename"}));
}

TEST_F(tools, repair_leaves_a_process_alone_whose_header_does_not_say_of_which_boot_it_is) {
    writer to(in_.of());
    ASSERT_TRUE(to.open(writer_identity::of_this_process()).ok());
    to.write(0, as_bytes("hello")).value();
    {
        std::fstream index(in_.index_path(to), std::ios::binary | std::ios::in | std::ios::out);
        for (const size_t at : {size_t{0}, header_copy_at}) index.seekp(static_cast<std::streamoff>(at + 143)) << "?";
    }
    const auto refused = repair(in_.of());
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.why().system_errno, EBUSY) << refused.why().message;
}

TEST_F(tools, repair_leaves_a_process_that_still_writes_alone) {
    auto who = writer_identity::of_this_process();
    writer to(in_.of());
    ASSERT_TRUE(to.open(who).ok());
    to.write(0, as_bytes("hello")).value();
    fs::resize_file(in_.data_path(to), 2);
    const auto refused = repair(in_.of());
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.why().kind, error_kind::usage);
    EXPECT_NE(refused.why().message.find("still has it open"), std::string::npos);
    repair_options anyway;
    anyway.ignores_writers = true;
    EXPECT_EQ(repair(in_.of(), anyway)->cut_bytes, 3);
}

}  // namespace
}  // namespace halcyon::logfs
