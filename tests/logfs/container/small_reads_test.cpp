// Small reads that follow one another: what is read at once with them, and what may not be.
#include <gtest/gtest.h>

#include <filesystem>
#include <random>
#include <string>

#include "for_writing.hpp"
#include "logfs/container/log_file.hpp"
#include "logfs/container/reading/reader.hpp"
#include "open_container.hpp"

namespace halcyon::logfs {
namespace {

using tests::as_bytes;
using tests::open_container;

/// By reads of so many bytes each, from the beginning to the end.
tests::bytes in_small_reads(reader& from, size_t each) {
    tests::bytes all;
    tests::bytes part(each);
    while (const int64_t read = from.read(static_cast<int64_t>(all.size()), part).value())
        all.insert(all.end(), part.begin(), part.begin() + read);
    return all;
}

TEST(small_reads, in_a_row_take_few_calls) {
    open_container in;
    constexpr int64_t piece = 5000;
    writer* const writers[] = {&in.add_writer(1), &in.add_writer(2), &in.add_writer(3)};
    tests::plain_file expected;
    std::mt19937_64 random(1);
    for (int64_t i = 0; i < 300; ++i) {
        const auto data = tests::random_bytes(random, piece);
        writers[i % 3]->write(i * piece, data).value();
        expected.write(i * piece, data);
    }
    for (const size_t each : {64U, 1000U, 4096U, 10240U, 16384U}) {
        const auto from = in.new_reader();
        from->reload().value();
        EXPECT_EQ(tests::difference(in_small_reads(*from, each), expected.contents()), "none");
        // 1.5 MB by 128 KiB, and the first ones by less: each time one call for each writer.
        EXPECT_LE(from->read_calls(), 85U) << each;
    }
}

/// As many bytes again as were read, no more: who reads a little, and then elsewhere, pays little.
TEST(small_reads, read_no_more_beyond_them_than_they_have_read) {
    open_container in;
    writer& to = in.add_writer(1);
    to.write(0, tests::bytes(1 << 20)).value();
    const auto from = in.new_reader();
    from->reload().value();
    tests::bytes part(1000);
    for (int64_t begin = 0; begin < 1'000'000; begin += 10'000) {
        const uint64_t calls = from->read_calls();
        from->read(begin, part).value();
        EXPECT_EQ(from->read_calls(), calls + 1);
    }
    // Neither those that lie one before the other.
    for (int64_t begin = 999'000; begin >= 990'000; begin -= 1000) {
        const uint64_t calls = from->read_calls();
        from->read(begin, part).value();
        EXPECT_EQ(from->read_calls(), calls + 1);
    }
}

TEST(small_reads, see_what_was_written_or_published_between_two_of_them) {
    halcyon::tests::temporary_folder folder;
    const std::string path = folder.file("file");
    log_file one;
    log_file other;
    one.open(path, tests::identity(1), tests::for_writing()).value();
    other.open(path, tests::identity(2), tests::for_writing()).value();
    std::string expected(400'000, 'a');
    one.write(0, as_bytes(expected)).value();
    other.refresh().value();
    tests::bytes part(1000);
    const auto next = [&](log_file& from, int64_t at) {
        EXPECT_EQ(from.read(at, part).value(), 1000);
        EXPECT_EQ(tests::as_text(part), expected.substr(static_cast<size_t>(at), 1000)) << at;
    };
    const auto write = [&](log_file& to, int64_t at, char what) {
        const std::string text(300, what);
        to.write(at, as_bytes(text)).value();
        expected.replace(static_cast<size_t>(at), text.size(), text);
    };
    for (int64_t at = 0; at < 400'000; at += 1000) {
        if (at % 40'000 == 20'000) write(one, at + 100, 'b');
        if (at % 40'000 == 30'000) {
            write(other, at + 1100, 'c');
            one.refresh().value();
        }
        next(one, at);
    }
    expected.resize(150'000);
    for (int64_t at = 0; at < 100'000; at += 1000) next(one, at);
    one.truncate(150'000).value();
    EXPECT_EQ(one.read(149'000, part).value(), 1000);
    EXPECT_EQ(one.read(150'000, part).value(), 0);
}

/// What is missing behind them is no reason why they fail.
TEST(small_reads, fail_only_where_what_they_ask_for_is_missing) {
    open_container in;
    writer& to = in.add_writer(1);
    const std::string text(200'000, 'x');
    to.write(0, as_bytes(text)).value();
    std::filesystem::resize_file(in.data_path(to), 100'000);
    const auto from = in.new_reader();
    from->reload().value();
    tests::bytes part(1000);
    for (int64_t at = 0; at < 100'000; at += 1000) {
        ASSERT_EQ(from->read(at, part).value(), 1000) << at;
        ASSERT_EQ(tests::as_text(part), text.substr(0, 1000));
    }
    EXPECT_FALSE(from->read(100'000, part).ok());
}

/// They take less than what they may read at once where memory has a bound.
TEST(small_reads, go_on_without_memory_for_more) {
    open_container in;
    writer& to = in.add_writer(1);
    const auto text = std::string(300'000, 'y');
    to.write(0, as_bytes(text)).value();
    tests::bytes part(1000);
    const auto other = in.new_reader();
    other->reload().value();
    other->read(0, part).value();
    reader_options how = tests::beside_writers();
    how.most_memory_bytes = other->memory().peak() + 8192;
    const auto from = in.new_reader(how);
    from->reload().value();
    EXPECT_EQ(tests::as_text(in_small_reads(*from, 1000)), text);
    EXPECT_LE(from->memory().peak(), how.most_memory_bytes);
}

}  // namespace
}  // namespace halcyon::logfs
