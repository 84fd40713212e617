#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "logfs/container/log_file.hpp"
#include "plain_file.hpp"
#include "temporary_folder.hpp"

namespace halcyon::logfs {
namespace {

using tests::as_bytes;

/// A file that was written by a process whose clock is an hour ahead of all others.
class clocks : public ::testing::Test {
  protected:
    void SetUp() override {
        open(ahead_, 1, "node0");
        ahead_.write(0, as_bytes("-")).value();
        ahead_.raise_epoch(ahead_.propose_epoch() + 3'600'000'000'000).value();
        ahead_.write(0, as_bytes("oldold")).value();
    }

    void open(log_file& file, int64_t pid, std::string_view host, bool truncates = false) const {
        opening how;
        how.may_write = true;
        how.creates = true;
        how.truncates = truncates;
        ASSERT_TRUE(file.open(path_, tests::identity(pid, host, "boot of " + std::string(host)), how).ok());
    }
    /// As a process sees it that opens it now.
    std::string text() const {
        log_file file;
        open(file, 99, "node9");
        tests::bytes data(static_cast<size_t>(file.size().value()));
        EXPECT_EQ(file.read(0, data).value(), static_cast<int64_t>(data.size()));
        return tests::as_text(data);
    }

    halcyon::tests::temporary_folder folder_;
    std::string path_ = folder_.file("file");
    log_file ahead_;
};

TEST_F(clocks, that_are_behind_keep_no_program_that_is_started_again_from_writing_over_the_old) {
    ahead_.writing()->abandon();  // as if it was killed
    log_file again;
    open(again, 1, "node1");
    again.write(1, as_bytes("new")).value();
    EXPECT_EQ(text(), "onewld");
    // Nor from truncating it.
    log_file truncating;
    open(truncating, 1, "node2", true);
    EXPECT_EQ(text(), "");
    truncating.write(2, as_bytes("x")).value();
    EXPECT_EQ(text(), std::string("\0\0x", 3));
}

TEST_F(clocks, that_are_behind_order_nothing_that_was_seen_by_a_refresh) {
    log_file behind;
    open(behind, 2, "node1");
    behind.write(0, as_bytes("b")).value();
    EXPECT_EQ(text(), "bldold");
    // Each in turn takes what the other has published, as the holders of a lock do.
    for (int i = 0; i < 20; ++i) {
        ahead_.refresh().value();
        ahead_.write(i % 6, as_bytes("A")).value();
        ahead_.settle().value();
        behind.refresh().value();
        behind.write((i + 3) % 6, as_bytes("b")).value();
        behind.settle().value();
    }
    EXPECT_EQ(text(), "AAbbbA");
}

TEST_F(clocks, that_are_behind_append_to_what_was_truncated) {
    log_file behind;
    open(behind, 2, "node1");
    EXPECT_EQ(behind.append(as_bytes("1")).value().offset, 6);
    ahead_.refresh().value();
    ahead_.truncate(2).value();
    const auto appended = behind.append(as_bytes("2")).value();
    EXPECT_EQ(appended.offset, 2);
    EXPECT_EQ(text(), "ol2");
}

/// The other rank opened the file before that was written, and has not looked at it since.
TEST_F(clocks, that_are_behind_know_of_an_epoch_before_the_first_write) {
    log_file behind;
    open(behind, 2, "node1");
    for (int i = 0; i < 10; ++i) ahead_.write(0, as_bytes("oldest")).value();
    const int64_t agreed = std::max(behind.propose_epoch(), ahead_.propose_epoch());
    ahead_.raise_epoch(agreed).value();
    behind.raise_epoch(agreed).value();
    EXPECT_FALSE(behind.writing().has_value());
    behind.write(1, as_bytes("new")).value();
    EXPECT_EQ(text(), "onewst");
    EXPECT_EQ(behind.raise_epoch(0).why().kind, error_kind::usage);
    log_file third;
    open(third, 3, "node2");
    EXPECT_EQ(third.raise_epoch(-1).why().kind, error_kind::usage);
    EXPECT_EQ(third.raise_epoch(INT64_MAX).why().kind, error_kind::usage);
}

/// Only who wrote says it, once: all others know it.
TEST_F(clocks, that_are_behind_know_of_epochs_that_they_do_not_write_down) {
    log_file behind;
    open(behind, 2, "node1");
    behind.write(5, as_bytes("b")).value();
    const auto raise = [&] {
        const int64_t agreed = std::max(behind.propose_epoch(), ahead_.propose_epoch());
        ahead_.raise_epoch(agreed).value();
        behind.raise_epoch(agreed).value();
    };
    raise();
    const int64_t before = behind.writing()->index().file_bytes();
    for (int i = 0; i < 10; ++i) {
        ahead_.write(0, as_bytes("oldest")).value();
        raise();
        behind.sync().value();
    }
    EXPECT_EQ(behind.writing()->index().file_bytes(), before);
    behind.write(1, as_bytes("new")).value();
    EXPECT_EQ(text(), "onewst");
}

TEST_F(clocks, that_are_behind_are_followed_by_who_joins_a_group_later) {
    log_file joining;
    open(joining, 2, "node1");
    joining.write(2, as_bytes("jj")).value();
    const std::string first(joining.writing()->name());
    joining.raise_epoch(ahead_.propose_epoch()).value();
    ASSERT_TRUE(joining.join_group(77).ok());
    ASSERT_TRUE(joining.join_group(77).ok());
    EXPECT_FALSE(joining.writing().has_value());
    joining.write(1, as_bytes("JJ")).value();
    EXPECT_NE(first, joining.writing()->name());
    tests::bytes data(6);
    EXPECT_EQ(joining.read(0, data).value(), 6);
    EXPECT_EQ(tests::as_text(data), "oJJjld");
    EXPECT_EQ(text(), "oJJjld");
}

}  // namespace
}  // namespace halcyon::logfs
