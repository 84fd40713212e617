#include <gtest/gtest.h>
#include <limits.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "for_writing.hpp"
#include "logfs/container/log_file.hpp"
#include "plain_file.hpp"
#include "temporary_folder.hpp"
#include "watched_files.hpp"

/// A sync makes durable what all writers of the node wrote.
namespace halcyon::logfs {
namespace {

namespace fs = std::filesystem;
using tests::for_writing;

/// Says which droppings are synced.
class noted_syncs final : public tests::watched_files {
  public:
    std::vector<std::string> droppings;
    int fails_with = 0;

    int sync(int fd) override {
        char path[PATH_MAX];
        const ssize_t length = ::readlink(("/proc/self/fd/" + std::to_string(fd)).c_str(), path, sizeof path);
        const std::string name =
            fs::path(std::string(path, static_cast<size_t>(std::max<ssize_t>(length, 0)))).filename();
        if (name.starts_with("data.") || name.starts_with("index."))
            droppings.push_back(name.substr(0, name.find('.')));
        if (fails_with != 0) return -fails_with;
        return watched_files::sync(fd);
    }
    /// Since it was asked last.
    std::vector<std::string> told() { return std::exchange(droppings, {}); }
};

using names = std::vector<std::string>;
const names both{"data", "index"};

class other_writers_of_the_node : public ::testing::Test {
  protected:
    std::unique_ptr<log_file> opened(int64_t pid, std::string_view host = "node0", std::string_view boot = "boot0") {
        auto file = std::make_unique<log_file>(calls_);
        file->open(path_, tests::identity(pid, host, boot), for_writing()).value();
        return file;
    }
    static void write(log_file& to, const std::string& text = "some text") {
        to.write(0, tests::as_bytes(text)).value();
    }

    halcyon::tests::memory_folder folder_;
    std::string path_ = folder_.file("file");
    noted_syncs calls_;
};

TEST_F(other_writers_of_the_node, are_synced_as_often_as_they_wrote) {
    const auto writer = opened(1);
    write(*writer);
    const auto other = opened(2);
    other->sync().value();
    EXPECT_EQ(calls_.told(), both);
    other->sync().value();
    EXPECT_EQ(calls_.told(), names());
    write(*writer);
    other->sync().value();
    EXPECT_EQ(calls_.told(), both);
    // One that has synced itself is left alone.
    write(*writer);
    writer->sync().value();
    EXPECT_EQ(calls_.told(), both);
    other->sync().value();
    EXPECT_EQ(calls_.told(), names());
}

TEST_F(other_writers_of_the_node, are_not_looked_at_any_more_when_they_have_ended) {
    {
        const auto writer = opened(1);
        write(*writer);
    }
    const auto other = opened(2);
    int looks = 0;
    calls_.before = [&](std::string_view call, int64_t) {
        looks += call == "read" ? 1 : 0;
        return 0;
    };
    other->sync().value();
    EXPECT_EQ(calls_.told(), both);
    EXPECT_GT(looks, 0);
    looks = 0;
    other->sync().value();
    EXPECT_EQ(calls_.told(), names());
    EXPECT_EQ(looks, 0);
}

TEST_F(other_writers_of_the_node, are_those_that_this_process_has_closed) {
    {
        const auto first = opened(1);
        write(*first);
    }
    const auto again = opened(1);
    again->sync().value();
    EXPECT_EQ(calls_.told(), both);
}

TEST_F(other_writers_of_the_node, are_synced_once_by_however_many_of_them) {
    constexpr int64_t processes = 8;
    std::vector<std::unique_ptr<log_file>> all;
    for (int64_t pid = 1; pid <= processes; ++pid) all.push_back(opened(pid));
    for (int round = 0; round < 2; ++round) {
        for (const auto& each : all) write(*each);
        for (const auto& each : all) each->sync().value();
        // Each its own, and the first one those of all others.
        EXPECT_LE(calls_.told().size(), static_cast<size_t>(2 * (processes + processes - 1)));
    }
}

TEST_F(other_writers_of_the_node, are_no_writers_of_other_nodes_or_boots) {
    const auto other_node = opened(1, "node1");
    const auto other_boot = opened(2, "node0", "boot1");
    write(*other_node);
    write(*other_boot);
    opened(3)->sync().value();
    EXPECT_EQ(calls_.told(), names());
}

TEST_F(other_writers_of_the_node, that_cannot_be_synced_are_tried_again) {
    const auto writer = opened(1);
    write(*writer);
    const auto other = opened(2);
    other->sync().value();
    write(*writer);
    static_cast<void>(calls_.told());
    calls_.fails_with = EIO;
    const auto failed = other->sync();
    ASSERT_FALSE(failed.ok());
    EXPECT_EQ(failed.why().system_errno, EIO);
    calls_.fails_with = 0;
    static_cast<void>(calls_.told());
    other->sync().value();
    EXPECT_EQ(calls_.told(), both);
}

TEST_F(other_writers_of_the_node, are_not_synced_with_ones_own) {
    const auto writer = opened(1);
    write(*writer);
    const auto other = opened(2);
    write(*other);
    other->sync_own().value();
    EXPECT_EQ(calls_.told(), both);
}

}  // namespace
}  // namespace halcyon::logfs
