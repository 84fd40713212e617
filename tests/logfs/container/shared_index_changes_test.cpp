#include <gtest/gtest.h>
#include <stdlib.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "logfs/container/format/format.hpp"
#include "logfs/container/tools/flatten.hpp"
#include "logfs/container/tools/punch.hpp"
#include "logfs/container/tools/remove.hpp"
#include "logfs/container/tools/repair.hpp"
#include "shared_container.hpp"

/// What becomes of a container behind an image's back.
namespace halcyon::logfs {
namespace {

namespace fs = std::filesystem;
using tests::shared_container;

class changed_container : public ::testing::Test {
  protected:
    void SetUp() override {
        all_.write(1, 4000);
        all_.write(2, 4000);
        writer& first = all_.in.add_writer(3);
        index_ = all_.in.index_path(first);
        data_ = all_.in.data_path(first);
        for (int i = 0; i < 4000; ++i) all_.put(first);
        all_.in.close_writers();
        all_.leave();
        ASSERT_TRUE(all_.reads_right());
    }
    /// A new reader shows what one shows that shares nothing, and does not begin with the image.
    void expect_as_alone() {
        const auto alone = all_.in.new_reader();
        const auto taken = alone->reload();
        const auto from = all_.in.new_reader(all_.how);
        const auto shared = from->reload();
        ASSERT_EQ(shared.ok(), taken.ok());
        EXPECT_FALSE(from->shared().is_used());
        if (!taken) {
            EXPECT_EQ(shared.why().message, taken.why().message);
            return;
        }
        EXPECT_EQ(tests::difference(tests::all_of(*from), tests::all_of(*alone)), "none");
    }
    void change(const std::string& path, int64_t at) {
        std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
        file.seekg(at);
        const auto before = static_cast<char>(file.get());
        file.seekp(at);
        file.put(static_cast<char>(before ^ 0x10));
        ASSERT_TRUE(file.good());
    }

    shared_container all_;
    std::string index_;
    std::string data_;
};

TEST_F(changed_container, that_was_repaired_is_taken_anew) {
    change(index_, block_at(2) + 1000);
    // What the image holds was sound when it was taken.
    EXPECT_TRUE(all_.reads_right());
    const auto repaired = repair(all_.in.of());
    ASSERT_TRUE(repaired.ok());
    ASSERT_EQ(repaired->rewritten, 1U);
    expect_as_alone();
    // Another image has taken its place, of what is there now.
    const auto alone = all_.in.new_reader();
    alone->reload().value();
    const auto from = all_.open();
    EXPECT_TRUE(from->shared().is_used());
    EXPECT_EQ(tests::difference(tests::all_of(*from), tests::all_of(*alone)), "none");
    EXPECT_NE(tests::difference(tests::all_of(*from), all_.file.contents()), "none");
}

TEST_F(changed_container, whose_last_records_are_damaged_says_so) {
    const std::string index = tests::contents_of(index_);
    state_slot last{};
    for (uint64_t i = 0; i < 2; ++i) {
        state_slot each{};
        std::memcpy(&each, index.data() + state_slot_at(i), sizeof each);
        if (each.sequence > last.sequence) last = each;
    }
    ASSERT_GT(last.end.used, 20U);
    change(index_, block_at(last.end.block) + static_cast<int64_t>(sizeof(block_header)) + 10);
    expect_as_alone();
}

TEST_F(changed_container, whose_head_is_damaged_says_so) {
    for (uint64_t slot = 0; slot < 2; ++slot) change(index_, static_cast<int64_t>(state_slot_at(slot)) + 20);
    expect_as_alone();
}

TEST_F(changed_container, whose_index_was_cut_off_says_so) {
    fs::resize_file(index_, 5000);
    expect_as_alone();
}

TEST_F(changed_container, that_lost_a_writer_is_taken_anew) {
    fs::remove(index_);
    fs::remove(data_);
    expect_as_alone();
}

TEST_F(changed_container, with_the_same_index_in_another_file_is_taken_anew) {
    fs::copy_file(index_, index_ + "-copy");
    fs::rename(index_ + "-copy", index_);
    expect_as_alone();
    EXPECT_TRUE(all_.reads_right());
}

TEST_F(changed_container, whose_index_became_that_of_an_earlier_time_is_taken_anew) {
    // As a backup of a file system would have it, in the same file.
    writer& to = all_.in.add_writer(4);
    for (int i = 0; i < 2000; ++i) all_.put(to);
    const std::string path = all_.in.index_path(to);
    const std::string earlier = tests::contents_of(path);
    for (int i = 0; i < 2000; ++i) all_.put(to);
    all_.in.close_writers();
    EXPECT_TRUE(all_.reads_right());
    EXPECT_TRUE(all_.reads_right());
    std::ofstream file(path, std::ios::binary | std::ios::in | std::ios::out);
    file.write(earlier.data(), static_cast<std::streamsize>(earlier.size()));
    file.close();
    fs::resize_file(path, earlier.size());
    expect_as_alone();
}

TEST_F(changed_container, that_is_a_copy_has_no_image) {
    const std::string copy = all_.in.path + "-copy";
    fs::copy(all_.in.path, copy, fs::copy_options::recursive);
    container copied;
    copied.open(copy).value();
    reader from(copied, all_.how);
    from.reload().value();
    EXPECT_FALSE(from.shared().is_used());
    EXPECT_EQ(tests::difference(tests::all_of(from), all_.file.contents()), "none");
}

TEST_F(changed_container, that_writers_cut_and_rewrote_is_read_as_it_is) {
    writer& to = all_.in.add_writer(5);
    to.truncate(1000).value();
    all_.file.truncate(1000);
    EXPECT_TRUE(all_.reads_right());
    for (int i = 0; i < 100; ++i) all_.put(to);
    to.erase(10, 200).value();
    all_.file.erase(10, 200);
    EXPECT_TRUE(all_.reads_right());
    all_.in.close_writers();
    EXPECT_TRUE(all_.reads_right());
}

TEST_F(changed_container, whose_dead_extents_were_given_back_is_read_as_it_is) {
    writer& to = all_.in.add_writer(6);
    const auto data = tests::random_bytes(all_.random, 100'000);
    to.write(50'000, data).value();
    all_.file.write(50'000, data);
    to.sync().value();
    // One that began with the image keeps what it shows.
    const auto before = all_.open();
    tests::bytes some(100);
    before->read(0, some).value();
    const auto punched = punch_dead(all_.in.of());
    ASSERT_TRUE(punched.ok()) << punched.why().message;
    EXPECT_TRUE(all_.reads_right());
    EXPECT_EQ(tests::difference(tests::all_of(*before), all_.file.contents()), "none");
}

/// Tools find the folder by the environment.
class removed_container : public changed_container {
  protected:
    void SetUp() override {
        changed_container::SetUp();
        ASSERT_EQ(setenv("HALCYON_LOG_INDEXES", all_.node.path().c_str(), 1), 0);
        image_ = all_.image();
        ASSERT_TRUE(fs::exists(image_));
    }
    void TearDown() override { unsetenv("HALCYON_LOG_INDEXES"); }

    std::string image_;
};

TEST_F(removed_container, takes_its_image_with_it) {
    ASSERT_TRUE(remove_container(all_.in.path).ok());
    EXPECT_FALSE(fs::exists(image_));
    // Another one of its name has nothing of it.
    container next;
    next.create(all_.in.path, 0644, 4).value();
    writer to(next);
    to.open(tests::identity(1)).value();
    to.write(0, tests::as_bytes("new")).value();
    reader from(next, all_.how);
    from.reload().value();
    EXPECT_FALSE(from.shared().is_used());
    EXPECT_EQ(tests::as_text(tests::all_of(from)), "new");
}

TEST_F(removed_container, that_a_plain_file_replaced_takes_its_image_with_it) {
    const auto flat = flatten(all_.in.of(), all_.in.path);
    ASSERT_TRUE(flat.ok()) << flat.why().message;
    EXPECT_FALSE(fs::exists(image_));
    const std::string text = tests::contents_of(all_.in.path);
    EXPECT_TRUE(text == tests::as_text(all_.file.contents()));
}

TEST_F(removed_container, that_was_copied_to_a_plain_file_keeps_its_image) {
    ASSERT_TRUE(flatten(all_.in.of(), all_.in.path + "-flat").ok());
    EXPECT_TRUE(fs::exists(image_));
}

}  // namespace
}  // namespace halcyon::logfs
