// The storage targets of a node's processes, as the agent sees them, whatever these write there.
#include "coordinate/page/observed_targets.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <numeric>
#include <span>
#include <thread>
#include <vector>

#include "coordinate/page/pages.hpp"
#include "coordinate/page/phase_targets.hpp"
#include "coordinate/page/slot_claim.hpp"
#include "coordinate/protocol/fields.hpp"

namespace halcyon::coordinate {
namespace {

using list = std::vector<uint32_t>;

class targets_of_a_node : public testing::Test {
  protected:
    process_slot& process(uint64_t owner) { return *claim_slot(page_.shared(), owner); }
    phase_targets phases(uint64_t owner, size_t at = 0) { return phase_targets(process(owner).targets[at]); }
    /// A phase that a program has announced, and that asks for its turn.
    void begin(uint64_t owner, const list& targets) {
        process_part& part = process(owner).at[0];
        phases(owner).begin(targets, part.moved + part.unasked);
        ++part.waiting;
    }
    void end(uint64_t owner) {
        process_part& part = process(owner).at[0];
        --part.waiting;
        phases(owner).end(part.moved + part.unasked);
    }
    [[nodiscard]] node_targets now(size_t at = 0) const { return page_.observe(at, 0, 1).targets; }
    [[nodiscard]] static node_targets these(list some) { return {.some = std::move(some)}; }
    static constexpr auto all = [] { return node_targets{.all = true}; };

    agent_page page_ = page_of({"/scratch", "/burst"});
};

TEST_F(targets_of_a_node, are_those_of_all_processes_in_a_phase) {
    EXPECT_EQ(now(), these({}));
    begin(1, {5, 9});
    EXPECT_EQ(now(), these({5, 9}));
    begin(2, {5, 9});
    begin(3, {0, 7, 9, UINT32_MAX});
    EXPECT_EQ(now(), these({0, 5, 7, 9, UINT32_MAX}));
    EXPECT_EQ(now(1), these({})) << "at the other file system";
    end(3);
    EXPECT_EQ(now(), these({5, 9}));
    end(1);
    end(2);
    EXPECT_EQ(now(), these({}));
}

TEST_F(targets_of_a_node, are_all_where_one_process_in_a_phase_does_not_know_its_own) {
    begin(1, {5});
    begin(2, {});
    EXPECT_EQ(now(), all());
    end(2);
    EXPECT_EQ(now(), these({5}));
}

TEST_F(targets_of_a_node, are_all_where_a_process_asks_or_moves_without_a_phase_of_its_own) {
    begin(1, {5});
    process(2).at[0].waiting = 1;
    EXPECT_EQ(now(), all());
    process(2).at[0].waiting = 0;
    process(2).at[0].under_way = 1;
    EXPECT_EQ(now(), all());
    process(2).at[0].under_way = 0;
    EXPECT_EQ(now(), these({5}));
}

TEST_F(targets_of_a_node, are_all_where_a_process_has_moved_since_the_last_look_without_a_phase_of_its_own) {
    begin(1, {5});
    for (auto* const bytes : {&process(2).at[0].moved, &process(2).at[0].unasked}) {
        *bytes += 4096;
        EXPECT_EQ(now(), all());
        EXPECT_EQ(now(), these({5})) << "that is told once";
    }
    end(1);
    process(1).at[0].moved += 4096;
    begin(1, {5});
    EXPECT_EQ(now(), all()) << "before its next phase began";
}

TEST_F(targets_of_a_node, are_known_of_what_moves_within_announced_phases) {
    begin(1, {5});
    process(1).at[0].moved += 100;
    EXPECT_EQ(now(), these({5}));
    process(1).at[0].moved += 100;
    end(1);
    EXPECT_EQ(now(), these({})) << "it moved that before the end";
    begin(1, {6});
    process(1).at[0].moved += 100;
    end(1);
    begin(1, {7});
    EXPECT_EQ(now(), these({7})) << "a phase between two looks";
}

TEST_F(targets_of_a_node, are_those_of_all_handles_of_a_process_until_all_of_its_phases_are_over) {
    begin(1, {5, 9});
    begin(1, {1, 9});
    EXPECT_EQ(now(), these({1, 5, 9}));
    end(1);
    EXPECT_EQ(now(), these({1, 5, 9}));
    EXPECT_FALSE(phases(1).add(list{1, 5}));
    EXPECT_TRUE(phases(1).add(list{2, 5, 6}));
    EXPECT_EQ(now(), these({1, 2, 5, 6, 9}));
    EXPECT_TRUE(phases(1).add({}));
    EXPECT_EQ(now(), all());
    EXPECT_FALSE(phases(1).add({}));
    begin(1, {5});
    EXPECT_EQ(now(), all());
    end(1);
    end(1);
    begin(1, {3});
    EXPECT_EQ(now(), these({3}));
}

TEST_F(targets_of_a_node, are_all_where_there_are_more_than_can_be_told) {
    list many(shared_targets::most);
    std::iota(many.begin(), many.end(), 100);
    begin(1, many);
    EXPECT_EQ(now(), these(many));
    EXPECT_TRUE(phases(1).add(list{7}));
    EXPECT_EQ(now(), all());
    end(1);
    uint64_t process = 1;
    for (size_t count = 0; count + many.size() <= most_targets; count += many.size()) {
        std::iota(many.begin(), many.end(), static_cast<uint32_t>(count));
        begin(process++, many);
    }
    EXPECT_FALSE(now().all);
    std::iota(many.begin(), many.end(), 1U << 30U);
    begin(process, many);
    EXPECT_EQ(now(), all());
}

TEST_F(targets_of_a_node, are_bounded_whatever_a_process_writes_there) {
    begin(1, {5});
    begin(2, {7, 8});
    shared_targets& room = process(2).targets[0];
    for (const uint32_t count : {uint32_t{shared_targets::most} + 1, 1U << 20U, UINT32_MAX, 0U}) {
        room.count = count;
        EXPECT_EQ(now(), all()) << count;
    }
    room.count = 3;
    room.at[0] = 9, room.at[1] = 4, room.at[2] = 9;
    EXPECT_EQ(now(), these({4, 5, 9})) << "in no order, and twice";
    room.moved_before = INT64_MIN;
    room.moved_within = INT64_MAX;
    EXPECT_EQ(now(), these({4, 5, 9}));
    room.moved_before = INT64_MAX;
    room.moved_within = INT64_MIN;
    EXPECT_EQ(now(), all());
    room.turns = UINT32_MAX;
    EXPECT_EQ(now(), these({4, 5, 9}));
    ++room.version;  // it was killed in the middle of a change
    EXPECT_EQ(now(), all());
}

TEST_F(targets_of_a_node, are_forgotten_with_the_program_that_told_them_and_with_its_process) {
    begin(1, {5});
    process(1).at[0].moved += 100;
    ++process(1).targets[0].version;  // in the middle of a change
    forget_program_before(process(1), 0);
    EXPECT_EQ(now(), these({}));
    begin(1, {6});
    EXPECT_EQ(now(), these({6}));
    in_child([&] {
        phases(own_name()).begin(list{8}, 0);
        phases(own_name()).begin(list{8}, 0);
    });
    EXPECT_EQ(now(), these({6, 8}));
    page_.free_dead();  // process 1, which there is not, too
    EXPECT_EQ(now(), these({}));
    for (const process_slot* const one : {&page_.shared().slots[0], &page_.shared().slots[1]}) {
        EXPECT_EQ(one->targets[0].turns, 0U);
        EXPECT_EQ(one->targets[0].version, 0U);
        EXPECT_EQ(one->targets[0].moved_within, 0);
    }
}

/// Each phase of the process lists so many consecutive numbers, and moves bytes; none of its own, only within phases.
TEST_F(targets_of_a_node, are_those_of_one_phase_while_others_begin_and_end) {
    std::atomic<bool> over{false};
    process_slot& own = process(1);
    std::thread program([&] {
        uint32_t first = 0;
        while (!over) {
            list some(1 + first % shared_targets::most);
            std::iota(some.begin(), some.end(), ++first);
            phase_targets room(own.targets[0]);
            room.begin(some, own.at[0].moved);
            ++own.at[0].under_way;
            own.at[0].moved += 10;
            --own.at[0].under_way;
            room.end(own.at[0].moved);
        }
    });
    for (int looks = 0, seen = 0; looks < 2'000'000 && seen < 1000; ++looks) {
        const node_targets found = now();
        if (found.all) continue;  // it never comes to rest on a machine that is busy
        seen += found.some.empty() ? 0 : 1;
        if (found.some.empty()) continue;
        const list& some = found.some;
        ASSERT_EQ(some.size(), 1 + (some.front() - 1) % shared_targets::most);
        ASSERT_EQ(some.back() - some.front() + 1, some.size());
    }
    over = true;
    program.join();
    static_cast<void>(now());
    EXPECT_EQ(now(), these({})) << "all that moved did so within phases";
}

TEST_F(targets_of_a_node, are_told_as_they_were_seen) {
    begin(1, {5});
    static_cast<void>(now());
    EXPECT_FALSE(phases(1).are_told());
    page_.tell_targets(0, true, false);
    EXPECT_FALSE(phases(1).are_told());
    EXPECT_TRUE(page_.shared().file_system[0].lists_targets != 0);
    const uint32_t turn = page_.shared().file_system[0].turn;
    begin(2, {7});  // has come since
    page_.tell_targets(0, true, true);
    EXPECT_TRUE(phases(1).are_told());
    EXPECT_FALSE(phases(2).are_told());
    EXPECT_NE(page_.shared().file_system[0].turn, turn) << "who waits for that wakes up";
    EXPECT_FALSE(page_.was_replaced(0));
    EXPECT_EQ(turn_word::state(page_.shared().file_system[0].turn), turn_word::state(turn));
    EXPECT_TRUE(now().told);
    end(1);
    EXPECT_FALSE(now().told) << "nobody is left of those that were told";
    page_.tell_targets(0, true, true);
    const uint32_t after = page_.shared().file_system[0].turn;
    page_.tell_targets(0, true, true);
    EXPECT_EQ(page_.shared().file_system[0].turn, after) << "no news";
    EXPECT_TRUE(phases(2).add(list{8}));
    EXPECT_FALSE(phases(2).are_told());
}

}  // namespace
}  // namespace halcyon::coordinate
