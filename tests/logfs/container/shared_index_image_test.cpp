#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <memory>
#include <random>
#include <span>
#include <string>

#include "logfs/container/reading/index_image.hpp"
#include "shared_container.hpp"

/// Images that are not as they were saved.
namespace halcyon::logfs {
namespace {

using tests::shared_container;

class shared_image : public ::testing::Test {
  protected:
    void SetUp() override {
        all_.write(1, 6000);
        all_.write(2, 6000);
        // Not among the first: they are kept beside the levels.
        writer& last = all_.in.add_writer(3);
        last.truncate(150'000).value();
        all_.file.truncate(150'000);
        last.reach(160'000).value();
        all_.file.reach(160'000);
        last.erase(1000, 5000).value();
        all_.file.erase(1000, 5000);
        all_.leave();
        saved_ = tests::contents_of(all_.image());
        std::memcpy(&header_, saved_.data(), sizeof header_);
    }
    /// With check sums that fit, but for those of the pages.
    void put_checks(std::string& image) const {
        image_header header{};
        std::memcpy(&header, image.data(), sizeof header);
        const auto tables = std::as_bytes(std::span(image)).subspan(tables_at());
        header.tables_check = crc32c(tables);
        header.check = check_of(header, 0);
        std::memcpy(image.data(), &header, sizeof header);
    }
    /// What a new reader reads, with this image there.
    bool reads_right_with(const std::string& image) {
        tests::replace_contents(all_.image(), image);
        return all_.reads_right();
    }
    /// The same, whatever it reads: it ends, and does nothing that a process may not.
    void read_with(const std::string& image) {
        tests::replace_contents(all_.image(), image);
        const auto from = all_.in.new_reader(all_.how);
        if (!from->reload()) return;
        tests::bytes data(300'000);
        static_cast<void>(from->read(0, data));
        static_cast<void>(from->next_hole(0));
        static_cast<void>(from->next_data(170'000));
    }
    [[nodiscard]] size_t tables_at() const { return static_cast<size_t>(header_.tables_at); }

    shared_container all_;
    std::string saved_;
    image_header header_{};
};

TEST_F(shared_image, is_used_as_it_was_saved) {
    EXPECT_EQ(static_cast<size_t>(header_.file_bytes), saved_.size());
    EXPECT_TRUE(reads_right_with(saved_));
}

TEST_F(shared_image, with_any_bit_changed_reads_as_without) {
    std::mt19937_64 random(7);
    const auto expect_right = [&](size_t at) {
        std::string changed = saved_;
        changed[at] = static_cast<char>(changed[at] ^ (1 << (random() % 8)));
        reads_right_with(changed);
        ASSERT_FALSE(HasFailure()) << "byte " << at;
    };
    for (size_t at = 0; at < sizeof(image_header); ++at) ASSERT_NO_FATAL_FAILURE(expect_right(at));
    const size_t pages = tables_at() - image_page;
    for (int i = 0; i < 60; ++i) ASSERT_NO_FATAL_FAILURE(expect_right(image_page + random() % pages));
    const size_t tables = saved_.size() - tables_at();
    for (int i = 0; i < 60; ++i) ASSERT_NO_FATAL_FAILURE(expect_right(tables_at() + random() % tables));
}

TEST_F(shared_image, that_is_cut_off_or_goes_on_reads_as_without) {
    for (size_t bytes = 0; bytes < saved_.size(); bytes += bytes < 300 ? 37 : 7001)
        EXPECT_FALSE(reads_right_with(saved_.substr(0, bytes))) << bytes;
    EXPECT_FALSE(reads_right_with(saved_.substr(0, saved_.size() - 1)));
    EXPECT_FALSE(reads_right_with(saved_ + "x"));
    EXPECT_FALSE(reads_right_with(std::string(saved_.size(), '\0')));
}

TEST_F(shared_image, of_zeros_where_pages_were_reads_as_without) {
    std::string lost = saved_;
    std::fill(lost.begin() + image_page, lost.begin() + header_.tables_at, '\0');
    reads_right_with(lost);
    // It is not found again: another one has its place.
    EXPECT_TRUE(all_.reads_right());
    EXPECT_TRUE(all_.open()->shared().is_used());
}

TEST_F(shared_image, that_is_damaged_while_it_is_used_is_left_for_the_indexes) {
    const auto looking = all_.open();
    const auto reading = all_.open();
    const auto reloading = all_.open();
    for (const auto& each : {&looking, &reading, &reloading}) ASSERT_TRUE((*each)->shared().is_used());
    ASSERT_EQ(::chmod(all_.image().c_str(), 0600), 0);
    const int fd = ::open(all_.image().c_str(), O_WRONLY);
    ASSERT_GE(fd, 0);
    const std::string zeros(tables_at() - image_page, '\0');
    ASSERT_EQ(::pwrite(fd, zeros.data(), zeros.size(), image_page), static_cast<ssize_t>(zeros.size()));
    ::close(fd);
    const auto alone = all_.in.new_reader();
    alone->reload().value();
    const auto expected = alone->segments(20'000, 30'000).value();
    const auto segments = looking->segments(20'000, 30'000).value();
    EXPECT_TRUE(std::equal(segments.begin(), segments.end(), expected.begin(), expected.end()));
    EXPECT_FALSE(looking->shared().is_used());
    EXPECT_EQ(tests::difference(tests::all_of(*reading), all_.file.contents()), "none");
    EXPECT_FALSE(reading->shared().is_used());
    // As many again: they become one level with those of the image.
    all_.write(4, 12000);
    ASSERT_TRUE(reloading->reload().ok());
    EXPECT_FALSE(reloading->shared().is_used());
    EXPECT_EQ(tests::difference(tests::all_of(*reloading), all_.file.contents()), "none");
}

TEST_F(shared_image, of_another_version_boot_or_container_is_none) {
    const auto expect_unused = [&](auto change) {
        std::string other = saved_;
        image_header header = header_;
        change(header);
        std::memcpy(other.data(), &header, sizeof header);
        put_checks(other);
        EXPECT_FALSE(reads_right_with(other));
    };
    expect_unused([](image_header& header) { ++header.version; });
    expect_unused([](image_header& header) { header.byte_order = 0x04030201; });
    expect_unused([](image_header& header) { ++header.owner.device; });
    expect_unused([](image_header& header) { ++header.owner.inode; });
    expect_unused([](image_header& header) { ++header.owner.id; });
    expect_unused([](image_header& header) { header.owner.boot_id[0] = 'x'; });
    expect_unused([](image_header& header) { header.tables_at = -1; });
    expect_unused([](image_header& header) { header.tables_bytes = INT64_MAX; });
    expect_unused([](image_header& header) { header.tables_at = INT64_MAX; });
    std::string same = saved_;
    put_checks(same);
    EXPECT_EQ(same, saved_);
}

TEST_F(shared_image, of_another_container_under_this_name_is_none) {
    shared_container other;
    other.write(1, 3000);
    tests::replace_contents(other.image(), saved_);
    EXPECT_FALSE(other.reads_right());
    EXPECT_TRUE(other.reads_right());
}

/// Whatever the tables say: no number of theirs leads anywhere else.
TEST_F(shared_image, with_tables_that_somebody_made_up_harms_nobody) {
    std::mt19937_64 random(3);
    const size_t tables = saved_.size() - tables_at();
    constexpr uint64_t odd[] = {0, 1, 0x7f, 0x80, 0xff, 0xffff, INT32_MAX, UINT32_MAX, INT64_MAX, UINT64_MAX};
    for (int i = 0; i < 300; ++i) {
        std::string made = saved_;
        const size_t at = tables_at() + random() % (tables - 8);
        const size_t bytes = size_t{1} << (random() % 4);
        const uint64_t value = random() % 2 == 0 ? odd[random() % std::size(odd)] : random();
        std::memcpy(made.data() + at, &value, bytes);
        put_checks(made);
        read_with(made);
    }
}

/// Extents that make no sense, in buckets whose sums fit.
TEST_F(shared_image, with_extents_that_make_no_sense_reads_as_without) {
    const auto expect_right = [&](auto change) {
        // The first bucket: its sum is in the tables behind the number of its extents.
        std::string made = saved_;
        const auto pages = std::as_bytes(std::span(saved_)).subspan(image_page);
        for (size_t at = tables_at(); at + 8 <= saved_.size(); ++at) {
            uint32_t count = 0;
            uint32_t check = 0;
            std::memcpy(&count, saved_.data() + at, sizeof count);
            std::memcpy(&check, saved_.data() + at + 4, sizeof check);
            const size_t bytes = size_t{count} * sizeof(extent);
            if (count < 10 || bytes > pages.size() || crc32c(pages.first(bytes)) != check) continue;
            extent first;
            std::memcpy(&first, made.data() + image_page + sizeof(extent) * 4, sizeof first);
            change(first);
            std::memcpy(made.data() + image_page + sizeof(extent) * 4, &first, sizeof first);
            check = crc32c(std::as_bytes(std::span(made)).subspan(image_page, bytes));
            std::memcpy(made.data() + at + 4, &check, sizeof check);
            put_checks(made);
            reads_right_with(made);
            return;
        }
        ADD_FAILURE() << "no bucket found";
    };
    expect_right([](extent& each) { each.dropping = 3; });
    expect_right([](extent& each) { each.dropping = UINT32_MAX; });
    expect_right([](extent& each) { each.start = -5; });
    expect_right([](extent& each) { each.start = INT64_MAX - 1; });
    expect_right([](extent& each) { each.start = 0; });
    expect_right([](extent& each) { each.start += 100'000; });
    expect_right([](extent& each) { each.length = 0; });
    expect_right([](extent& each) { each.length = INT32_MAX; });
    expect_right([](extent& each) { each.physical = -1; });
    expect_right([](extent& each) { each.physical = INT64_MAX; });
    expect_right([](extent& each) { each.time_ns = -1; });
}

}  // namespace
}  // namespace halcyon::logfs
