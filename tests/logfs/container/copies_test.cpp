// What the kernel copies between a container and another file.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <random>
#include <string>

#include "open_container.hpp"
#include "watched_files.hpp"

namespace halcyon::logfs {
namespace {

using tests::as_bytes;
using tests::open_container;

constexpr int64_t least = 16384;

/// Beside the container, on its file system.
class other_file {
  public:
    explicit other_file(const open_container& beside) : path_(beside.folder.file("other")) {
        fd_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_TRUNC, 0600);
    }
    ~other_file() { ::close(fd_); }
    other_file(const other_file&) = delete;
    other_file& operator=(const other_file&) = delete;

    [[nodiscard]] int fd() const { return fd_; }
    void fill(const tests::bytes& data) const {
        EXPECT_EQ(::pwrite(fd_, data.data(), data.size(), 0), static_cast<ssize_t>(data.size()));
    }
    [[nodiscard]] tests::bytes contents() const {
        tests::bytes all(std::filesystem::file_size(path_));
        EXPECT_EQ(::pread(fd_, all.data(), all.size(), 0), static_cast<ssize_t>(all.size()));
        return all;
    }

  private:
    std::string path_;
    int fd_ = -1;
};

TEST(copies, go_out_for_long_pieces_only) {
    tests::watched_files calls;
    open_container in(calls);
    writer* const writers[] = {&in.add_writer(1), &in.add_writer(2)};
    tests::plain_file expected;
    std::mt19937_64 random(1);
    constexpr int64_t piece = 48 << 10;
    const auto write = [&](int64_t offset, int64_t bytes, int by) {
        const auto data = tests::random_bytes(random, static_cast<size_t>(bytes));
        writers[by]->write(offset, data).value();
        expected.write(offset, data);
    };
    for (int64_t i = 0; i < 40; ++i) write(i * piece, piece, static_cast<int>(i % 2));
    const int64_t small = 40 * piece;
    for (int64_t i = 0; i < 40; ++i) write(small + i * 1000, 1000, static_cast<int>(i % 2));
    const int64_t hole = small + 40'000;
    write(hole + 100'000, piece, 0);
    const auto from = in.new_reader();
    from->reload().value();
    const other_file to(in);
    // From the midst of a piece, to the first of the small ones that follow one another.
    const int64_t copied = from->copy_out(100, INT64_MAX, to.fd(), nullptr, least).value();
    EXPECT_GE(copied, small - 100);
    EXPECT_LT(copied, small - 100 + 5 * 1000);
    const auto all = expected.contents();
    EXPECT_EQ(tests::difference(to.contents(), {all.begin() + 100, all.begin() + 100 + copied}), "none");
    // Reads go on from wherever they are, and so do copies.
    tests::bytes part(5000);
    EXPECT_EQ(from->read(100 + copied, part).value(), 5000);
    EXPECT_EQ(tests::difference(part, {all.begin() + 100 + copied, all.begin() + 5100 + copied}), "none");
    int64_t at = 7;
    EXPECT_EQ(from->copy_out(0, 3 * piece, to.fd(), &at, least).value(), 3 * piece);
    EXPECT_EQ(at, 7 + 3 * piece);
    const auto there = to.contents();
    EXPECT_EQ(tests::difference({there.begin() + 7, there.begin() + at}, {all.begin(), all.begin() + 3 * piece}),
              "none");
    EXPECT_EQ(from->copy_out(small + 5000, 1000, to.fd(), nullptr, least).value(), 1000);  // the rest of it
    EXPECT_EQ(from->copy_out(small + 5000, 30'000, to.fd(), nullptr, least).value(), 1000);
    EXPECT_EQ(from->copy_out(hole, 1000, to.fd(), nullptr, least).value(), 0);
    EXPECT_EQ(from->copy_out(from->size(), 1000, to.fd(), nullptr, least).value(), 0);
}

TEST(copies, that_fail_leave_it_to_reads) {
    tests::watched_files calls;
    open_container in(calls);
    writer& to = in.add_writer(1);
    to.write(0, tests::bytes(200'000)).value();
    const auto from = in.new_reader();
    from->reload().value();
    const other_file other(in);
    calls.before = [](std::string_view call, int64_t) { return call == "copy" ? -EXDEV : 0; };
    EXPECT_EQ(from->copy_out(0, 200'000, other.fd(), nullptr, least).value(), 0);
    calls.before = [](std::string_view, int64_t) { return 0; };
    std::filesystem::resize_file(in.data_path(to), 100'000);
    EXPECT_EQ(from->copy_out(0, 200'000, other.fd(), nullptr, least).value(), 100'000);
    EXPECT_EQ(from->copy_out(100'000, 100'000, other.fd(), nullptr, least).value(), 0);
}

TEST(copies, come_in_as_writes) {
    tests::watched_files calls;
    open_container in(calls);
    writer& first = in.add_writer(1);
    writer& second = in.add_writer(2);
    std::mt19937_64 random(1);
    const other_file from(in);
    const auto data = tests::random_bytes(random, 300'000);
    from.fill(data);
    tests::plain_file expected;
    const auto copy = [&](writer& to, int64_t offset, int64_t begin, int64_t bytes) {
        int64_t at = begin;
        EXPECT_EQ(to.copy_in(offset, bytes, from.fd(), &at).value(), bytes);
        EXPECT_EQ(at, begin + bytes);
        expected.write(offset, {data.begin() + begin, data.begin() + at});
    };
    copy(first, 1000, 0, 200'000);
    copy(second, 50'000, 200'000, 100'000);
    first.write(60'000, as_bytes("hello")).value();
    expected.write(60'000, as_bytes("hello"));
    copy(first, 201'000, 5000, 5000);
    EXPECT_EQ(tests::difference(in.contents(), expected.contents()), "none");
    int64_t at = 300'000;
    EXPECT_EQ(first.copy_in(0, 1000, from.fd(), &at).value(), 0);
    EXPECT_FALSE(first.copy_in(-1, 1000, from.fd(), &at).ok());
    calls.before = [](std::string_view call, int64_t) { return call == "copy" ? -ENOSPC : 0; };
    at = 0;
    EXPECT_EQ(first.copy_in(0, 1000, from.fd(), &at).value(), 0);
    EXPECT_EQ(tests::difference(in.contents(), expected.contents()), "none");
}

/// Nobody would have seen what the kernel copies.
TEST(copies, are_not_made_of_data_with_sums) {
    tests::watched_files calls;
    open_container in(calls);
    writer_options sums;
    sums.has_data_checks = true;
    writer& to = in.add_writer(1, sums);
    const other_file other(in);
    other.fill(tests::bytes(100'000));
    int64_t at = 0;
    EXPECT_EQ(to.copy_in(0, 100'000, other.fd(), &at).value(), 0);
    to.write(0, tests::bytes(100'000)).value();
    reader_options verifying = tests::beside_writers();
    verifying.verifies_data = true;
    const auto from = in.new_reader(verifying);
    from->reload().value();
    EXPECT_EQ(from->copy_out(0, 100'000, other.fd(), nullptr, least).value(), 0);
    EXPECT_EQ(in.new_reader()->copy_out(0, 100'000, other.fd(), nullptr, least).value(), 0);  // it shows nothing yet
}

}  // namespace
}  // namespace halcyon::logfs
