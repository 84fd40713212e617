#include "late_files.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>

#include "logfs/container/tools/check.hpp"
#include "logfs/container/tools/repair.hpp"
#include "open_container.hpp"

/// Containers on a host that keeps what it has read, while writers on others go on.
namespace halcyon::logfs {
namespace {

namespace fs = std::filesystem;

class late_host : public ::testing::Test {
  protected:
    void write(writer& to, int64_t offset, size_t bytes) {
        const auto data = tests::random_bytes(random_, bytes);
        to.write(offset, data).value();
        expected_.write(offset, data);
    }
    /// Closed, and this host knows of a part of the data.
    void write_half_seen() {
        writer& to = in_.add_writer(1);
        write(to, 0, 100);
        calls_.keep(in_.data_path(to));
        write(to, 100, 5000);
        in_.close_writers();
    }
    /// So long ago that a directory whose time is the same need not be listed.
    void age_directories(int64_t round) {
        const auto then = fs::file_time_type::clock::now() - std::chrono::hours(1) + std::chrono::seconds(round);
        for (const auto& each : fs::directory_iterator(in_.path))
            if (each.is_directory()) fs::last_write_time(each.path(), then);
        fs::last_write_time(in_.path, then);
    }
    void open_here() { here_.open(in_.path).value(); }

    std::mt19937_64 random_{1};
    tests::late_files calls_;
    tests::open_container in_;
    tests::plain_file expected_;
    container here_{calls_};
};

TEST_F(late_host, sees_all_that_was_published_before_it_looked) {
    open_here();
    reader from(here_, tests::beside_writers());
    age_directories(0);
    from.reload().value();
    for (int64_t round = 1; round <= 40; ++round) {
        writer& to = in_.add_writer(round);
        for (int64_t i = 0; i < 30; ++i) write(to, static_cast<int64_t>(random_() % 40000), 1 + random_() % 300);
        to.sync().value();
        age_directories(round);
        from.reload().value();
        ASSERT_EQ(tests::difference(tests::all_of(from), expected_.contents()), "none") << round;
    }
    EXPECT_GT(calls_.refreshed, 40);
}

TEST_F(late_host, sees_what_one_writer_adds_and_how_it_ends) {
    open_here();
    writer& to = in_.add_writer(1);
    reader from(here_, tests::beside_writers());
    for (int64_t round = 0; round < 40; ++round) {
        // Blocks of its index fill up meanwhile.
        for (int64_t i = 0; i < 200; ++i) write(to, static_cast<int64_t>(random_() % 40000), 1 + random_() % 300);
        from.reload().value();
        ASSERT_EQ(tests::difference(tests::all_of(from), expected_.contents()), "none") << round;
    }
    to.truncate(100).value();
    expected_.truncate(100);
    to.close().value();
    from.reload().value();
    EXPECT_EQ(tests::difference(tests::all_of(from), expected_.contents()), "none");
    EXPECT_TRUE(from.writers()[0].is_closed);
}

TEST_F(late_host, finds_a_marker_that_it_holds_for_empty) {
    const std::string marker = in_.path + "/halcyon-container";
    fs::copy_file(marker, marker + ".whole");
    fs::resize_file(marker, 0);
    calls_.keep(marker);
    std::ofstream(marker) << std::ifstream(marker + ".whole").rdbuf();
    fs::remove(marker + ".whole");
    calls_.before = [](std::string_view call, int64_t) { return call == "pause" ? -EIO : 0; };
    const auto opened = here_.open(in_.path);
    EXPECT_TRUE(opened.ok()) << opened.why().message;
    EXPECT_TRUE(container::is_at(calls_, in_.path));
}

TEST_F(late_host, repairs_nothing_that_it_does_not_see) {
    open_here();
    write_half_seen();
    const auto repaired = repair(here_);
    ASSERT_TRUE(repaired.ok()) << repaired.why().message;
    EXPECT_TRUE(repaired->done.empty());
    EXPECT_EQ(tests::difference(in_.contents(), expected_.contents()), "none");
}

TEST_F(late_host, checks_what_is_there) {
    open_here();
    write_half_seen();
    const auto checked = check(here_);
    ASSERT_TRUE(checked.ok());
    EXPECT_TRUE(checked->findings.empty());
}

}  // namespace
}  // namespace halcyon::logfs
