#include <gtest/gtest.h>
#include <linux/magic.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "named_files.hpp"
#include "open_container.hpp"

namespace halcyon::logfs {
namespace {

namespace fs = std::filesystem;
using tests::as_bytes;
using tests::open_container;
using names = std::vector<std::string>;

int nothing_fails(std::string_view, int64_t) {
    return 0;
}

/// Data before the index, each of them once; nothing when nothing is new.
TEST(writer_sync, syncs_data_then_the_index) {
    names steps;
    tests::watched_files calls;
    open_container in(calls);
    writer& to = in.add_writer(1);
    to.write(0, as_bytes("hello")).value();
    calls.behind = [&](std::string_view call) {
        if (call == "sync" || call == "commit" || call == "committed") steps.emplace_back(call);
    };
    ASSERT_TRUE(to.sync().ok());
    // Data; the marker and three directories; the commit, and the index with it.
    EXPECT_EQ(steps, (names{"sync", "sync", "sync", "sync", "sync", "commit", "committed", "sync"}));
    steps.clear();
    ASSERT_TRUE(to.sync().ok());
    EXPECT_TRUE(steps.empty());
    to.write(5, as_bytes("!")).value();
    ASSERT_TRUE(to.sync().ok());
    EXPECT_EQ(steps, (names{"sync", "commit", "committed", "sync"}));
    steps.clear();
    ASSERT_TRUE(to.truncate(3).ok());
    ASSERT_TRUE(to.sync().ok());
    EXPECT_EQ(steps, (names{"commit", "committed", "sync"}));
}

/// Whoever created the container may never sync: a marker that is empty after a crash would cost all of it.
TEST(writer_sync, covers_all_that_a_reader_needs_after_a_crash) {
    tests::named_files calls;
    open_container in(calls);
    writer& to = in.add_writer(1);
    to.write(0, as_bytes("hello")).value();
    calls.noted.clear();
    ASSERT_TRUE(to.sync().ok());
    EXPECT_EQ(calls.take_syncs(), (names{"data", "hostdir", "halcyon-container", ".", "..", "index"}));
}

TEST(writer_sync, that_found_no_descriptor_may_be_tried_again) {
    tests::watched_files calls;
    open_container in(calls);
    writer& to = in.add_writer(1);
    to.write(0, as_bytes("hello")).value();
    calls.before = [](std::string_view call, int64_t) { return call == "open" ? -EMFILE : 0; };
    EXPECT_EQ(to.sync().why().system_errno, EMFILE);
    calls.before = nothing_fails;
    EXPECT_TRUE(to.sync().ok());
    EXPECT_FALSE(to.index().has_uncommitted());
}

TEST(writer_sync, of_the_index_that_failed_keeps_nobody_from_writing) {
    int syncs = 0;
    tests::watched_files calls;
    open_container in(calls);
    writer& to = in.add_writer(1);
    to.write(0, as_bytes("hello")).value();
    to.sync().value();
    to.write(5, as_bytes(" again")).value();
    calls.before = [&](std::string_view call, int64_t) { return call == "sync" && ++syncs == 2 ? -ENOSPC : 0; };
    EXPECT_EQ(to.sync().why().system_errno, ENOSPC);
    EXPECT_EQ(syncs, 2);
    EXPECT_TRUE(to.write(11, as_bytes("!")).ok());
    EXPECT_FALSE(to.sync().ok());
    EXPECT_EQ(tests::read_text(in), "hello again!");
    // What may not be on the disk is not said to be there.
    EXPECT_EQ(to.index().state().synced_commit, 1U);
}

/// Says that it syncs, and does not: for tests of thousands.
class fast_files : public tests::watched_files {
  public:
    int sync(int) override { return 0; }
    int sync_names(int) override { return 0; }
};

/// A disk that is full by now refuses no sync of what it took.
TEST(writer_sync, needs_no_more_room_than_its_writes_had) {
    bool is_full = false;
    fast_files calls;
    open_container in(calls);
    writer_options how;
    how.has_data_checks = true;
    writer& to = in.add_writer(1, how);
    std::mt19937_64 random(1);
    calls.before = [&](std::string_view call, int64_t) { return is_full && call == "reserve" ? -ENOSPC : 0; };
    for (int i = 0; i < 5000; ++i) {
        is_full = false;
        to.write(static_cast<int64_t>(random() % 1000000), as_bytes("some bytes")).value();
        is_full = true;
        const auto done = to.sync();
        ASSERT_TRUE(done.ok()) << i << ": " << done.why().message;
    }
    EXPECT_GT(to.index().state().end.block, 15U);
}

TEST(writer_close, sends_the_data_before_the_index_that_names_them) {
    tests::named_files calls;
    open_container in(calls);
    writer& to = in.add_writer(1);
    to.write(0, as_bytes("hello")).value();
    calls.noted.clear();
    ASSERT_TRUE(to.close().ok());
    EXPECT_EQ(calls.noted, (names{"close data", "close index"}));
}

TEST(writer_calls, a_write_makes_one) {
    int64_t made = 0;
    tests::watched_files calls;
    open_container in(calls);
    writer& to = in.add_writer(1);
    calls.before = [&](std::string_view, int64_t) {
        ++made;
        return 0;
    };
    const std::string data(100, 'x');
    for (int64_t i = 0; i < 10000; ++i) to.write(i * 300, as_bytes(data)).value();
    EXPECT_LE(made, 10010);
}

TEST(writer_index, is_written_by_calls_where_a_store_would_need_new_room) {
    tests::watched_files calls;
    open_container in(calls);
    EXPECT_TRUE(in.add_writer(1).index().is_mapped());
    calls.type = BTRFS_SUPER_MAGIC;
    writer& to = in.add_writer(2);
    EXPECT_FALSE(to.index().is_mapped());
    to.write(0, as_bytes("hello")).value();
    EXPECT_EQ(tests::read_text(in), "hello");
}

/// A process may be killed between any two of its instructions: readers must never find a part of a head.
TEST(writer_index, its_head_is_there_whole_or_not_at_all) {
    for (const bool may_map : {true, false}) {
        tests::watched_files calls;
        open_container in(calls);
        std::set<std::string> heads;
        const auto look = [&] {
            for (const auto& entry : fs::recursive_directory_iterator(in.path)) {
                if (!entry.path().filename().string().starts_with("index.")) continue;
                std::ifstream file(entry.path(), std::ios::binary);
                const std::string text((std::istreambuf_iterator<char>(file)), {});
                heads.insert(text.substr(0, block_bytes));
            }
        };
        calls.before = [&](std::string_view, int64_t) {
            look();
            return 0;
        };
        calls.behind = [&](std::string_view) { look(); };
        writer_options how;
        how.may_map_index = may_map;
        writer& to = in.add_writer(1, how);
        calls.before = nothing_fails;
        calls.behind = [](std::string_view) {};
        // No file behind its creation, room for one, and all of it.
        ASSERT_EQ(heads.size(), 3U) << may_map;
        EXPECT_TRUE(heads.contains(""));
        EXPECT_TRUE(heads.contains(std::string(block_bytes, '\0')));
        EXPECT_TRUE(heads.rbegin()->starts_with("HALCLOGI"));
        to.write(0, as_bytes("hello")).value();
        EXPECT_EQ(tests::read_text(in), "hello");
    }
}

/// Writes the data, the state, and then the record of their sum, which is refused.
class writer_checks : public ::testing::Test {
  protected:
    writer& write_and_refuse_sum(int why) {
        writer_options how;
        how.has_data_checks = true;
        how.may_map_index = false;
        writer& to = in_.add_writer(1, how);
        calls_.before = [this, why](std::string_view call, int64_t) {
            return call == "write" && ++writes_ == 3 ? -why : 0;
        };
        EXPECT_EQ(to.write(0, as_bytes(data_)).value(), 100000);
        return to;
    }

    const std::string data_ = std::string(100000, 'x');
    int writes_ = 0;
    tests::watched_files calls_;
    open_container in_{calls_};
};

TEST_F(writer_checks, that_cannot_be_added_take_nothing_back) {
    writer& to = write_and_refuse_sum(EIO);
    EXPECT_EQ(to.write(100000, as_bytes("more")).why().system_errno, EIO);
    EXPECT_EQ(writes_, 3);
    EXPECT_EQ(tests::read_text(in_), data_);
}

TEST_F(writer_checks, that_find_no_room_are_added_later) {
    writer& to = write_and_refuse_sum(ENOSPC);
    EXPECT_EQ(to.write(100000, as_bytes("more")).value(), 4);
    ASSERT_TRUE(to.sync().ok());
    reader_options verifying = tests::beside_writers();
    verifying.verifies_data = true;
    EXPECT_EQ(tests::as_text(in_.contents(verifying)), data_ + "more");
    const auto from = in_.new_reader(verifying);
    from->reload().value();
    EXPECT_EQ(from->checks().summed(0), 100004);
}

/// Each of the calls by which a sync writes into the index: the next sync says all of it.
TEST(writer_sync, that_finds_no_room_for_what_it_says_may_be_tried_again) {
    bool is_refused = true;
    int failing = 0;
    while (is_refused) {
        ++failing;
        int writes = 0;
        tests::watched_files calls;
        open_container in(calls);
        writer_options how;
        how.may_map_index = false;
        writer& to = in.add_writer(1, how);
        to.write(0, as_bytes("hello")).value();
        calls.before = [&](std::string_view call, int64_t) {
            return call == "write" && ++writes == failing ? -ENOSPC : 0;
        };
        const auto synced = to.sync();
        is_refused = !synced.ok();
        calls.before = nothing_fails;
        EXPECT_EQ(is_refused ? synced.why().system_errno : ENOSPC, ENOSPC);
        EXPECT_EQ(to.index().has_uncommitted(), is_refused);
        EXPECT_EQ(tests::read_text(in), "hello");
        ASSERT_TRUE(to.sync().ok());
        to.write(5, as_bytes("!")).value();
        EXPECT_EQ(tests::read_text(in), "hello!");
        reader_options committed = tests::beside_writers();
        committed.stops_at_commit = true;
        EXPECT_EQ(tests::as_text(in.contents(committed)), "hello");
    }
    EXPECT_EQ(failing, 5) << "the record, the state, the commit, and the state that says so";
}

}  // namespace
}  // namespace halcyon::logfs
