#include "logfs/container/reading/reader.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <random>

#include "open_container.hpp"
#include "watched_files.hpp"

namespace halcyon::logfs {
namespace {

namespace fs = std::filesystem;
using tests::as_bytes;
using tests::open_container;

TEST(reader, shows_what_was_published_when_it_was_reloaded) {
    open_container in;
    const auto from = in.new_reader();
    ASSERT_TRUE(from->reload().ok());
    EXPECT_EQ(from->size(), 0);
    writer& first = in.add_writer(1);
    first.write(0, as_bytes("aaaa")).value();
    EXPECT_EQ(tests::as_text(tests::all_of(*from)), "");
    ASSERT_TRUE(from->reload().ok());
    EXPECT_EQ(tests::as_text(tests::all_of(*from)), "aaaa");
    writer& second = in.add_writer(2);
    second.write(2, as_bytes("bbb")).value();
    first.write(8, as_bytes("c")).value();
    EXPECT_EQ(tests::as_text(tests::all_of(*from)), "aaaa");
    ASSERT_TRUE(from->reload().ok());
    EXPECT_EQ(tests::as_text(tests::all_of(*from)), std::string("aabbb\0\0\0c", 9));
}

/// Counts the files that are asked for as a whole before they are read.
class advised_files : public tests::watched_files {
  public:
    int advised = 0;

    int advise_soon(int fd, int64_t offset, int64_t bytes) override {
        advised += offset == 0 && bytes == 0 ? 1 : 0;
        return watched_files::advise_soon(fd, offset, bytes);
    }
};

TEST(reader, asks_for_long_indexes_while_it_takes_the_ones_before) {
    for (const int writes : {8000, 100}) {
        advised_files calls;
        open_container in(calls);
        std::mt19937_64 random(1);
        tests::plain_file file;
        for (int64_t pid = 1; pid <= 8; ++pid) {
            writer& to = in.add_writer(pid);
            for (int i = 0; i < writes; ++i) {
                const auto offset = static_cast<int64_t>(random() % 100000);
                to.write(offset, as_bytes("0123456789")).value();
                file.write(offset, as_bytes("0123456789"));
            }
        }
        EXPECT_EQ(tests::difference(in.contents(), file.contents()), "none");
        // The first one says how long they are, and the second one is read at once.
        EXPECT_EQ(calls.advised, writes == 8000 ? 6 : 0);
        // Files that may be open are few: they are for what is read now.
        calls.advised = 0;
        reader_options few = tests::beside_writers();
        few.most_descriptors = 6;
        EXPECT_EQ(tests::difference(in.contents(few), file.contents()), "none");
        EXPECT_EQ(calls.advised, 0);
    }
}

/// Only what is new is read: the bytes of a reload do not grow with what was there.
TEST(reader, reloads_what_is_new_and_no_more) {
    tests::watched_files calls;
    open_container in(calls);
    writer& to = in.add_writer(1);
    std::mt19937_64 random(1);
    const auto write_some = [&](int count) {
        for (int i = 0; i < count; ++i)
            to.write(static_cast<int64_t>(random() % 1000000), as_bytes("0123456789")).value();
    };
    const auto from = in.new_reader();
    write_some(20000);
    ASSERT_TRUE(from->reload().ok());
    int reads = 0;
    calls.behind = [&](std::string_view call) { reads += call == "read" ? 1 : 0; };
    ASSERT_TRUE(from->reload().ok());
    EXPECT_EQ(reads, 1);  // nothing is new: the state
    write_some(1);
    reads = 0;
    ASSERT_TRUE(from->reload_writer(to.name()).ok());
    EXPECT_LE(reads, 2);  // the state, and a block
    write_some(1000);
    reads = 0;
    ASSERT_TRUE(from->reload().ok());
    EXPECT_LE(reads, 3);
    to.close().value();
    ASSERT_TRUE(from->reload().ok());
    reads = 0;
    ASSERT_TRUE(from->reload().ok());
    EXPECT_EQ(reads, 0);  // it is closed
}

TEST(reader, an_incremental_one_equals_a_new_one) {
    for (uint64_t seed = 1; seed <= 5; ++seed) {
        std::mt19937_64 random(seed);
        open_container in;
        std::vector<writer*> writers;
        for (int64_t i = 0; i < 3; ++i) writers.push_back(&in.add_writer(i));
        const auto from = in.new_reader();
        for (int round = 0; round < 60; ++round) {
            const int writes = static_cast<int>(random() % 400);
            for (int i = 0; i < writes; ++i) {
                const auto data = tests::random_bytes(random, 1 + random() % 50);
                writers[random() % 3]->write(static_cast<int64_t>(random() % 50000), data).value();
            }
            ASSERT_TRUE(from->reload().ok());
            ASSERT_EQ(tests::difference(tests::all_of(*from), in.contents()), "none") << seed << " " << round;
        }
    }
}

TEST(reader, finds_data_and_holes) {
    open_container in;
    writer& to = in.add_writer(1);
    to.write(100, as_bytes("aaaa")).value();
    to.write(int64_t{1} << 40, as_bytes("b")).value();
    to.erase(102, 1).value();
    to.reach((int64_t{1} << 40) + 100).value();
    const auto from = in.new_reader();
    ASSERT_TRUE(from->reload().ok());
    const int64_t far = int64_t{1} << 40;
    EXPECT_EQ(from->size(), far + 100);
    EXPECT_EQ(from->next_data(0).value(), 100);
    EXPECT_EQ(from->next_data(101).value(), 101);
    EXPECT_EQ(from->next_data(102).value(), 103);
    EXPECT_EQ(from->next_data(104).value(), far);
    EXPECT_EQ(from->next_data(far + 1).value(), -1);
    EXPECT_EQ(from->next_hole(0).value(), 0);
    EXPECT_EQ(from->next_hole(100).value(), 102);
    EXPECT_EQ(from->next_hole(103).value(), 104);
    EXPECT_EQ(from->next_hole(far).value(), far + 1);
    EXPECT_EQ(from->next_hole(far + 100).value(), -1);
    const auto segments = from->segments(104, from->size()).value();
    EXPECT_EQ(segments.back(), (segment{104, far - 104, segment::hole, 0}));
}

TEST(reader, finds_data_under_a_hole_that_ends) {
    open_container in;
    writer& to = in.add_writer(1);
    const std::string data(int64_t{1} << 22, 'x');
    to.write(0, as_bytes(data)).value();
    to.erase(0, (int64_t{1} << 22) - 10).value();
    const auto from = in.new_reader();
    ASSERT_TRUE(from->reload().ok());
    EXPECT_EQ(from->next_data(0).value(), (int64_t{1} << 22) - 10);
}

TEST(reader, a_read_past_the_end_is_short) {
    open_container in;
    in.add_writer(1).write(0, as_bytes("hello")).value();
    const auto from = in.new_reader();
    ASSERT_TRUE(from->reload().ok());
    tests::bytes buffer(100, std::byte{7});
    EXPECT_EQ(from->read(3, buffer).value(), 2);
    EXPECT_EQ(buffer[2], std::byte{7});
    EXPECT_EQ(from->read(5, buffer).value(), 0);
    EXPECT_EQ(from->read(INT64_MAX, buffer).value(), 0);
    EXPECT_EQ(from->read(-1, buffer).why().kind, error_kind::usage);
}

/// Interleaved records of several writers: a few calls read them all.
/// What one read resolved serves those behind it, until something changes.
TEST(reader, small_reads_that_follow_one_another_see_what_single_ones_see) {
    open_container in;
    writer& first = in.add_writer(1);
    writer& second = in.add_writer(2);
    tests::plain_file file;
    const auto write = [&](writer& to, int64_t offset, size_t bytes, char what) {
        const std::string text(bytes, what);
        to.write(offset, as_bytes(text)).value();
        file.write(offset, as_bytes(text));
    };
    for (int i = 0; i < 3000; ++i)
        write(i % 2 == 0 ? first : second, i * 100, i % 7 == 0 ? 40 : 100, char('a' + i % 26));
    const auto from = in.new_reader();
    std::mt19937_64 random(1);
    for (int round = 0; round < 200; ++round) {
        from->reload().value();
        auto at = static_cast<int64_t>(random() % 310'000);
        const size_t bytes = 1 + random() % (round % 3 == 0 ? 5000 : 150);
        for (int i = 0; i < 40; ++i) {
            if (random() % 16 == 0) at -= static_cast<int64_t>(random() % (2 * bytes));
            if (at < 0) at = 0;
            tests::bytes seen(bytes, std::byte{1});
            const int64_t read = from->read(at, seen).value();
            tests::bytes expected(file.contents());
            const auto begin = static_cast<int64_t>(std::min<size_t>(static_cast<size_t>(at), expected.size()));
            const auto end =
                std::min<int64_t>(begin + static_cast<int64_t>(bytes), static_cast<int64_t>(expected.size()));
            ASSERT_EQ(read, end - begin) << round << ' ' << at;
            seen.resize(static_cast<size_t>(read));
            ASSERT_EQ(seen, tests::bytes(expected.begin() + begin, expected.begin() + end)) << round << ' ' << at;
            at += read;
        }
        write(round % 2 == 0 ? first : second, static_cast<int64_t>(random() % 300'000), 1 + random() % 3000,
              char('A' + round % 26));
        if (round % 5 == 0) {
            first.truncate(300'000 - round * 10).value();
            file.truncate(300'000 - round * 10);
        }
    }
}

TEST(reader, reads_patterns_by_few_calls) {
    open_container in;
    constexpr int64_t ranks = 4;
    constexpr int64_t writes = 4096;
    tests::plain_file expected;
    std::mt19937_64 random(1);
    for (int64_t rank = 0; rank < ranks; ++rank) {
        writer& to = in.add_writer(rank);
        for (int64_t i = 0; i < writes; ++i) {
            const auto data = tests::random_bytes(random, 256);
            to.write((i * ranks + rank) * 256, data).value();
            expected.write((i * ranks + rank) * 256, data);
        }
    }
    in.close_writers();
    const auto from = in.new_reader();
    ASSERT_TRUE(from->reload().ok());
    EXPECT_EQ(tests::difference(tests::all_of(*from), expected.contents()), "none");
    // 4 MiB of 16384 records: one call for each 1024 of a writer.
    EXPECT_LE(from->read_calls(), 40U);
}

TEST(reader, memory_has_a_bound) {
    open_container in;
    writer& to = in.add_writer(1);
    std::mt19937_64 random(1);
    for (int i = 0; i < 20000; ++i) to.write(static_cast<int64_t>(random() % (1 << 30)), as_bytes("x")).value();
    reader_options how = tests::beside_writers();
    how.most_memory_bytes = 700'000;
    const auto from = in.new_reader(how);
    const auto done = from->reload();
    ASSERT_FALSE(done.ok());
    EXPECT_EQ(done.why().system_errno, ENOMEM);
    EXPECT_LE(from->memory().peak(), 700'000U);
}

/// A dense pattern behind a long hole, over which the reader has come to look at much at a time.
TEST(reader, reads_what_does_not_fit_into_its_memory_at_once) {
    open_container in;
    writer& to = in.add_writer(1);
    constexpr int64_t far = int64_t{1} << 32;
    constexpr int64_t writes = 150000;
    for (int64_t i = 0; i < writes; ++i) to.write(far + 2 * i, as_bytes("x")).value();
    in.close_writers();
    reader_options how = tests::beside_writers();
    how.most_memory_bytes = 4 << 20;
    const auto from = in.new_reader(how);
    ASSERT_TRUE(from->reload().ok());
    ASSERT_EQ(from->next_data(0).value(), far);
    tests::bytes buffer(static_cast<size_t>(2 * writes));
    ASSERT_EQ(from->read(far, buffer).value(), 2 * writes - 1);
    for (size_t i = 0; i + 1 < buffer.size(); ++i)
        ASSERT_EQ(buffer[i], i % 2 == 0 ? std::byte{'x'} : std::byte{0}) << i;
    EXPECT_LE(from->memory().peak(), 4U << 20);
}

/// Its data dropping is listed before it has an index, and the index is there before the listing is looked at.
TEST(reader, a_writer_that_begins_while_names_are_listed_is_no_damage) {
    tests::watched_files calls;
    open_container in(calls);
    writer& to = in.add_writer(1);
    to.write(0, as_bytes("hello")).value();
    const std::string index = in.index_path(to);
    const std::string aside = in.folder.file("aside");
    fs::rename(index, aside);
    const auto from = in.new_reader();
    int lists = 0;
    calls.behind = [&](std::string_view call) {
        // Two are of the container, of which one says that there are no more names.
        if (call == "list" && ++lists == 3) fs::rename(aside, index);
    };
    const auto done = from->reload();
    calls.behind = [](std::string_view) {};
    ASSERT_TRUE(done.ok()) << done.why().message;
    EXPECT_TRUE(fs::exists(index));
    ASSERT_TRUE(from->reload().ok());
    EXPECT_EQ(tests::as_text(tests::all_of(*from)), "hello");
}

TEST(reader, a_missing_dropping_is_an_error_with_its_name) {
    open_container in;
    writer& to = in.add_writer(1);
    to.write(0, as_bytes("hello")).value();
    const std::string index = in.index_path(to);
    const std::string data = in.data_path(to);
    to.sync().value();
    in.close_writers();
    fs::rename(data, in.folder.file("aside"));
    {
        const auto from = in.new_reader();
        ASSERT_TRUE(from->reload().ok());
        tests::bytes buffer(5);
        const auto read = from->read(0, buffer);
        ASSERT_FALSE(read.ok());
        EXPECT_NE(read.why().message.find(data), std::string::npos) << read.why().message;
    }
    fs::rename(in.folder.file("aside"), data);
    fs::rename(index, in.folder.file("aside"));
    const auto done = in.new_reader()->reload();
    ASSERT_FALSE(done.ok());
    EXPECT_NE(done.why().message.find(data + ": its index dropping is missing"), std::string::npos)
        << done.why().message;
}

/// As after a crash of the node, which may lose each name that was not synced.
TEST(reader, goes_on_without_data_of_which_no_index_was_synced) {
    open_container in;
    writer& other = in.add_writer(1);
    other.write(0, as_bytes("kept")).value();
    other.sync().value();
    writer& to = in.add_writer(2);
    to.write(0, as_bytes("lost, too")).value();
    const std::string index = in.index_path(to);
    in.close_writers();
    fs::rename(index, in.folder.file("aside"));
    const auto from = in.new_reader();
    ASSERT_TRUE(from->reload().ok());
    EXPECT_EQ(tests::as_text(tests::all_of(*from)), "kept");
    EXPECT_EQ(from->lost().droppings, 1U);
    EXPECT_EQ(from->lost().bytes, 9);
    // On another node, its name only comes later.
    fs::rename(in.folder.file("aside"), index);
    ASSERT_TRUE(from->reload().ok());
    EXPECT_EQ(tests::as_text(tests::all_of(*from)), "lost, too");
    EXPECT_EQ(from->lost().droppings, 0U);
}

TEST(reader, takes_no_notice_of_foreign_files) {
    open_container in;
    writer& to = in.add_writer(1);
    to.write(0, as_bytes("hello")).value();
    const std::string folder = fs::path(in.index_path(to)).parent_path();
    for (const std::string& path :
         {in.path + "/README", folder + "/index.backup", folder + "/.nfs000123", in.path + "/hostdir.x"})
        std::ofstream(path) << "something";
    EXPECT_EQ(tests::read_text(in), "hello");
}

TEST(reader, a_data_dropping_that_ends_early_is_never_zeros) {
    open_container in;
    writer& to = in.add_writer(1);
    to.write(0, as_bytes("hello, world")).value();
    fs::resize_file(in.data_path(to), 5);
    const auto from = in.new_reader();
    ASSERT_TRUE(from->reload().ok());
    tests::bytes buffer(12);
    const auto read = from->read(0, buffer);
    ASSERT_FALSE(read.ok());
    EXPECT_NE(read.why().message.find("it ends at 5, but its index reaches to 12"), std::string::npos)
        << read.why().message;
    EXPECT_EQ(from->read(0, std::span(buffer).first(5)).value(), 5);
}

}  // namespace
}  // namespace halcyon::logfs
