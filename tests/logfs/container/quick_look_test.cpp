#include "logfs/container/reading/quick_look.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <random>
#include <string>

#include "logfs/container/log_file.hpp"
#include "plain_file.hpp"
#include "temporary_folder.hpp"
#include "watched_files.hpp"

namespace halcyon::logfs {
namespace {

namespace fs = std::filesystem;
using tests::as_bytes;

class quick_looks : public ::testing::Test {
  protected:
    static opening for_writing() {
        opening how;
        how.may_write = how.creates = true;
        return how;
    }
    /// What a quick look says; none: it cannot.
    std::optional<written_state> look(std::string_view boot_id = {}) {
        container of;
        of.open(path_).value();
        written_state found;
        return look_quickly(of, boot_id, found) ? std::optional(found) : std::nullopt;
    }
    void expect_as_a_reader_says(std::string_view boot_id = {}) {
        log_file file;
        file.open(path_, tests::identity(99), {}).value();
        const auto found = look(boot_id);
        ASSERT_TRUE(found.has_value());
        EXPECT_EQ(found->bytes, file.size().value());
        EXPECT_EQ(found->latest_ns, file.reading()->latest_ns());
    }
    [[nodiscard]] fs::path dropping(std::string_view prefix) const {
        for (const auto& each : fs::recursive_directory_iterator(path_))
            if (each.path().filename().string().starts_with(prefix)) return each.path();
        return {};
    }

    halcyon::tests::temporary_folder folder_;
    std::string path_ = folder_.file("file");
};

TEST_F(quick_looks, say_what_a_reader_says_of_writers_that_have_ended) {
    std::mt19937_64 random(1);
    log_file files[3];
    for (int number = 0; number < 3; ++number)
        files[number].open(path_, tests::identity(number + 1), for_writing()).value();
    // More records than one block holds, of some writers only.
    for (int i = 0; i < 2000; ++i) {
        log_file& to = files[i % 50 == 0 ? 1 : 0];
        to.write(static_cast<int64_t>(random() % 1'000'000), tests::random_bytes(random, 1 + random() % 100)).value();
    }
    files[2].write(2'000'000, as_bytes("end")).value();
    files[2].erase(1'999'000, 1003).value();
    files[0].reach(2'500'000).value();
    EXPECT_FALSE(look().has_value()) << "they have not ended";
    EXPECT_FALSE(look("boot1").has_value()) << "the node may have crashed since";
    expect_as_a_reader_says("boot0");
    for (log_file& each : files) each.close().value();
    expect_as_a_reader_says();
    EXPECT_EQ(look()->bytes, 2'500'000);
}

TEST_F(quick_looks, say_nothing_where_several_wrote_and_one_cut) {
    log_file one;
    one.open(path_, tests::identity(1), for_writing()).value();
    one.write(0, as_bytes("hello")).value();
    one.truncate(2).value();
    one.close().value();
    expect_as_a_reader_says();
    EXPECT_EQ(look()->bytes, 2);
    log_file other;
    other.open(path_, tests::identity(2), for_writing()).value();
    other.write(10, as_bytes("x")).value();
    other.close().value();
    EXPECT_FALSE(look().has_value());
}

TEST_F(quick_looks, say_nothing_of_what_is_damaged) {
    log_file one;
    one.open(path_, tests::identity(1), for_writing()).value();
    for (int64_t i = 0; i < 10; ++i) one.write(i * i * 1000, as_bytes("hello")).value();
    one.close().value();
    expect_as_a_reader_says();
    const fs::path index = dropping("index.");
    const auto with_change_at = [&](std::streamoff place) {
        fs::copy_file(index, folder_.file("kept"));
        std::fstream file(index, std::ios::in | std::ios::out | std::ios::binary);
        file.seekg(place);
        const int before = file.get();
        file.seekp(place);
        file.put(static_cast<char>(before ^ 1));
        file.close();
        const bool is_seen = !look().has_value();
        fs::remove(index);
        fs::rename(folder_.file("kept"), index);
        return is_seen;
    };
    EXPECT_TRUE(with_change_at(20)) << "header";
    EXPECT_TRUE(with_change_at(512 + 16)) << "one state";
    EXPECT_TRUE(with_change_at(1024 + 16)) << "the other state";
    EXPECT_TRUE(with_change_at(4096 + 20)) << "block header";
    EXPECT_TRUE(with_change_at(4096 + 80)) << "record";
    expect_as_a_reader_says();
    fs::remove(index);
    EXPECT_FALSE(look().has_value()) << "no index of the data";
}

TEST_F(quick_looks, cost_a_few_calls_for_each_writer) {
    std::mt19937_64 random(2);
    log_file one;
    one.open(path_, tests::identity(1), for_writing()).value();
    for (int i = 0; i < 5000; ++i) one.write(static_cast<int64_t>(random() % 1'000'000), as_bytes("hello")).value();
    one.close().value();
    tests::watched_files files;
    int64_t reads = 0;
    files.behind = [&](std::string_view call) { reads += call == "read" ? 1 : 0; };
    container of(files);
    of.open(path_).value();
    reads = 0;
    written_state found;
    ASSERT_TRUE(look_quickly(of, {}, found));
    EXPECT_LE(reads, 3);
}

}  // namespace
}  // namespace halcyon::logfs
