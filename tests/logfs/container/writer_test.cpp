#include "logfs/container/writing/writer.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <random>
#include <vector>

#include "open_container.hpp"

namespace halcyon::logfs {
namespace {

/// The file backend, which reads it by itself, says the same of the boot.
TEST(writer_identity, names_the_boot_by_its_36_characters) {
    const writer_identity me = writer_identity::of_this_process();
    EXPECT_EQ(me.boot_view().size(), 36U);
    EXPECT_EQ(me.boot_view().find_first_not_of("0123456789abcdef-"), std::string_view::npos);
}

namespace fs = std::filesystem;
using tests::as_bytes;
using tests::open_container;

int64_t size_of(const std::string& path) {
    return static_cast<int64_t>(fs::file_size(path));
}

/// Written through a mapping, and as where nothing can be mapped.
class writers : public ::testing::TestWithParam<bool> {
  protected:
    writer_options how() const {
        writer_options options;
        options.may_map_index = GetParam();
        return options;
    }
    open_container in_;
};
INSTANTIATE_TEST_SUITE_P(, writers, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "mapped" : "written"; });

TEST_P(writers, what_is_written_is_read_before_any_sync_or_close) {
    writer& to = in_.add_writer(1, how());
    EXPECT_TRUE(GetParam() || !to.index().is_mapped());
    EXPECT_EQ(to.write(0, as_bytes("hello")).value(), 5);
    EXPECT_EQ(tests::read_text(in_), "hello");
    EXPECT_EQ(to.write(3, as_bytes("p me")).value(), 4);
    EXPECT_EQ(tests::read_text(in_), "help me");
    EXPECT_EQ(to.write(9, as_bytes("!")).value(), 1);
    EXPECT_EQ(tests::read_text(in_), std::string("help me\0\0!", 10));
    ASSERT_TRUE(to.close().ok());
    EXPECT_EQ(tests::read_text(in_), std::string("help me\0\0!", 10));
}

TEST_P(writers, size_follows_truncate_reach_and_erase) {
    writer& to = in_.add_writer(1, how());
    to.write(0, as_bytes("0123456789")).value();
    ASSERT_TRUE(to.truncate(4).ok());
    EXPECT_EQ(tests::read_text(in_), "0123");
    ASSERT_TRUE(to.truncate(8).ok());
    EXPECT_EQ(tests::read_text(in_), std::string("0123\0\0\0\0", 8));
    ASSERT_TRUE(to.reach(6).ok());
    EXPECT_EQ(tests::read_text(in_).size(), 8U);
    ASSERT_TRUE(to.reach(10).ok());
    EXPECT_EQ(tests::read_text(in_), std::string("0123\0\0\0\0\0\0", 10));
    to.write(6, as_bytes("ab")).value();
    ASSERT_TRUE(to.erase(1, 2).ok());
    EXPECT_EQ(tests::read_text(in_), std::string("0\0\0"
                                                 "3\0\0ab\0\0",
                                                 10));
    ASSERT_TRUE(to.truncate(0).ok());
    EXPECT_EQ(tests::read_text(in_), "");
    to.write(1, as_bytes("x")).value();
    EXPECT_EQ(tests::read_text(in_), std::string("\0x", 2));
}

TEST_P(writers, many_blocks_of_records_are_read_back) {
    tests::plain_file expected;
    writer& to = in_.add_writer(1, how());
    std::mt19937_64 random(1);
    for (int i = 0; i < 30000; ++i) {
        const auto data = tests::random_bytes(random, 1 + random() % 60);
        const auto offset = static_cast<int64_t>(random() % 500000);
        ASSERT_EQ(to.write(offset, data).value(), static_cast<int64_t>(data.size()));
        expected.write(offset, data);
        if (i == 15000) {
            ASSERT_TRUE(to.sync().ok());
        }
    }
    EXPECT_GT(to.index().state().end.block, 40U);
    EXPECT_EQ(tests::difference(in_.contents(), expected.contents()), "none");
    ASSERT_TRUE(to.close().ok());
    EXPECT_EQ(tests::difference(in_.contents(), expected.contents()), "none");
}

TEST_P(writers, gathered_parts_are_one_write) {
    writer& to = in_.add_writer(1, how());
    std::array<char, 3> first{'o', 'n', 'e'};
    std::array<char, 0> none{};
    std::vector<char> second(100000, 'x');
    const std::array<iovec, 3> parts{iovec{first.data(), first.size()}, iovec{none.data(), 0},
                                     iovec{second.data(), second.size()}};
    EXPECT_EQ(to.write(5, parts.data(), 3).value(), 100003);
    EXPECT_EQ(tests::read_text(in_).substr(0, 9), std::string("\0\0\0\0\0onex", 9));
    EXPECT_EQ(tests::read_text(in_).size(), 100008U);
    std::vector<iovec> many(3000, iovec{second.data(), 7});
    EXPECT_EQ(to.write(200000, many.data(), static_cast<int>(many.size())).value(), 21000);
    EXPECT_EQ(tests::read_text(in_).substr(200000), std::string(21000, 'x'));
}

TEST_P(writers, later_ones_win_over_earlier_ones) {
    writer& first = in_.add_writer(1, how());
    writer& second = in_.add_writer(2, how());
    first.write(0, as_bytes("aaaaaaaa")).value();
    first.settle().value();
    second.write(2, as_bytes("bbbb")).value();
    second.settle().value();
    EXPECT_EQ(tests::read_text(in_), "aabbbbaa");
    first.write(3, as_bytes("cc")).value();
    EXPECT_EQ(tests::read_text(in_), "aabccbaa");
    second.truncate(5).value();
    EXPECT_EQ(tests::read_text(in_), "aabcc");
}

/// A clock that is behind by an hour: only the epoch says what is later.
TEST_P(writers, epochs_order_writes_whatever_the_clocks_say) {
    writer& first = in_.add_writer(1, how());
    writer& second = in_.add_writer(2, how());
    const int64_t ahead = first.propose_epoch() + 3'600'000'000'000;
    first.raise_epoch(ahead).value();
    first.write(0, as_bytes("aaaa")).value();
    second.write(1, as_bytes("bb")).value();
    EXPECT_EQ(tests::read_text(in_), "aaaa");
    const int64_t agreed = std::max(first.propose_epoch(), second.propose_epoch());
    EXPECT_GT(agreed, ahead);
    first.raise_epoch(agreed).value();
    second.raise_epoch(agreed).value();
    second.write(1, as_bytes("bb")).value();
    EXPECT_EQ(tests::read_text(in_), "abba");
    EXPECT_EQ(first.raise_epoch(0).why().kind, error_kind::usage);
    EXPECT_EQ(first.raise_epoch(INT64_MAX).why().kind, error_kind::usage);
    EXPECT_EQ(tests::read_text(in_), "abba");
}

/// Without an epoch, and with a clock that is behind by an hour.
TEST_P(writers, that_follow_a_time_write_over_what_was_written_by_then) {
    writer& first = in_.add_writer(1, how());
    writer& second = in_.add_writer(2, how());
    first.raise_epoch(first.propose_epoch() + 3'600'000'000'000).value();
    first.write(0, as_bytes("aaaa")).value();
    const int64_t seen = first.propose_epoch();
    second.write(1, as_bytes("bb")).value();
    EXPECT_EQ(tests::read_text(in_), "aaaa");
    second.follow(seen);
    second.write(1, as_bytes("bb")).value();
    EXPECT_EQ(tests::read_text(in_), "abba");
    // As a damaged record might say: nobody gets near the largest number.
    first.follow(INT64_MAX);
    for (int i = 0; i < 100; ++i) first.write(i % 2, as_bytes(i % 2 == 0 ? "ccc" : "ddd")).value();
    EXPECT_EQ(tests::read_text(in_), "cddd");
}

TEST_P(writers, of_strided_writes_the_index_is_small) {
    writer& to = in_.add_writer(1, how());
    const std::string data(256, 'x');
    for (int64_t i = 0; i < 50000; ++i) to.write(i * 1024, as_bytes(data)).value();
    ASSERT_TRUE(to.close().ok());
    struct stat data_file {};
    ASSERT_EQ(::stat(in_.data_path(to).c_str(), &data_file), 0);
    EXPECT_EQ(data_file.st_size, 50000 * 256);
    // 0.1 % of the data.
    EXPECT_LE(size_of(in_.index_path(to)), 12800);
}

TEST_P(writers, of_random_writes_the_index_takes_at_most_24_bytes_each) {
    writer& to = in_.add_writer(1, how());
    std::mt19937_64 random(1);
    const std::string data(64, 'x');
    for (int64_t i = 0; i < 20000; ++i)
        to.write(static_cast<int64_t>(random() % (uint64_t{1} << 36)), as_bytes(data)).value();
    ASSERT_TRUE(to.close().ok());
    EXPECT_LE(size_of(in_.index_path(to)), 20000 * 24);
}

TEST_P(writers, one_that_wrote_nothing_leaves_nothing) {
    writer& to = in_.add_writer(1, how());
    EXPECT_TRUE(fs::exists(in_.index_path(to)));
    ASSERT_TRUE(to.sync().ok());
    ASSERT_TRUE(to.close().ok());
    EXPECT_FALSE(fs::exists(in_.index_path(to)));
    EXPECT_FALSE(fs::exists(in_.data_path(to)));
    EXPECT_EQ(tests::read_text(in_), "");
}

TEST_P(writers, calls_that_make_no_sense_are_refused) {
    writer& to = in_.add_writer(1, how());
    EXPECT_EQ(to.write(-1, as_bytes("x")).why().kind, error_kind::usage);
    EXPECT_EQ(to.write(INT64_MAX, as_bytes("x")).why().system_errno, EFBIG);
    EXPECT_EQ(to.write(INT64_MAX - 1, as_bytes("x")).value(), 1);
    const std::array<iovec, 2> endless{iovec{nullptr, SIZE_MAX}, iovec{nullptr, 1}};
    EXPECT_EQ(to.write(0, endless.data(), 1).why().system_errno, EINVAL);
    EXPECT_EQ(to.write(0, endless.data(), 2).why().system_errno, EINVAL);
    EXPECT_EQ(to.truncate(-1).why().kind, error_kind::usage);
    EXPECT_EQ(to.erase(5, 0).why().kind, error_kind::usage);
    EXPECT_EQ(to.erase(5, INT64_MAX).why().kind, error_kind::usage);
    EXPECT_EQ(to.open(tests::identity(1)).why().kind, error_kind::usage);
    EXPECT_EQ(to.write(0, as_bytes("")).value(), 0);
    ASSERT_TRUE(to.close().ok());
    EXPECT_EQ(to.write(0, as_bytes("x")).why().system_errno, EBADF);
    EXPECT_EQ(to.sync().why().system_errno, EBADF);
    EXPECT_EQ(to.close().why().system_errno, EBADF);
    const auto failed = to.write(0, as_bytes("x"));
    EXPECT_NE(failed.why().message.find(in_.path), std::string::npos) << failed.why().message;
}

TEST_P(writers, two_of_one_rank_and_process_have_droppings_of_their_own) {
    writer& first = in_.add_writer(1, how());
    writer& second = in_.add_writer(1, how());
    EXPECT_NE(first.name(), second.name());
    first.write(0, as_bytes("ab")).value();
    second.write(1, as_bytes("c")).value();
    EXPECT_EQ(tests::read_text(in_), "ac");
}

}  // namespace
}  // namespace halcyon::logfs
