#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <string>

#include "api_test.hpp"
#include "logfs/container/directory/container.hpp"
#include "logfs/container/reading/reader.hpp"
#include "logfs/container/tools/check.hpp"

/// What is done with an open container.
namespace halcyon::logfs::tests {
namespace {

class handle : public api_test {};

TEST_F(handle, writes_and_reads_anywhere) {
    constexpr int64_t far = int64_t{1} << 40;
    opened file(path_);
    file.write("begin", 0);
    file.write("end", far);
    EXPECT_EQ(file.size(), far + 3);
    EXPECT_EQ(file.read(7, 0), std::string("begin\0\0", 7));
    EXPECT_EQ(file.read(100, far - 1), std::string("\0end", 4)) << "no more than there is";
    EXPECT_EQ(file.read(100, far + 3), "");
    EXPECT_TRUE(went_well(halcyon_logfs_pread(file, nullptr, 0, 0, nullptr)));
    EXPECT_TRUE(went_well(halcyon_logfs_pwrite(file, nullptr, 0, far * 2, nullptr)));
    EXPECT_EQ(file.size(), far + 3);
}

TEST_F(handle, creates_and_empties_as_its_mode_says) {
    halcyon_logfs_handle h = nullptr;
    EXPECT_TRUE(failed(halcyon_logfs_open(path_.c_str(), HALCYON_LOGFS_WRITE, nullptr, &h), HALCYON_ERROR_SYSTEM,
                       ENOENT, path_));
    EXPECT_EQ(h, nullptr);
    make(path_, "text");
    EXPECT_TRUE(failed(halcyon_logfs_open(path_.c_str(), for_writing | HALCYON_LOGFS_EXCLUSIVE, nullptr, &h),
                       HALCYON_ERROR_SYSTEM, EEXIST, path_));
    opened(path_, for_writing).close();
    EXPECT_EQ(text_of(path_), "text");
    opened(path_, HALCYON_LOGFS_WRITE | HALCYON_LOGFS_TRUNCATE).close();
    EXPECT_EQ(text_of(path_), "");
    opened(folder_.file("new"), for_writing | HALCYON_LOGFS_EXCLUSIVE).close();
}

TEST_F(handle, appends_behind_what_others_appended) {
    opened one(path_);
    opened other(path_);
    int64_t at = -1;
    uint64_t done = 0;
    for (int i = 0; i < 3; ++i) {
        ASSERT_TRUE(went_well(halcyon_logfs_append(one, "one ", 4, &at, nullptr)));
        EXPECT_EQ(at, i * 10);
        ASSERT_TRUE(went_well(halcyon_logfs_append(other, "other ", 6, &at, &done)));
        EXPECT_EQ(at, i * 10 + 4);
        EXPECT_EQ(done, 6U);
    }
    EXPECT_EQ(text_of(path_), "one other one other one other ");
}

TEST_F(handle, truncates_and_erases) {
    opened file(path_);
    file.write("0123456789", 0);
    ASSERT_TRUE(went_well(halcyon_logfs_truncate(file, 4)));
    EXPECT_EQ(file.size(), 4);
    ASSERT_TRUE(went_well(halcyon_logfs_truncate(file, 8)));
    EXPECT_EQ(file.read(100, 0), std::string("0123\0\0\0\0", 8));
    ASSERT_TRUE(went_well(halcyon_logfs_erase(file, 1, 2)));
    EXPECT_EQ(file.read(4, 0), std::string("0\0\0003", 4));
    EXPECT_EQ(file.size(), 8);
}

TEST_F(handle, sees_what_others_wrote_when_it_is_refreshed) {
    opened reads(path_);
    opened writes(path_);
    writes.write("text", 0);
    ASSERT_TRUE(went_well(halcyon_logfs_settle(writes)));
    EXPECT_EQ(reads.size(), 0);
    ASSERT_TRUE(went_well(halcyon_logfs_refresh(reads)));
    EXPECT_EQ(reads.read(100, 0), "text");
    reads.write("T", 0);
    EXPECT_EQ(reads.read(100, 0), "Text");
    reads.close();
    writes.close();
    EXPECT_EQ(text_of(path_), "Text") << "what is written behind a refresh is later";
}

/// As a crash of the node would leave it.
TEST_F(handle, makes_durable_what_it_syncs) {
    opened file(path_);
    file.write("durable", 0);
    ASSERT_TRUE(went_well(halcyon_logfs_sync(file)));
    file.write(" and not", 7);
    container in;
    in.open(path_).value();
    reader_options how;
    how.stops_at_commit = true;
    reader from(in, how);
    from.reload().value();
    EXPECT_EQ(from.size(), 7);
}

TEST_F(handle, tells_what_is_known_of_the_file) {
    halcyon_logfs_options how = options();
    how.permissions = 0640;
    opened file(path_, for_both, &how);
    file.write("text", 10);
    halcyon_logfs_status_t open{};
    open.size_bytes = sizeof open;
    ASSERT_TRUE(went_well(halcyon_logfs_status(file, &open)));
    EXPECT_EQ(open.bytes, 14);
    EXPECT_EQ(open.permissions, 0640U);
    EXPECT_EQ(open.user, geteuid());
    EXPECT_EQ(open.is_plfs, 0);
    file.close();
    halcyon_logfs_status_t named{};
    named.size_bytes = sizeof named;
    ASSERT_TRUE(went_well(halcyon_logfs_status_of(path_.c_str(), &named)));
    EXPECT_EQ(named.inode, open.inode);
    EXPECT_EQ(named.device, open.device);
    EXPECT_EQ(named.modified_ns, open.modified_ns);
}

TEST_F(handle, gives_a_program_of_an_earlier_release_the_members_that_it_knows) {
    make(path_, "text");
    halcyon_logfs_status_t status{};
    status.size_bytes = offsetof(halcyon_logfs_status_t, modified_ns);
    status.modified_ns = -7;
    ASSERT_TRUE(went_well(halcyon_logfs_status_of(path_.c_str(), &status)));
    EXPECT_EQ(status.bytes, 4);
    EXPECT_EQ(status.modified_ns, -7);
}

TEST_F(handle, raises_epochs_with_its_group) {
    halcyon_logfs_options how = options();
    how.group = 5;
    how.has_rank = 1;
    opened first(path_, for_both, &how);
    how.rank = 1;
    opened second(path_, for_both, &how);
    first.write("first", 0);
    int64_t one = 0;
    int64_t other = 0;
    ASSERT_TRUE(went_well(halcyon_logfs_propose_epoch(first, &one)));
    ASSERT_TRUE(went_well(halcyon_logfs_propose_epoch(second, &other)));
    // As if the clock of a node were ahead by an hour.
    const int64_t latest = std::max(one, other) + int64_t{3600} * 1'000'000'000;
    ASSERT_TRUE(went_well(halcyon_logfs_raise_epoch(first, latest)));
    ASSERT_TRUE(went_well(halcyon_logfs_raise_epoch(second, latest)));
    second.write("second", 0);
    first.close();
    second.close();
    halcyon_logfs_status_t status{};
    status.size_bytes = sizeof status;
    ASSERT_TRUE(went_well(halcyon_logfs_status_of(path_.c_str(), &status)));
    EXPECT_GT(status.modified_ns, latest) << "what is written behind the epoch is later";
    EXPECT_EQ(text_of(path_), "second");
    container in;
    in.open(path_).value();
    EXPECT_EQ(check(in)->conflict_bytes, 0);
    halcyon_logfs_handle h = nullptr;
    ASSERT_TRUE(went_well(halcyon_logfs_open(path_.c_str(), for_both, nullptr, &h)));
    EXPECT_TRUE(failed(halcyon_logfs_raise_epoch(h, -1), HALCYON_ERROR_USAGE, EINVAL, "epoch"));
    halcyon_logfs_close(&h);
}

/// Two processes that were told the same rank by mistake, as two handles of this one.
TEST_F(handle, shares_the_file_with_another_of_the_same_rank) {
    halcyon_logfs_options how = options();
    how.has_rank = 1;
    how.rank = 3;
    opened one(path_, for_both, &how);
    opened other(path_, for_both, &how);
    for (int64_t i = 0; i < 50; ++i) {
        one.write("a", 2 * i);
        other.write("b", 2 * i + 1);
    }
    ASSERT_TRUE(went_well(halcyon_logfs_settle(one)));
    ASSERT_TRUE(went_well(halcyon_logfs_refresh(other)));
    other.write("B", 0);
    one.close();
    other.close();
    std::string expected = "B";
    for (int i = 1; i < 100; ++i) expected += i % 2 == 0 ? 'a' : 'b';
    EXPECT_EQ(text_of(path_), expected);
    container in;
    in.open(path_).value();
    const auto found = check(in);
    EXPECT_TRUE(found->is_sound());
    EXPECT_EQ(found->writers, 2U);
}

}  // namespace
}  // namespace halcyon::logfs::tests
