#include "logfs/container/tools/export_plfs.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "base/node_identity.hpp"
#include "logfs/container/format/plfs_format.hpp"
#include "logfs/container/tools/stats.hpp"
#include "open_container.hpp"

namespace halcyon::logfs {
namespace {

namespace fs = std::filesystem;
using tests::open_container;

mode_t mode_of(const std::string& path) {
    struct stat found {};
    EXPECT_EQ(::stat(path.c_str(), &found), 0) << path;
    return found.st_mode & 07777;
}

class exported : public ::testing::Test {
  protected:
    void put(writer& to, int64_t offset, size_t length) {
        const auto data = tests::random_bytes(random_, length);
        to.write(offset, data).value();
        file_.write(offset, data);
    }

    export_report export_it() {
        auto done = export_plfs(in_.of(), target_);
        if (!done) ADD_FAILURE() << done.why().message;
        return done ? *done : export_report{};
    }

    /// What the reader of PLFS's containers reads of it.
    tests::bytes read_back() {
        container out;
        out.open(target_).value();
        EXPECT_TRUE(out.is_plfs());
        reader from(out);
        from.reload().value();
        return tests::all_of(from);
    }

    /// Paths of all files in it, relative to it.
    [[nodiscard]] std::vector<std::string> files() const {
        std::vector<std::string> all;
        for (const auto& each : fs::recursive_directory_iterator(target_)) {
            if (each.is_regular_file()) all.push_back(fs::relative(each.path(), target_).string());
        }
        std::sort(all.begin(), all.end());
        return all;
    }
    [[nodiscard]] std::string only_one(std::string_view what) const {
        std::string found;
        for (const std::string& each : files()) {
            if (each.find(what) == std::string::npos) continue;
            EXPECT_TRUE(found.empty()) << found << " and " << each;
            found = each;
        }
        return found;
    }

    std::mt19937_64 random_{1};
    open_container in_;
    std::string target_ = in_.folder.file("plfs");
    tests::plain_file file_;
};

TEST_F(exported, containers_are_read_back_by_the_reader_of_plfs) {
    writer& one = in_.add_writer(8);
    writer& other = in_.add_writer(9);
    for (int i = 0; i < 2000; ++i) {
        writer& to = random_() % 2 == 0 ? one : other;
        put(to, static_cast<int64_t>(random_() % 1'000'000), 1 + random_() % 300);
        // Else what the other one writes at once may count as earlier.
        to.settle().value();
    }
    one.erase(1000, 50'000).value();
    file_.erase(1000, 50'000);
    other.truncate(900'000).value();
    file_.truncate(900'000);
    one.reach(2'000'000).value();
    file_.reach(2'000'000);
    const export_report report = export_it();
    EXPECT_EQ(report.size, 2'000'000);
    EXPECT_EQ(tests::difference(read_back(), file_.contents()), "none");
    container out;
    out.open(target_).value();
    const container_stats figures = stats(out).value();
    EXPECT_EQ(figures.writers, 1U);
    EXPECT_EQ(figures.open_writers, 0U);
    EXPECT_EQ(figures.data_bytes, report.written_bytes);
    EXPECT_EQ(figures.index_bytes, static_cast<int64_t>(report.records * sizeof(plfs_record)));
    EXPECT_EQ(figures.hole_bytes, 2'000'000 - report.written_bytes);
    EXPECT_EQ(in_.folder.names(), (std::vector<std::string>{"file", "plfs"}));
}

TEST_F(exported, containers_have_the_files_that_plfs_makes) {
    writer& to = in_.add_writer(1);
    put(to, 10, 100);
    ASSERT_EQ(::chmod((in_.path + "/halcyon-container").c_str(), 0640), 0);
    export_it();
    const std::string host = host_name();
    ASSERT_EQ(files().size(), 5U);
    EXPECT_EQ(only_one("access"), ".plfsaccess113918400");
    EXPECT_EQ(only_one("version-tag.").substr(0, 22), "version-tag.2.5.0-dat.");
    EXPECT_TRUE(only_one("meta/").starts_with("meta/110.100.")) << only_one("meta/");
    EXPECT_TRUE(only_one("meta/").ends_with("." + host)) << only_one("meta/");
    plfs_name name;
    const std::string index = only_one("dropping.index.");
    ASSERT_TRUE(index.starts_with("hostdir."));
    ASSERT_TRUE(parse_plfs_name(std::string_view(index).substr(index.rfind('/') + 1), name)) << index;
    EXPECT_EQ(name.host, host);
    EXPECT_EQ(name.pid, ::getpid());
    plfs_record what{};
    std::ifstream from(target_ + "/" + index, std::ios::binary);
    ASSERT_TRUE(from.read(reinterpret_cast<char*>(&what), sizeof what));
    EXPECT_EQ(from.peek(), std::ifstream::traits_type::eof());
    EXPECT_EQ(what.logical, 10);
    EXPECT_EQ(what.physical, 0);
    EXPECT_EQ(what.length, 100U);
    EXPECT_EQ(what.id, ::getpid());
    EXPECT_GT(what.end_s, 1.7e9);
    EXPECT_EQ(fs::file_size(target_ + "/" + only_one("dropping.data.")), 100U);
    // For those for whom the file is.
    EXPECT_EQ(mode_of(target_ + "/.plfsaccess113918400"), 0640U);
    EXPECT_EQ(mode_of(target_ + "/" + index), 0640U);
    EXPECT_EQ(mode_of(target_), 0750U);
    EXPECT_EQ(mode_of(target_ + "/meta"), 0750U);
}

/// What ranks wrote in turns is one extent: nothing is between.
TEST_F(exported, indexes_have_a_record_for_each_stretch_without_a_hole) {
    for (int64_t rank = 0; rank < 4; ++rank) {
        writer& to = in_.add_writer(rank);
        for (int64_t i = 0; i < 500; ++i) put(to, (i * 4 + rank) * 1000, 1000);
        if (rank == 2) put(to, 5'000'000, 10);
    }
    EXPECT_EQ(export_it().records, 2U);
    EXPECT_EQ(tests::difference(read_back(), file_.contents()), "none");
}

/// More than are kept before they are written.
TEST_F(exported, indexes_of_many_records_are_whole) {
    writer& to = in_.add_writer(1);
    for (int64_t i = 0; i < 10'000; ++i) put(to, i * 20, 10);
    EXPECT_EQ(export_it().records, 10'000U);
    EXPECT_EQ(tests::difference(read_back(), file_.contents()), "none");
}

TEST_F(exported, an_empty_file_has_no_droppings) {
    EXPECT_EQ(export_it().records, 0U);
    EXPECT_TRUE(read_back().empty());
    EXPECT_EQ(files().size(), 3U);
    EXPECT_EQ(only_one("dropping"), "");
}

TEST_F(exported, a_file_that_is_one_hole_is_as_long) {
    in_.add_writer(1).reach(12'345).value();
    EXPECT_EQ(export_it().records, 1U);
    EXPECT_EQ(read_back(), tests::bytes(12'345));
}

TEST_F(exported, containers_of_plfs_can_be_exported_again) {
    writer& to = in_.add_writer(1);
    put(to, 100, 1000);
    put(to, 5000, 1000);
    export_it();
    container first;
    first.open(target_).value();
    target_ = in_.folder.file("again");
    ASSERT_TRUE(export_plfs(first, target_).ok());
    EXPECT_EQ(tests::difference(read_back(), file_.contents()), "none");
}

TEST_F(exported, nothing_is_replaced) {
    put(in_.add_writer(1), 0, 100);
    std::ofstream(target_) << "mine";
    const auto refused = export_plfs(in_.of(), target_);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.why().system_errno, EEXIST);
    EXPECT_EQ(fs::file_size(target_), 4U);
    EXPECT_EQ(export_plfs(in_.of(), in_.folder.file("no/such/folder")).why().system_errno, ENOENT);
    EXPECT_EQ(in_.folder.names(), (std::vector<std::string>{"file", "plfs"}));
}

TEST_F(exported, nothing_is_left_where_it_is_stopped_or_cannot_end) {
    writer& to = in_.add_writer(1);
    put(to, 0, 100);
    export_options how;
    how.on_progress = [](int64_t) { return false; };
    const auto stopped = export_plfs(in_.of(), target_, how);
    ASSERT_FALSE(stopped.ok());
    EXPECT_EQ(stopped.why().system_errno, ECANCELED);
    // Somebody writes whenever a part is done.
    int rounds = 0;
    how.on_size = [&](int64_t) { ++rounds; };
    how.on_progress = [&](int64_t) {
        put(to, 0, 10);
        return true;
    };
    const auto busy = export_plfs(in_.of(), target_, how);
    ASSERT_FALSE(busy.ok());
    EXPECT_EQ(busy.why().kind, error_kind::unavailable);
    EXPECT_EQ(rounds, 3);
    EXPECT_EQ(in_.folder.names(), (std::vector<std::string>{"file"}));
}

TEST_F(exported, what_one_that_was_killed_left_is_no_hindrance) {
    put(in_.add_writer(1), 0, 100);
    const std::string left = in_.folder.file(".halcyon-exported-" + std::to_string(in_.of().id()));
    fs::create_directories(left + "/hostdir.1");
    std::ofstream(left + "/hostdir.1/dropping.index.1.000001.node.1") << "torn";
    export_it();
    EXPECT_EQ(files().size(), 5U);
    EXPECT_EQ(tests::difference(read_back(), file_.contents()), "none");
    EXPECT_EQ(in_.folder.names(), (std::vector<std::string>{"file", "plfs"}));
}

TEST_F(exported, one_at_a_time_exports_a_container) {
    put(in_.add_writer(1), 0, 100);
    export_options how;
    int refusals = 0;
    how.on_progress = [&](int64_t) {
        const auto other = export_plfs(in_.of(), target_);
        refusals += !other.ok() && other.why().kind == error_kind::unavailable ? 1 : 0;
        return true;
    };
    ASSERT_TRUE(export_plfs(in_.of(), target_, how).ok());
    EXPECT_GT(refusals, 0);
    EXPECT_EQ(tests::difference(read_back(), file_.contents()), "none");
}

}  // namespace
}  // namespace halcyon::logfs
