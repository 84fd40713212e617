#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "file_text.hpp"
#include "killed_at_change.hpp"
#include "logfs/container/log_file.hpp"
#include "logfs/container/tools/flatten.hpp"
#include "plain_file.hpp"
#include "temporary_folder.hpp"

/// A plain file that takes its container's place, while others have that open, and when who makes it is killed.
namespace halcyon::logfs {
namespace {

namespace fs = std::filesystem;
using names = std::vector<std::string>;
using tests::as_bytes;
using tests::file_text;

class flattening_in_place : public ::testing::Test {
  protected:
    void make(const std::string& text) {
        fs::remove_all(path_);
        log_file file;
        opening how;
        how.may_write = how.creates = true;
        file.open(path_, writer_identity::of_this_process(), how).value();
        file.write(0, as_bytes(text)).value();
        file.close().value();
    }
    /// What is in it.
    std::string make_with_holes(std::mt19937_64& random) {
        constexpr size_t piece = 20'000;
        constexpr size_t stride = 50'000;
        fs::remove_all(path_);
        std::string text(pieces * stride + piece, '\0');
        log_file file;
        opening how;
        how.may_write = how.creates = true;
        file.open(path_, writer_identity::of_this_process(), how).value();
        for (size_t at = stride; at < text.size(); at += stride) {
            const tests::bytes data = tests::random_bytes(random, piece);
            text.replace(at, piece, tests::as_text(data));
            file.write(static_cast<int64_t>(at), data).value();
        }
        file.close().value();
        return text;
    }
    result<flatten_report> flatten_it(const flatten_options& how = {}) {
        container from;
        from.open(path_).value();
        return flatten(from, path_, how);
    }
    [[nodiscard]] uint64_t id() const {
        container from;
        return from.open(path_) ? from.id() : 0;
    }

    static constexpr int pieces = 3;

    halcyon::tests::temporary_folder folder_;
    std::string path_ = folder_.file("file");
};

TEST_F(flattening_in_place, leaves_alone_what_somebody_has_open) {
    make("text");
    log_file reads;
    opening how;
    how.says_open = true;
    reads.open(path_, writer_identity::of_this_process(), how).value();
    const auto refused = flatten_it();
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.why().kind, error_kind::unavailable);
    EXPECT_NE(refused.why().message.find("a process has it open"), std::string::npos);
    EXPECT_EQ(folder_.names(), names{"file"});
    reads.close().value();
    EXPECT_TRUE(flatten_it().ok());
    EXPECT_EQ(file_text(path_), "text");
}

TEST_F(flattening_in_place, gives_way_to_who_opens_it_meanwhile) {
    make("text");
    log_file comes;
    opening how;
    how.says_open = how.may_write = true;
    flatten_options when;
    when.on_progress = [&](int64_t) {
        if (!comes.of().is_open()) comes.open(path_, writer_identity::of_this_process(), how).value();
        return true;
    };
    const auto refused = flatten_it(when);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.why().kind, error_kind::unavailable);
    EXPECT_EQ(folder_.names(), names{"file"});
    comes.write(4, as_bytes(" and more")).value();
    comes.close().value();
    EXPECT_TRUE(flatten_it().ok());
    EXPECT_EQ(file_text(path_), "text and more");
}

TEST_F(flattening_in_place, says_how_much_it_is_about_to_write) {
    make(std::string(5'000'000, 'x'));
    int64_t announced = 0;
    flatten_options how;
    how.before_write = [&](int64_t bytes) { announced += bytes; };
    EXPECT_EQ(flatten_it(how)->written_bytes, 5'000'000);
    EXPECT_EQ(announced, 5'000'000);
}

/// Readers find the container or the whole file, wherever the process dies; and the next one ends what that began. The
/// file has holes, so that it is written by several calls.
TEST_F(flattening_in_place, shows_all_of_it_wherever_it_is_killed) {
    std::mt19937_64 random(11);
    const auto flattens = [this] { return flatten_it().ok() ? 0 : 1; };
    std::string text = make_with_holes(random);
    const std::vector<tests::file_change> changes = tests::changes_of(flattens);
    ASSERT_EQ(file_text(path_), text);
    int replaced = 0;
    int kept = 0;
    std::map<std::string, int> stopped;
    for (const tests::file_change& change : changes) {
        for (const bool is_made : {false, true}) {
            const std::string where = change.name() + (is_made ? ", made" : "");
            text = make_with_holes(random);
            if (tests::dies_at(change, is_made, flattens)) ++stopped[change.call];
            if (fs::is_directory(path_)) {
                ++kept;
                log_file file;
                file.open(path_, writer_identity::of_this_process(), {}).value();
                tests::bytes all(text.size() + 1);
                ASSERT_EQ(file.read(0, all).value(), static_cast<int64_t>(text.size())) << where;
                all.pop_back();
                ASSERT_EQ(tests::as_text(all), text) << where;
            } else {
                ++replaced;
                ASSERT_EQ(file_text(path_), text) << where;
            }
            ASSERT_TRUE(finish_flattening(folder_.path()).ok()) << where;
            if (fs::is_directory(path_)) {
                ASSERT_TRUE(flatten_it().ok()) << where;
            }
            ASSERT_EQ(file_text(path_), text) << where;
            ASSERT_EQ(folder_.names(), names{"file"}) << where;
        }
    }
    EXPECT_GT(replaced, 0);
    EXPECT_GT(kept, 0);
    EXPECT_GE(stopped["pwrite64"], 2 * pieces) << "each piece is written, and it dies in front of that and behind it";
    for (const char* const call : {"openat", "ftruncate", "fsync", "renameat2", "unlinkat"})
        EXPECT_GE(stopped[call], 2) << call;
}

TEST_F(flattening_in_place, ends_what_others_left_unfinished) {
    make("text");
    const std::string hidden = folder_.file(".halcyon-flattened-" + std::to_string(id()));
    std::ofstream(hidden) << "te";
    ASSERT_TRUE(finish_flattening(folder_.path()).ok());
    EXPECT_TRUE(fs::exists(hidden)) << "the next one writes over it";
    // Its container is gone.
    fs::rename(path_, folder_.file("elsewhere"));
    fs::rename(folder_.file("elsewhere"), folder_.file(".halcyon-removed-1"));
    fs::remove_all(folder_.file(".halcyon-removed-1"));
    // Somebody is at it.
    const int held = ::open(hidden.c_str(), O_RDWR | O_CLOEXEC);
    ASSERT_EQ(::flock(held, LOCK_EX), 0);
    ASSERT_TRUE(finish_flattening(folder_.path()).ok());
    EXPECT_TRUE(fs::exists(hidden));
    ::close(held);
    ASSERT_TRUE(finish_flattening(folder_.path()).ok());
    EXPECT_EQ(folder_.names(), names{});
}

TEST_F(flattening_in_place, ends_what_was_cut_short_where_names_cannot_be_exchanged) {
    for (const bool has_its_name : {false, true}) {
        make("text");
        const std::string hidden = folder_.file(".halcyon-flattened-" + std::to_string(id()));
        std::ofstream(hidden + ".name") << "file";
        fs::rename(path_, hidden + ".container");
        std::ofstream(has_its_name ? path_ : hidden) << "text";
        ASSERT_TRUE(finish_flattening(folder_.path()).ok());
        EXPECT_EQ(file_text(path_), "text");
        EXPECT_EQ(folder_.names(), names{"file"});
    }
}

TEST_F(flattening_in_place, removes_no_foreign_directory) {
    const std::string foreign = folder_.file(".halcyon-flattened-7");
    fs::create_directory(foreign);
    std::ofstream(foreign + "/thesis.tex") << "mine";
    ASSERT_TRUE(finish_flattening(folder_.path()).ok());
    EXPECT_TRUE(fs::exists(foreign + "/thesis.tex"));
}

}  // namespace
}  // namespace halcyon::logfs
