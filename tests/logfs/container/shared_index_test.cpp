#include "logfs/container/reading/shared_index.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "logfs/container/log_file.hpp"
#include "shared_container.hpp"
#include "watched_files.hpp"

/// What a reader has merged, the next one of the node need not merge.
namespace halcyon::logfs {
namespace {

namespace fs = std::filesystem;
using tests::shared_container;

/// Counts what is read, and by what; fails as it is told to.
class counting_files : public tests::watched_files {
  public:
    int64_t bytes = 0;

    int64_t read_at(int fd, const iovec* parts, int count, int64_t offset) override {
        const int64_t read = watched_files::read_at(fd, parts, count, offset);
        bytes += std::max<int64_t>(read, 0);
        return read;
    }
    int64_t taken_by(shared_container& in) {
        bytes = 0;
        const auto from = in.open();
        return bytes;
    }
};

TEST(shared_index, spares_the_next_reader_all_indexes) {
    counting_files calls;
    shared_container all(calls);
    all.write(1, 15000);
    all.write(2, 15000);
    const int64_t alone = calls.taken_by(all);
    EXPECT_GT(alone, 200'000);
    EXPECT_TRUE(all.reads_right());
    const int64_t shared = calls.taken_by(all);
    EXPECT_LT(shared, alone / 5);
    EXPECT_GT(shared, 0);
}

TEST(shared_index, shows_the_same_segments) {
    shared_container all;
    all.write(1, 6000);
    all.write(2, 6000);
    all.leave();
    const auto shared = all.open();
    const auto alone = all.in.new_reader();
    alone->reload().value();
    ASSERT_TRUE(shared->shared().is_used());
    EXPECT_EQ(shared->size(), alone->size());
    EXPECT_EQ(shared->latest_ns(), alone->latest_ns());
    for (int64_t at = 0; at < alone->size();) {
        const auto expected = alone->segments(at, alone->size()).value();
        const int64_t end = expected.back().end();
        for (const segment& each : expected) {
            const auto found = shared->segments(each.start, each.end()).value();
            ASSERT_EQ(found.front().physical, each.physical);
            ASSERT_EQ(found.front().is_hole(), each.is_hole());
            if (!each.is_hole()) {
                ASSERT_STREQ(shared->writers().name_of(found.front().dropping),
                             alone->writers().name_of(each.dropping));
            }
        }
        at = end;
    }
}

TEST(shared_index, takes_what_was_written_since_in_addition) {
    counting_files calls;
    shared_container all(calls);
    all.write(1, 15000);
    all.write(2, 15000);
    const int64_t alone = calls.taken_by(all);
    for (int64_t pid = 3; pid < 6; ++pid) {
        all.write(pid, 50);
        EXPECT_LT(calls.taken_by(all), alone / 3);
        EXPECT_TRUE(all.reads_right()) << pid;
    }
    all.in.close_writers();
    EXPECT_TRUE(all.reads_right());
}

TEST(shared_index, of_few_entries_is_not_left) {
    shared_container all;
    all.write(1, static_cast<int>(shared_container::least) - 10);
    EXPECT_FALSE(all.reads_right());
    EXPECT_TRUE(fs::is_empty(all.node.path()));
    all.write(2, 20);  // of which the last ones are in the state, and no entries yet
    EXPECT_FALSE(all.reads_right());
    EXPECT_TRUE(fs::exists(all.image()));
}

TEST(shared_index, is_left_anew_when_a_quarter_more_is_there) {
    shared_container all;
    all.write(1, 4000);
    all.leave();
    const auto inode = [&] {
        struct stat there {};
        EXPECT_EQ(::stat(all.image().c_str(), &there), 0);
        return there.st_ino;
    };
    const auto before = inode();
    const auto first = all.open();  // keeps that file from being another one's
    all.write(2, 900);
    EXPECT_TRUE(all.reads_right());
    EXPECT_EQ(inode(), before);
    all.write(3, 200);
    const auto second = all.open();
    EXPECT_NE(second->shared().shared_entries(), first->shared().shared_entries());
    EXPECT_TRUE(all.reads_right());
    // Who began with the one before goes on with that.
    first->reload().value();
    EXPECT_EQ(tests::difference(tests::all_of(*first), all.file.contents()), "none");
}

TEST(shared_index, is_not_written_again_by_one_that_merged_the_same_meanwhile) {
    tests::watched_files calls;
    shared_container all(calls);
    all.write(1, 4000);
    container same;
    same.open(all.in.path).value();
    std::string left;
    bool is_merging = false;
    calls.behind = [&](std::string_view call) { is_merging = is_merging || call == "lock_part"; };
    calls.before = [&](std::string_view call, int64_t) {
        if (!is_merging || call != "read" || !left.empty()) return 0;
        left = "by another one";
        reader other(same, all.how);
        other.reload().value();
        EXPECT_FALSE(other.shared().is_used());
        left = tests::contents_of(all.image());
        fs::last_write_time(all.image(), fs::last_write_time(all.image()) - std::chrono::hours(1));
        return 0;
    };
    const auto before = fs::file_time_type::clock::now() - std::chrono::minutes(30);
    const auto from = all.open();
    EXPECT_FALSE(from->shared().is_used());
    EXPECT_GT(from->shared().shared_entries(), 0U);
    EXPECT_LT(fs::last_write_time(all.image()), before);
    EXPECT_EQ(tests::contents_of(all.image()), left);
}

TEST(shared_index, is_taken_where_another_one_left_it_meanwhile) {
    tests::watched_files calls;
    shared_container all(calls);
    all.write(1, 4000);
    container same;
    same.open(all.in.path).value();
    bool has_come = false;
    calls.before = [&](std::string_view call, int64_t) {
        if (call != "list" || has_come) return 0;
        has_come = true;
        reader other(same, all.how);
        other.reload().value();
        EXPECT_FALSE(other.shared().is_used());
        return 0;
    };
    EXPECT_TRUE(all.reads_right());
    EXPECT_TRUE(has_come);
}

TEST(shared_index, is_taken_from_a_container_that_was_moved) {
    shared_container all;
    all.write(1, 4000);
    all.leave();
    fs::rename(all.in.path, all.in.path + "-moved");
    container moved;
    moved.open(all.in.path + "-moved").value();
    reader from(moved, all.how);
    from.reload().value();
    EXPECT_TRUE(from.shared().is_used());
    EXPECT_EQ(tests::difference(tests::all_of(from), all.file.contents()), "none");
}

TEST(shared_index, is_taken_by_files_that_programs_open) {
    shared_container all;
    all.write(1, 4000);
    all.in.close_writers();
    opening how;
    how.index_folder = all.node.path().native();
    how.reading.sharing.least_entries = shared_container::least;
    for (const bool is_second : {false, true}) {
        log_file file;
        file.open(all.in.path, tests::identity(9), how).value();
        EXPECT_EQ(file.reading()->shared().is_used(), is_second);
        tests::bytes data(all.file.contents().size());
        EXPECT_EQ(file.read(0, data).value(), all.file.size());
        EXPECT_EQ(tests::difference(data, all.file.contents()), "none");
    }
    how.index_folder = "none";
    log_file file;
    file.open(all.in.path, tests::identity(9), how).value();
    EXPECT_FALSE(file.reading()->shared().is_used());
}

TEST(shared_index, is_nothing_for_a_file_that_already_shows_something) {
    shared_container all;
    log_file file;
    opening how;
    how.may_write = how.creates = true;
    how.index_folder = all.node.path().native();
    how.reading.sharing.least_entries = 20;
    const std::string path = all.in.path + "-created";
    file.open(path, tests::identity(9), how).value();
    tests::plain_file expected;
    const auto put = [&](log_file& to) {
        const auto data = tests::random_bytes(all.random, 30);
        const auto offset = static_cast<int64_t>(all.random() % 5000);
        to.write(offset, data).value();
        expected.write(offset, data);
    };
    for (int i = 0; i < 500; ++i) put(file);
    ASSERT_EQ(file.size().value(), expected.size());  // takes what it wrote itself
    {
        log_file other;
        other.open(path, tests::identity(10), how).value();
        EXPECT_GT(other.reading()->shared().shared_entries(), 0U);
        for (int i = 0; i < 100; ++i) put(other);
        other.close().value();
    }
    file.refresh().value();
    EXPECT_FALSE(file.reading()->shared().is_used());
    tests::bytes data(expected.contents().size());
    EXPECT_EQ(file.read(0, data).value(), expected.size());
    EXPECT_EQ(tests::difference(data, expected.contents()), "none");
}

TEST(shared_index, is_not_for_readers_that_ask_for_more_or_less_than_the_bytes) {
    shared_container all;
    all.write(1, 4000);
    const auto expect_unused = [&](auto change) {
        reader_options how = all.how;
        change(how);
        const auto from = all.in.new_reader(how);
        from->reload().value();
        EXPECT_FALSE(from->shared().is_used());
        return from->shared().shared_entries() > 0;
    };
    for (int round = 0; round < 2; ++round) {
        EXPECT_FALSE(expect_unused([](reader_options& how) { how.verifies_data = true; }));
        EXPECT_FALSE(expect_unused([](reader_options& how) { how.salvages = true; }));
        EXPECT_FALSE(expect_unused([](reader_options& how) { how.stops_at_commit = true; }));
        EXPECT_FALSE(expect_unused([](reader_options& how) { how.finds_conflicts = true; }));
        EXPECT_FALSE(expect_unused([](reader_options& how) { how.boot_id = {}; }));
        if (round == 0) all.leave();
    }
}

TEST(shared_index, costs_nothing_but_time_where_it_cannot_be_left) {
    for (const char* const failing : {"open", "write", "rename", "lock_part", "status", "list", "make_directory"}) {
        tests::watched_files calls;
        shared_container all(calls);
        all.write(1, 4000);
        const std::string folder = all.node.file("of-user");
        all.how.sharing.folder = folder;
        int failures = 0;
        for (int nth = 1; nth < 40; ++nth) {
            int seen = 0;
            bool is_leaving = false;
            calls.before = [&](std::string_view call, int64_t) {
                is_leaving = is_leaving || call == "make_directory";
                return is_leaving && call == failing && ++seen >= nth ? -ENOSPC : 0;
            };
            const auto from = all.in.new_reader(all.how);
            ASSERT_TRUE(from->reload().ok()) << failing << " " << nth;
            calls.before = [](std::string_view, int64_t) { return 0; };
            ASSERT_EQ(tests::difference(tests::all_of(*from), all.file.contents()), "none") << failing << " " << nth;
            if (seen < nth) break;
            ++failures;
            // Nothing half-written has the name.
            ASSERT_FALSE(all.reads_right()) << failing << " " << nth;
            fs::remove_all(folder);
        }
        EXPECT_GT(failures, 0) << failing;
        EXPECT_LT(failures, 39) << failing;
    }
}

TEST(shared_index, is_not_waited_for) {
    shared_container all;
    all.write(1, 4000);
    memory_source memory(kernel_files());
    node_folder busy(kernel_files(), memory);
    ASSERT_EQ(busy.open(all.node.path().native(), true), 0);
    ASSERT_EQ(busy.begin_adding(), 0);
    EXPECT_FALSE(all.reads_right());
    EXPECT_FALSE(fs::exists(all.image()));
}

TEST(shared_index, is_left_later_by_a_reader_that_found_somebody_at_it) {
    shared_container all;
    all.write(1, 4000);
    std::unique_ptr<reader> from;
    {
        memory_source memory(kernel_files());
        node_folder busy(kernel_files(), memory);
        ASSERT_EQ(busy.open(all.node.path().native(), true), 0);
        ASSERT_EQ(busy.begin_adding(), 0);
        from = all.open();
    }
    EXPECT_FALSE(fs::exists(all.image()));
    from->reload().value();
    EXPECT_TRUE(fs::exists(all.image()));
}

TEST(shared_index, takes_the_place_of_the_oldest_ones) {
    shared_container first;
    shared_container second;
    second.how.sharing.folder = first.how.sharing.folder;
    first.write(1, 4000);
    second.write(1, 4000);
    first.leave();
    first.how.sharing.most_bytes = second.how.sharing.most_bytes = 150'000;
    ASSERT_FALSE(second.reads_right());
    EXPECT_TRUE(second.reads_right());
    EXPECT_FALSE(fs::exists(first.image()));
    EXPECT_FALSE(first.reads_right());
    EXPECT_TRUE(first.reads_right());
    // None that is larger than all may be.
    first.how.sharing.most_bytes = 10'000;
    first.write(2, 4000);
    const auto written = fs::last_write_time(first.image());
    EXPECT_TRUE(first.reads_right());
    EXPECT_EQ(fs::last_write_time(first.image()), written);
}

TEST(shared_index, counts_as_memory_of_the_reader) {
    shared_container all;
    all.write(1, 12000);
    all.leave();
    const auto from = all.open();
    ASSERT_TRUE(from->shared().is_used());
    EXPECT_GE(from->memory().used(), 12000 * sizeof(extent) / 2);
}

}  // namespace
}  // namespace halcyon::logfs
