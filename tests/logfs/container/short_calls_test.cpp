#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "logfs/container/format/format.hpp"
#include "logfs/container/tools/check.hpp"
#include "open_container.hpp"
#include "watched_files.hpp"

namespace halcyon::logfs {
namespace {

/// Each call moves a part of what it is asked to, as they all may.
class short_files : public tests::watched_files {
  public:
    int64_t read_at(int fd, const iovec* parts, int count, int64_t offset) override {
        const iovec some = part_of(parts, count);
        return watched_files::read_at(fd, &some, 1, offset);
    }
    int64_t write_at(int fd, const iovec* parts, int count, int64_t offset) override {
        const iovec some = part_of(parts, count);
        return watched_files::write_at(fd, &some, 1, offset);
    }
    int64_t shortened = 0;

  private:
    iovec part_of(const iovec* parts, int count) {
        while (count > 1 && parts->iov_len == 0) ++parts, --count;
        const size_t most = 1 + random_() % 3000;
        shortened += count > 1 || parts->iov_len > most ? 1 : 0;
        return {parts->iov_base, std::min(parts->iov_len, most)};
    }

    std::mt19937_64 random_{3};
};

class short_calls : public ::testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(, short_calls, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "mapped" : "written"; });

TEST_P(short_calls, write_and_read_all_that_was_asked_for) {
    short_files calls;
    tests::open_container in(calls);
    writer_options how;
    how.may_map_index = GetParam();
    how.has_data_checks = true;
    writer& to = in.add_writer(1, how);
    tests::plain_file expected;
    std::mt19937_64 random(1);
    for (int i = 0; i < 3000; ++i) {
        auto data = tests::random_bytes(random, 1 + random() % 9000);
        const size_t first = random() % data.size();
        const std::vector<iovec> parts{
            {data.data(), first}, {data.data(), 0}, {data.data() + first, data.size() - first}};
        const auto offset = static_cast<int64_t>(random() % 300000);
        ASSERT_EQ(to.write(offset, parts.data(), 3).value(), static_cast<int64_t>(data.size()));
        expected.write(offset, data);
        if (i % 500 == 499) {
            ASSERT_TRUE(to.sync().ok());
        }
    }
    EXPECT_GT(to.index().state().end.block, 4U);
    reader_options verifying = tests::beside_writers();
    verifying.verifies_data = true;
    EXPECT_EQ(tests::difference(in.contents(verifying), expected.contents()), "none");
    ASSERT_TRUE(to.close().ok());
    EXPECT_EQ(tests::difference(in.contents(verifying), expected.contents()), "none");
    const auto checked = check(in.of());
    ASSERT_TRUE(checked.ok());
    EXPECT_TRUE(checked->is_sound());
    EXPECT_GT(checked->checked_bytes, 0);
    EXPECT_GT(calls.shortened, 1000);
}

/// Finds a part of the head of an index dropping, so many times: as when its writer is just writing it.
class early_files : public tests::watched_files {
  public:
    int64_t read_at(int fd, const iovec* parts, int count, int64_t offset) override {
        const int64_t bytes = watched_files::read_at(fd, parts, count, offset);
        constexpr size_t half = sizeof(index_header) / 2;
        if (offset == 0 && bytes == static_cast<int64_t>(block_bytes) && early-- > 0)
            std::memset(static_cast<std::byte*>(parts->iov_base) + half, 0, half);
        return bytes;
    }
    int early = 0;
};

TEST(early_look, at_a_head_is_followed_by_another) {
    early_files calls;
    tests::open_container in(calls);
    in.add_writer(1).write(0, tests::as_bytes("hello")).value();
    calls.early = 5;
    EXPECT_EQ(tests::read_text(in), "hello");
    EXPECT_LT(calls.early, 0);
    // What stays so is damage.
    calls.early = 1000000;
    const auto damaged = in.new_reader()->reload();
    ASSERT_FALSE(damaged.ok());
    EXPECT_EQ(damaged.why().kind, error_kind::config);
}

}  // namespace
}  // namespace halcyon::logfs
