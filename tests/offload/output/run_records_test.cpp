#include "offload/output/run_records.hpp"

#include <gtest/gtest.h>
#include <sys/mount.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include "temporary_folder.hpp"

namespace halcyon::offload {
namespace {

/// A run's directory on a file system of its own, which can be filled; needs root.
class on_a_small_disk : public ::testing::Test {
  protected:
    void SetUp() override {
        if (mount("tmpfs", folder_.path().c_str(), "tmpfs", 0, "size=512k") != 0)
            GTEST_SKIP() << "cannot mount a small file system: " << std::strerror(errno);
        mounted_ = true;
    }
    void TearDown() override {
        if (mounted_) umount2(folder_.path().c_str(), MNT_DETACH);
    }
    run_records records() const { return run_records::open(folder_.path().string(), "n0000", "").value(); }
    void fill_disk() const {
        std::ofstream ballast(folder_.file("ballast"), std::ios::binary | std::ios::app);
        const std::string piece(512, 'x');
        while (ballast.write(piece.data(), static_cast<std::streamsize>(piece.size())) && ballast.flush()) {
        }
    }
    /// As many as a run of any length has.
    static run_counts counts_of(int64_t files) {
        run_counts c;
        c.failed_files = files;
        c.bytes = files * 1'000'000'007;
        for (int64_t i = 0; i < std::min<int64_t>(files, 100); ++i)
            c.messages.push_back("the output file number " + std::to_string(i) + " could not be written");
        return c;
    }

    halcyon::tests::temporary_folder folder_;

  private:
    bool mounted_ = false;
};

TEST_F(on_a_small_disk, counts_are_true_to_the_end_though_it_is_full) {
    run_records kept = records();
    ASSERT_TRUE(kept.save(counts_of(0)).ok());
    fill_disk();
    for (int64_t files = 1; files <= 150; ++files) {
        const auto done = kept.save(counts_of(files));
        ASSERT_TRUE(done.ok()) << done.why().message;
        ASSERT_EQ(kept.saved_counts().failed_files, files);
        ASSERT_EQ(kept.saved_counts().bytes, files * 1'000'000'007);
    }
    run_counts last = counts_of(7);
    last.finished = true;
    // Once more when the view is done.
    for (int round = 0; round < 2; ++round) ASSERT_TRUE(kept.save(last).ok());
    EXPECT_EQ(kept.saved_counts().failed_files, 7);
    EXPECT_EQ(kept.saved_counts().messages.size(), 7U) << "the rest of a longer text is covered";
}

TEST_F(on_a_small_disk, the_first_counts_are_saved_though_it_is_full_since_the_open) {
    run_records kept = records();
    fill_disk();
    for (int64_t files = 1; files <= 3; ++files) {
        const auto done = kept.save(counts_of(files));
        ASSERT_TRUE(done.ok()) << done.why().message;
        EXPECT_EQ(kept.saved_counts().failed_files, files);
    }
}

TEST_F(on_a_small_disk, messages_beyond_the_reserved_room_are_counted) {
    run_records kept = records();
    fill_disk();
    run_counts counts = counts_of(1);
    for (int i = 0; i < 99; ++i) counts.messages.emplace_back(1000, 'm');
    ASSERT_TRUE(kept.save(counts).ok());
    const auto there = kept.saved_counts();
    EXPECT_EQ(there.failed_files, 1);
    EXPECT_GT(there.messages.size(), 0U);
    EXPECT_LT(there.messages.size(), 100U);
    std::ifstream file(folder_.file("counts-n0000.json"));
    const std::string text(std::istreambuf_iterator<char>(file), {});
    EXPECT_NE(text.find("\"left_out\": " + std::to_string(100 - there.messages.size())), std::string::npos);
    EXPECT_LE(text.size(), reserved_file::room_bytes);
}

TEST_F(on_a_small_disk, finished_counts_leave_no_second_file) {
    run_records kept = records();
    run_counts counts = counts_of(1);
    counts.finished = true;
    ASSERT_TRUE(kept.save(counts).ok());
    EXPECT_FALSE(std::filesystem::exists(folder_.file(".counts-n0000.json.room")));
    std::ifstream file(folder_.file("counts-n0000.json"));
    const std::string text(std::istreambuf_iterator<char>(file), {});
    EXPECT_NE(text.find("\"finished\": true"), std::string::npos);
}

}  // namespace
}  // namespace halcyon::offload
