#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "flipped_bit.hpp"
#include "logfs/container/format/format.hpp"
#include "logfs/container/tools/check.hpp"
#include "logfs/container/tools/repair.hpp"
#include "open_container.hpp"

namespace halcyon::logfs {
namespace {

namespace fs = std::filesystem;
using tests::flipped_bit;
using tests::open_container;

std::string file_text(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

void put_text(const fs::path& path, const std::string& text) {
    std::ofstream(path, std::ios::binary) << text;
}

/// Two writers that have written to places of their own, none of it twice, and have closed.
class damage : public ::testing::Test {
  protected:
    static constexpr int64_t writes = 1500;

    void SetUp() override {
        std::mt19937_64 random(1);
        writer_options how;
        how.has_data_checks = true;
        std::vector<writer*> to{&in_.add_writer(1, how), &in_.add_writer(2, how)};
        std::vector<int64_t> places(writes);
        for (int64_t i = 0; i < writes; ++i) places[static_cast<size_t>(i)] = i;
        std::shuffle(places.begin(), places.end(), random);
        for (const int64_t place : places) {
            const auto data = tests::random_bytes(random, 100 + random() % 100);
            to[random() % 2]->write(place * 200, data).value();
            file_.write(place * 200, data);
        }
        to[0]->sync().value();
        index_ = in_.index_path(*to[0]);
        unsynced_index_ = in_.index_path(*to[1]);
        data_ = in_.data_path(*to[0]);
        in_.close_writers();
    }

    open_container in_;
    tests::plain_file file_;
    std::string index_;
    std::string data_;
    std::string unsynced_index_;
};

TEST_F(damage, to_any_byte_of_an_index_is_found_or_harmless) {
    std::mt19937_64 random(2);
    const std::string text = file_text(index_);
    ASSERT_GT(text.size(), 3 * block_bytes);
    size_t found = 0;
    for (size_t byte = 0; byte < text.size(); byte += 1 + random() % 3) {
        const flipped_bit flip(index_, byte, static_cast<unsigned>(random() % 8));
        const auto from = in_.new_reader();
        const auto read = from->reload();
        if (!read) {
            ++found;
            ASSERT_EQ(read.why().kind, error_kind::config) << byte;
            ASSERT_NE(read.why().message.find(index_), std::string::npos) << read.why().message;
        } else {
            ASSERT_EQ(tests::difference(tests::all_of(*from), file_.contents()), "none") << byte;
        }
        // A check sees the same; where all is well, it says so.
        if (byte % 16 != 0) continue;
        const auto checked = check(in_.of());
        ASSERT_TRUE(checked.ok());
        ASSERT_EQ(checked->is_sound(), read.ok()) << byte;
    }
    // Every second byte was tried: all of the blocks but their rests, and little of the head.
    EXPECT_GT(found, (text.size() - block_bytes) / 2 * 9 / 10);
    EXPECT_EQ(tests::difference(in_.contents(), file_.contents()), "none");
}

TEST_F(damage, to_an_index_is_repaired_as_far_as_it_can_be) {
    std::mt19937_64 random(3);
    const std::string text = file_text(index_);
    for (int i = 0; i < 120; ++i) {
        const size_t byte = random() % text.size();
        const bool is_in_head = byte < block_bytes;
        {
            std::string damaged = text;
            damaged[byte] = static_cast<char>(damaged[byte] ^ (1 << random() % 8));
            put_text(index_, damaged);
        }
        const bool was_found = !in_.new_reader()->reload().ok();
        const auto done = repair(in_.of());
        ASSERT_TRUE(done.ok()) << done.why().message;
        ASSERT_EQ(done->rewritten, was_found ? 1U : 0U);
        const auto from = in_.new_reader();
        ASSERT_TRUE(from->reload().ok()) << byte;
        ASSERT_TRUE(check(in_.of())->is_sound());
        const auto contents = tests::all_of(*from);
        size_t lost = 0;
        for (size_t at = 0; at < file_.contents().size(); ++at) {
            const std::byte here = at < contents.size() ? contents[at] : std::byte{0};
            if (here == file_.contents()[at]) continue;
            ASSERT_EQ(here, std::byte{0}) << at;
            ++lost;
        }
        // In the head nothing is lost, elsewhere at most the records of a block: each takes at least 12 bytes.
        if (is_in_head) {
            ASSERT_EQ(lost, 0U) << byte;
        }
        ASSERT_LE(lost, record_room / 12 * 200 * 2);
        EXPECT_EQ(done->lost_records_in > 0, lost > 0) << byte;
        if (was_found) {
            EXPECT_TRUE(
                fs::exists(fs::path(index_).parent_path() / ("damaged." + fs::path(index_).filename().string())));
        }
    }
    put_text(index_, text);
}

TEST_F(damage, to_both_headers_leaves_what_the_name_says) {
    std::string text = file_text(index_);
    text[20] = static_cast<char>(text[20] ^ 1);
    text[header_copy_at + 20] = static_cast<char>(text[header_copy_at + 20] ^ 1);
    put_text(index_, text);
    EXPECT_FALSE(in_.new_reader()->reload().ok());
    const auto done = repair(in_.of());
    ASSERT_TRUE(done.ok()) << done.why().message;
    EXPECT_EQ(tests::difference(in_.contents(), file_.contents()), "none");
}

TEST_F(damage, to_a_header_that_is_gone_is_found) {
    std::string text = file_text(index_);
    text.replace(0, sector_bytes, sector_bytes, '\0');
    put_text(index_, text);
    const auto read = in_.new_reader()->reload();
    ASSERT_FALSE(read.ok());
    EXPECT_NE(read.why().message.find(index_), std::string::npos) << read.why().message;
    EXPECT_FALSE(check(in_.of())->is_sound());
    ASSERT_TRUE(repair(in_.of()).ok());
    EXPECT_EQ(tests::difference(in_.contents(), file_.contents()), "none");
}

/// Of what was never synced a crash may leave that, too: then the copy of the header is as good.
TEST_F(damage, to_a_header_that_is_gone_of_a_writer_that_never_synced_is_what_a_crash_leaves) {
    std::string text = file_text(unsynced_index_);
    text.replace(0, sector_bytes, sector_bytes, '\0');
    put_text(unsynced_index_, text);
    EXPECT_FALSE(in_.new_reader()->reload().ok());
    reader_options after_crash = tests::beside_writers();
    after_crash.boot_id = "another boot";
    EXPECT_EQ(tests::difference(in_.contents(after_crash), file_.contents()), "none");
}

TEST_F(damage, to_an_index_says_nothing_of_data) {
    const flipped_bit flip(index_, 2 * block_bytes + 1000, 3);
    const auto checked = check(in_.of()).value();
    ASSERT_EQ(checked.count(check_finding::weight::damage), 1U);
    const auto found = std::find_if(checked.findings.begin(), checked.findings.end(), [](const check_finding& each) {
        return each.how == check_finding::weight::damage;
    });
    EXPECT_TRUE(index_.ends_with(found->where)) << describe(*found);
}

/// Data, and an index of which nothing got to the disk.
TEST_F(damage, that_leaves_nothing_of_an_index_is_told_and_its_data_are_put_aside) {
    fs::resize_file(unsynced_index_, 0);
    const auto checked = check(in_.of()).value();
    EXPECT_EQ(checked.count(check_finding::weight::loss), 1U);
    EXPECT_TRUE(checked.is_sound());
    const auto done = repair(in_.of());
    ASSERT_TRUE(done.ok()) << done.why().message;
    ASSERT_EQ(done->done.size(), 1U);
    EXPECT_NE(done->done[0].find("put aside as"), std::string::npos) << done->done[0];
    EXPECT_EQ(check(in_.of())->count(check_finding::weight::loss), 0U);
    EXPECT_TRUE(repair(in_.of())->done.empty());
}

TEST_F(damage, of_a_lost_state_all_records_are_found_again) {
    std::string text = file_text(index_);
    for (size_t at = sector_bytes; at < 5 * sector_bytes; ++at) text[at] = static_cast<char>(text[at] ^ 0x55);
    put_text(index_, text);
    EXPECT_FALSE(in_.new_reader()->reload().ok());
    ASSERT_TRUE(repair(in_.of()).ok());
    EXPECT_EQ(tests::difference(in_.contents(), file_.contents()), "none");
}

TEST_F(damage, to_data_is_found_where_their_writer_summed_them) {
    std::mt19937_64 random(4);
    const auto size = fs::file_size(data_);
    reader_options verifying = tests::beside_writers();
    verifying.verifies_data = true;
    EXPECT_EQ(tests::difference(in_.contents(verifying), file_.contents()), "none");
    for (int i = 0; i < 300; ++i) {
        const flipped_bit flip(data_, random() % size, static_cast<unsigned>(random() % 8));
        const auto from = in_.new_reader(verifying);
        ASSERT_TRUE(from->reload().ok());
        tests::bytes buffer(file_.contents().size());
        const auto read = from->read(0, buffer);
        ASSERT_FALSE(read.ok());
        ASSERT_EQ(read.why().kind, error_kind::config);
        ASSERT_NE(read.why().message.find(data_), std::string::npos) << read.why().message;
        ASSERT_NE(read.why().message.find("do not fit their check sum"), std::string::npos);
        // Who does not ask for it reads what is there, as of any file.
        ASSERT_NE(tests::difference(in_.contents(), file_.contents()), "none");
        if (i % 10 != 0) continue;
        const auto checked = check(in_.of());
        ASSERT_TRUE(checked.ok());
        EXPECT_FALSE(checked->is_sound());
        const auto& found = checked->findings;
        EXPECT_TRUE(std::any_of(found.begin(), found.end(), [&](const check_finding& each) {
            return each.how == check_finding::weight::damage && data_.ends_with(each.where) &&
                   each.concerns.find("of the file") != std::string::npos;
        }));
    }
}

TEST_F(damage, to_data_that_nobody_reads_concerns_nothing) {
    // All that the first writer wrote is overwritten by a third one.
    writer& to = in_.add_writer(3);
    to.write(0, file_.contents()).value();
    in_.close_writers();
    const flipped_bit flip(data_, 100, 1);
    const auto checked = check(in_.of()).value();
    EXPECT_FALSE(checked.is_sound());
    const auto found = std::find_if(checked.findings.begin(), checked.findings.end(), [](const check_finding& each) {
        return each.how == check_finding::weight::damage;
    });
    ASSERT_NE(found, checked.findings.end());
    EXPECT_NE(found->concerns.find("nothing of the file reads them"), std::string::npos) << describe(*found);
}

TEST_F(damage, a_newer_format_is_refused_and_named) {
    std::string text = file_text(index_);
    index_header header{};
    std::copy_n(text.data(), sizeof header, reinterpret_cast<char*>(&header));
    header.version = 7;
    header.check = check_of(header, 0);
    text.replace(0, sizeof header, reinterpret_cast<const char*>(&header), sizeof header);
    put_text(index_, text);
    const auto read = in_.new_reader()->reload();
    ASSERT_FALSE(read.ok());
    EXPECT_NE(read.why().message.find("another format version: 7; this release reads version 1"), std::string::npos)
        << read.why().message;
}

/// Whatever is in a file that has the name of an index dropping.
TEST_F(damage, of_any_kind_ends_in_an_answer) {
    std::mt19937_64 random(5);
    const std::string text = file_text(index_);
    for (int i = 0; i < 400; ++i) {
        std::string damaged = text;
        switch (random() % 4) {
            case 0:
                damaged.resize(random() % damaged.size());
                break;
            case 1:
                for (int change = 0; change < 50; ++change)
                    damaged[random() % damaged.size()] = static_cast<char>(random());
                break;
            case 2: {
                const size_t from = random() % damaged.size();
                const size_t count = std::min<size_t>(random() % 5000, damaged.size() - from);
                std::fill_n(damaged.begin() + static_cast<std::ptrdiff_t>(from), count, '\0');
                break;
            }
            default:
                damaged.erase(random() % damaged.size(), random() % 5000);
        }
        put_text(index_, damaged);
        const auto from = in_.new_reader();
        if (from->reload().ok() && damaged != text) {
            const auto contents = tests::all_of(*from);
            // Only a head that was never written looks like a writer that has not begun.
            const auto is_zero = [&](size_t from, size_t to) {
                const auto at = [&](size_t place) {
                    return damaged.begin() + static_cast<std::ptrdiff_t>(std::min(place, damaged.size()));
                };
                return std::all_of(at(from), at(to), [](char c) { return c == '\0'; });
            };
            const bool is_unbegun = is_zero(0, sizeof(index_header)) && is_zero(3 * sector_bytes, 5 * sector_bytes);
            ASSERT_TRUE(is_unbegun || contents == file_.contents()) << i;
        }
        ASSERT_TRUE(check(in_.of()).ok());
    }
    put_text(index_, text);
}

}  // namespace
}  // namespace halcyon::logfs
