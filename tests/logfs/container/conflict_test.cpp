#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "logfs/container/tools/check.hpp"
#include "logfs/container/tools/flatten.hpp"
#include "logfs/container/tools/stats.hpp"
#include "open_container.hpp"

namespace halcyon::logfs {
namespace {

using tests::as_bytes;

/// Two writers of the same bytes, at known times: an epoch sets the clock of each forward.
class conflicts : public ::testing::Test {
  protected:
    writer& add(int64_t pid, std::string_view host, int64_t clock_bound_ns, uint64_t group = 0) {
        writers_.push_back(std::make_unique<writer>(in_.of()));
        writer_identity who = tests::identity(pid, host);
        who.clock_bound_ns = clock_bound_ns;
        who.group = group;
        writers_.back()->open(who).value();
        return *writers_.back();
    }
    /// The next write of this one is at `ns` after a moment an hour from now, or a little later.
    void at(writer& who, int64_t ns) const { who.raise_epoch(base_ns_ + ns).value(); }

    int64_t found() {
        reader_options how;
        how.finds_conflicts = true;
        const auto from = in_.new_reader(how);
        from->reload().value();
        int64_t bytes = 0;
        static_cast<void>(from->segments(0, from->size()).value());
        for (const conflict& each : from->conflicts()) {
            EXPECT_NE(each.shown, each.hidden);
            bytes += each.length;
        }
        EXPECT_EQ(check(in_.of()).value().conflict_bytes, bytes);
        EXPECT_EQ(conflict_bytes(in_.of()).value(), bytes);
        return bytes;
    }

    tests::open_container in_;
    std::vector<std::unique_ptr<writer>> writers_;
    int64_t base_ns_ = 0;

    void SetUp() override {
        timespec now{};
        clock_gettime(CLOCK_REALTIME, &now);
        base_ns_ = (now.tv_sec + 3600) * int64_t{1'000'000'000};
    }
};

constexpr int64_t ms = 1'000'000;

TEST_F(conflicts, writes_of_two_nodes_within_their_clocks_bounds_conflict) {
    writer& one = add(1, "node0", 2 * ms);
    writer& other = add(2, "node1", 3 * ms);
    at(one, 0);
    one.write(0, as_bytes("aaaaaaaa")).value();
    at(other, 4 * ms);
    other.write(2, as_bytes("bbb")).value();
    EXPECT_EQ(found(), 3);
    EXPECT_EQ(tests::read_text(in_).substr(0, 6), "aabbba");
}

TEST_F(conflicts, are_said_by_all_who_look_at_the_whole_file) {
    writer& one = add(1, "node0", 2 * ms);
    writer& other = add(2, "node1", 3 * ms);
    at(one, 0);
    one.write(0, as_bytes("aaaaaaaa")).value();
    at(other, 4 * ms);
    other.write(2, as_bytes("bbb")).value();
    EXPECT_EQ(stats(in_.of())->conflict_bytes, 3);
    const std::string where = check(in_.of())->findings.back().concerns;
    EXPECT_TRUE(where.starts_with("3 B of the file, from byte 2 on: those of hostdir.")) << where;
    EXPECT_EQ(flatten(in_.of(), in_.folder.file("flat"))->conflict_bytes, 3);
}

TEST_F(conflicts, writes_further_apart_than_the_bounds_do_not) {
    writer& one = add(1, "node0", 2 * ms);
    writer& other = add(2, "node1", 3 * ms);
    at(one, 0);
    one.write(0, as_bytes("aaaaaaaa")).value();
    at(other, 6 * ms);
    other.write(2, as_bytes("bbb")).value();
    EXPECT_EQ(found(), 0);
}

TEST_F(conflicts, one_clock_has_no_doubt) {
    writer& one = add(1, "node0", 1000 * ms);
    writer& other = add(2, "node0", 1000 * ms);
    at(one, 0);
    one.write(0, as_bytes("aaaaaaaa")).value();
    at(other, 1);
    other.write(2, as_bytes("bbb")).value();
    EXPECT_EQ(found(), 0);
}

TEST_F(conflicts, an_epoch_between_them_decides) {
    writer& one = add(1, "node0", 1000 * ms, 77);
    writer& other = add(2, "node1", 1000 * ms, 77);
    at(one, 0);
    at(other, 0);
    one.write(0, as_bytes("aaaaaaaa")).value();
    other.write(4, as_bytes("cc")).value();
    EXPECT_EQ(found(), 2);
    at(one, 5 * ms);
    at(other, 5 * ms);
    other.write(2, as_bytes("bbb")).value();
    // Bytes 2 to 4 are b now, and that is certain; byte 5 still is of the first epoch.
    const auto report = check(in_.of()).value();
    EXPECT_EQ(tests::read_text(in_).substr(0, 5), "aabbb");
    reader_options how;
    how.finds_conflicts = true;
    const auto from = in_.new_reader(how);
    from->reload().value();
    static_cast<void>(from->segments(2, 5).value());
    EXPECT_TRUE(from->conflicts().empty());
    EXPECT_EQ(report.conflict_bytes, 1);
}

TEST_F(conflicts, other_groups_epochs_decide_nothing) {
    writer& one = add(1, "node0", 1000 * ms, 77);
    writer& other = add(2, "node1", 1000 * ms, 78);
    at(one, 0);
    one.write(0, as_bytes("aaaaaaaa")).value();
    at(other, 5 * ms);
    other.write(2, as_bytes("bbb")).value();
    EXPECT_EQ(found(), 3);
}

TEST_F(conflicts, ranks_decide_at_the_same_time) {
    // With one name for both hosts, and no boot id, two clocks.
    writer& low = add(1, "node0", 0);
    writer& high = add(2, "node1", 0);
    at(high, 0);
    high.write(0, as_bytes("hhhh")).value();
    at(low, 0);
    low.write(0, as_bytes("ll")).value();
    EXPECT_EQ(tests::read_text(in_), "hhhh");
    EXPECT_EQ(found(), 2);
}

}  // namespace
}  // namespace halcyon::logfs
