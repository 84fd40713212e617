#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "logfs/container/format/dropping_name.hpp"
#include "logfs/container/format/format.hpp"
#include "logfs/container/tools/check.hpp"
#include "logfs/container/tools/repair.hpp"
#include "logfs/container/writing/index_writer.hpp"
#include "open_container.hpp"

namespace halcyon::logfs {
namespace {

/// Index droppings that no writer of ours makes, with check sums that fit.
class hostile_index : public ::testing::Test {
  protected:
    void add_dropping(const std::vector<record>& records, uint64_t group = 0) {
        ASSERT_EQ(in_.of().make_host_directory(0), 0);
        index_header header{};
        std::memcpy(header.magic, index_magic, sizeof header.magic);
        header.version = format_version;
        header.byte_order = byte_order_mark;
        header.block_size = block_bytes;
        header.pid = ++pid_;
        header.created_ns = 1'700'000'000'000'000'000;
        header.salt = salt_of(header.created_ns, header.pid);
        header.group = group;
        std::memcpy(header.host, "node0", 5);
        std::memcpy(header.boot_id, "boot0", 5);
        header.check = check_of(header, 0);
        const short_name name = dropping_path(0, {"node0", header.pid, header.created_ns, dropping_kind::index});
        index_writer into(in_.of().calls());
        ASSERT_EQ(into.create(in_.of().directory(), name.c_str(), header, true), 0);
        for (const record& each : records) ASSERT_EQ(into.add_again(each), 0);
        ASSERT_EQ(into.close(), 0);
        const std::ofstream data(in_.path + "/" + std::string(with_kind(name.view(), dropping_kind::data).view()));
        ASSERT_TRUE(data.good());
    }

    static record change(record_kind kind, int64_t size, int64_t time_ns) {
        record made;
        made.kind = kind;
        made.what.count = 1;
        made.what.start = size;
        made.what.first_ns = made.what.last_ns = time_ns;
        return made;
    }

    /// Changes both of the slots that are not empty, and gives them the sums that fit.
    template <class Slot, class Change>
    static void change_slots(const std::string& path, size_t (*place)(uint64_t), Change change) {
        std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
        index_header header{};
        file.read(reinterpret_cast<char*>(&header), sizeof header);
        for (uint64_t i = 0; i < 2; ++i) {
            Slot slot{};
            file.seekg(static_cast<std::streamoff>(place(i)));
            file.read(reinterpret_cast<char*>(&slot), sizeof slot);
            if (slot.sequence == 0) continue;
            change(slot);
            slot.check = check_of(slot, header.salt);
            file.seekp(static_cast<std::streamoff>(place(i)));
            file.write(reinterpret_cast<const char*>(&slot), sizeof slot);
        }
    }

    /// What a read of data that are nowhere says.
    static void expect_missing(reader& from, int64_t offset, size_t bytes) {
        tests::bytes buffer(bytes);
        const auto read = from.read(offset, buffer);
        ASSERT_FALSE(read.ok());
        EXPECT_EQ(read.why().kind, error_kind::config) << read.why().message;
        EXPECT_NE(read.why().message.find("but its index reaches to"), std::string::npos) << read.why().message;
    }

    tests::open_container in_;
    int64_t pid_ = 0;
};

TEST_F(hostile_index, a_pattern_of_as_many_elements_as_there_are_numbers_takes_no_memory) {
    constexpr int64_t count = int64_t{1} << 61;
    add_dropping({{record_kind::run, {0, 1, 2, count, 0, 1, 1000, 10, 0}, 0}});
    reader_options how = tests::beside_writers();
    how.most_memory_bytes = uint64_t{64} << 20;
    const auto from = in_.new_reader(how);
    ASSERT_TRUE(from->reload().ok());
    EXPECT_EQ(from->size(), 2 * count - 1);
    expect_missing(*from, 0, 1 << 20);
    expect_missing(*from, int64_t{1} << 60, 1 << 20);
    EXPECT_EQ(from->next_data(int64_t{1} << 50).value(), int64_t{1} << 50);
    EXPECT_EQ(from->next_hole(int64_t{1} << 50).value(), (int64_t{1} << 50) + 1);
    tests::bytes buffer(100);
    EXPECT_EQ(from->read(2 * count, buffer).value(), 0);
}

TEST_F(hostile_index, dense_patterns_over_each_other_take_bounded_memory) {
    std::vector<record> records;
    for (int64_t i = 0; i < 2000; ++i)
        records.push_back({record_kind::run, {i % 7, 1, 2, int64_t{1} << 40, i << 41, 1 + i, 1 + i, 0, 0}, 0});
    add_dropping(records);
    reader_options how = tests::beside_writers();
    how.most_memory_bytes = uint64_t{64} << 20;
    const auto from = in_.new_reader(how);
    ASSERT_TRUE(from->reload().ok());
    expect_missing(*from, 1 << 30, 1 << 20);
    EXPECT_TRUE(from->segments(1 << 30, from->size()).ok());
    // With no bound but the reader's own.
    const auto unbound = in_.new_reader();
    ASSERT_TRUE(unbound->reload().ok());
    expect_missing(*unbound, 1 << 30, 1 << 20);
    EXPECT_LE(unbound->memory().peak(), uint64_t{64} << 20);
}

TEST_F(hostile_index, changes_in_the_opposite_order_cost_no_more_than_others) {
    constexpr int64_t count = 200000;
    std::vector<record> records;
    for (int64_t i = 0; i < count; ++i) {
        records.push_back(change(record_kind::cut, 10 * (count - i), 3 * (count - i)));
        records.push_back(change(record_kind::reach, 20 * i, 3 * (count - i) + 1));
        records.push_back(change(record_kind::epoch, 0, 3 * (count - i) + 2));
    }
    add_dropping(records, 7);
    reader_options how = tests::beside_writers();
    how.finds_conflicts = true;
    const auto from = in_.new_reader(how);
    ASSERT_TRUE(from->reload().ok());
    EXPECT_EQ(from->size(), 10 * count);
    EXPECT_EQ(from->next_data(0).value(), -1);
}

TEST_F(hostile_index, a_state_that_tells_of_blocks_that_are_not_there_is_found_at_once) {
    writer& to = in_.add_writer(1);
    to.write(0, tests::as_bytes("hello")).value();
    to.sync().value();
    const std::string path = in_.index_path(to);
    in_.close_writers();
    change_slots<state_slot>(path, state_slot_at, [](state_slot& slot) { slot.end.block = 4'000'000'000U; });
    change_slots<commit_slot>(path, commit_slot_at, [](commit_slot& slot) { slot.end.block = 3'999'999'999U; });
    reader_options how = tests::beside_writers();
    how.most_memory_bytes = uint64_t{16} << 20;
    EXPECT_EQ(in_.new_reader(how)->reload().why().kind, error_kind::config);
    how.salvages = true;
    const auto from = in_.new_reader(how);
    ASSERT_TRUE(from->reload().ok());
    // The first block, which goes on for the state, and the end of the file.
    EXPECT_EQ(from->damages().size(), 2U);
    EXPECT_EQ(tests::as_text(tests::all_of(*from)), "hello");
    EXPECT_FALSE(check(in_.of())->is_sound());
    ASSERT_TRUE(repair(in_.of()).ok());
    EXPECT_EQ(tests::read_text(in_), "hello");
}

TEST_F(hostile_index, a_run_of_the_state_that_makes_no_sense_is_damage_each_time) {
    writer& to = in_.add_writer(1);
    to.write(0, tests::as_bytes("hello")).value();
    const std::string path = in_.index_path(to);
    to.abandon();
    change_slots<state_slot>(path, state_slot_at, [](state_slot& slot) { slot.pattern.length = -5; });
    const auto from = in_.new_reader();
    for (int i = 0; i < 2; ++i) {
        const auto read = from->reload();
        ASSERT_FALSE(read.ok());
        EXPECT_NE(read.why().message.find("its state does not fit"), std::string::npos) << read.why().message;
    }
    change_slots<state_slot>(path, state_slot_at, [](state_slot& slot) { slot.runs = 60000; });
    EXPECT_FALSE(in_.new_reader()->reload().ok());
    EXPECT_TRUE(check(in_.of()).ok());
}

TEST_F(hostile_index, many_damaged_blocks_are_one_finding) {
    writer& to = in_.add_writer(1);
    std::mt19937_64 random(1);
    for (int i = 0; i < 20000; ++i)
        to.write(static_cast<int64_t>(random() % (uint64_t{1} << 30)), tests::as_bytes("0123456789")).value();
    to.sync().value();
    const std::string path = in_.index_path(to);
    ASSERT_GT(to.index().state().end.block, 30U);
    in_.close_writers();
    {
        std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
        file.seekp(block_at(5));
        file << std::string(15 * block_bytes, '\0');
    }
    const auto checked = check(in_.of()).value();
    ASSERT_EQ(checked.count(check_finding::weight::damage), 1U);
    const auto found = std::find_if(checked.findings.begin(), checked.findings.end(), [](const check_finding& each) {
        return each.how == check_finding::weight::damage;
    });
    EXPECT_NE(found->what.find("and 14 behind it"), std::string::npos) << describe(*found);
    EXPECT_NE(found->concerns.find("of its data dropping belong"), std::string::npos) << describe(*found);
}

}  // namespace
}  // namespace halcyon::logfs
