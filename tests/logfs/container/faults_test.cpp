#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <ostream>
#include <random>
#include <string>
#include <utility>

#include "logfs/container/tools/check.hpp"
#include "open_container.hpp"
#include "small_disk.hpp"
#include "watched_files.hpp"

namespace halcyon::logfs {
namespace {

namespace fs = std::filesystem;
using tests::as_bytes;
using tests::open_container;

/// Which call fails, and how.
struct fault {
    std::string call;
    int error;
    bool for_good;
    bool may_map;
};

void PrintTo(const fault& what, std::ostream* out) {
    *out << what.call << " " << std::strerror(-what.error) << (what.for_good ? " for good" : " once")
         << (what.may_map ? "" : ", written");
}

class faults : public ::testing::TestWithParam<fault> {};
INSTANTIATE_TEST_SUITE_P(, faults,
                         ::testing::Values(fault{"write", -ENOSPC, false, true}, fault{"write", -EDQUOT, true, true},
                                           fault{"write", -EIO, false, true}, fault{"reserve", -ENOSPC, true, true},
                                           fault{"reserve", -EDQUOT, false, true}, fault{"map", -ENOMEM, false, true},
                                           fault{"sync", -EIO, false, true}, fault{"sync", -ENOSPC, true, true},
                                           fault{"write", -EROFS, true, true}, fault{"write", -EROFS, true, false},
                                           fault{"make_directory", -EROFS, true, true},
                                           fault{"open", -EMFILE, false, true}, fault{"open", -EROFS, true, true},
                                           fault{"set_size", -EIO, false, true}, fault{"close", -EDQUOT, false, true},
                                           fault{"write", -ENOSPC, false, false}, fault{"write", -EDQUOT, true, false},
                                           fault{"reserve", -EOPNOTSUPP, true, true}));

/// Each call of the kind fails in turn: what failed says so, what did not is there, and the container is sound.
TEST_P(faults, leave_a_sound_container_with_all_that_succeeded) {
    const fault how = GetParam();
    writer_options options;
    options.may_map_index = how.may_map;
    int failures = 0;
    for (int nth = 1; nth < 400; nth += nth < 20 ? 1 : 37) {
        tests::watched_files calls;
        open_container in(calls);
        int seen = 0;
        bool has_failed = false;
        calls.before = [&](std::string_view call, int64_t) {
            if (call != how.call) return 0;
            if (++seen < nth || (has_failed && !how.for_good)) return 0;
            has_failed = true;
            return how.error;
        };
        writer to(in.of());
        tests::plain_file expected;
        std::mt19937_64 random(1);
        int refused = 0;
        const auto opened = to.open(tests::identity(1), options);
        if (opened.ok()) {
            for (int i = 0; i < 700; ++i) {
                const auto data = tests::random_bytes(random, 1 + random() % 50);
                const auto offset = static_cast<int64_t>(random() % 20000);
                const auto written = to.write(offset, data);
                if (written.ok()) {
                    EXPECT_EQ(*written, static_cast<int64_t>(data.size()));
                    expected.write(offset, data);
                } else {
                    ++refused;
                    EXPECT_EQ(written.why().system_errno, -how.error) << written.why().message;
                    EXPECT_NE(written.why().message.find(in.path), std::string::npos);
                }
                if (i % 100 == 50 && !to.sync().ok()) ++refused;
            }
            if (!to.close().ok()) ++refused;
        } else {
            ++refused;
            EXPECT_EQ(opened.why().system_errno, -how.error) << opened.why().message;
        }
        // Without these a writer does as well, or asks for less.
        const bool is_dispensable = how.error == -EOPNOTSUPP || how.call == "map" || how.call == "close" ||
                                    (how.call == "reserve" && !how.for_good);
        EXPECT_TRUE(refused == 0 || has_failed) << nth;
        EXPECT_TRUE(refused > 0 || !has_failed || is_dispensable) << nth;
        if (how.call == "write" && how.error == -ENOSPC && !how.for_good) {
            EXPECT_LE(refused, 1) << nth << ": there is room again";
        }
        failures += has_failed ? 1 : 0;
        calls.before = [](std::string_view, int64_t) { return 0; };
        ASSERT_EQ(tests::difference(in.contents(), expected.contents()), "none") << nth;
        const auto checked = check(in.of());
        ASSERT_TRUE(checked.ok());
        EXPECT_TRUE(checked->is_sound()) << nth;
        // Another writer goes on.
        writer next(in.of());
        ASSERT_TRUE(next.open(tests::identity(2)).ok());
        next.write(5, as_bytes("later")).value();
        expected.write(5, as_bytes("later"));
        ASSERT_EQ(tests::difference(in.contents(), expected.contents()), "none") << nth;
    }
    EXPECT_GT(failures, 0);
}

TEST(fault_of_sync, is_not_forgotten_by_the_next_one) {
    tests::watched_files calls;
    open_container in(calls);
    writer& to = in.add_writer(1);
    to.write(0, as_bytes("hello")).value();
    bool fails = true;
    calls.before = [&](std::string_view call, int64_t) {
        return call == "sync" && std::exchange(fails, false) ? -EIO : 0;
    };
    EXPECT_EQ(to.sync().why().system_errno, EIO);
    to.write(5, as_bytes("!")).value();
    const auto again = to.sync();
    ASSERT_FALSE(again.ok());
    EXPECT_NE(again.why().message.find("an earlier sync failed"), std::string::npos);
    EXPECT_EQ(tests::read_text(in), "hello!");
}

TEST(faults_of_reading, are_told_with_the_file) {
    tests::watched_files calls;
    open_container in(calls);
    writer& to = in.add_writer(1);
    to.write(0, as_bytes("hello")).value();
    const auto from = in.new_reader();
    for (const char* const failing : {"open", "read", "list", "status"}) {
        calls.before = [&](std::string_view call, int64_t) { return call == failing ? -EIO : 0; };
        const auto fresh = in.new_reader();
        const auto done = fresh->reload();
        ASSERT_FALSE(done.ok()) << failing;
        EXPECT_EQ(done.why().system_errno, EIO);
        EXPECT_NE(done.why().message.find(in.path), std::string::npos);
        calls.before = [](std::string_view, int64_t) { return 0; };
        // The same reader, when it is over.
        ASSERT_TRUE(fresh->reload().ok()) << failing;
        EXPECT_EQ(tests::as_text(tests::all_of(*fresh)), "hello");
    }
}

/// In a mapped index, or a written one.
class tiny_disk : public ::testing::TestWithParam<bool> {
  protected:
    void SetUp() override {
        if (!disk_.is_there()) GTEST_SKIP() << disk_.why_not();
    }

    halcyon::tests::memory_folder folder_;
    halcyon::tests::small_disk disk_{folder_.path()};
};
INSTANTIATE_TEST_SUITE_P(, tiny_disk, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "mapped" : "written"; });

TEST_P(tiny_disk, that_is_full_keeps_what_was_written_and_takes_more_when_there_is_room) {
    std::ofstream(folder_.file("ballast")) << std::string(200000, 'b');
    container in;
    in.create(folder_.file("file"), 0644).value();
    writer to(in);
    writer_options how;
    how.may_map_index = GetParam();
    to.open(tests::identity(1), how).value();
    tests::plain_file expected;
    std::mt19937_64 random(1);
    int64_t refused = 0;
    for (int i = 0; i < 20000 && refused < 20; ++i) {
        const auto data = tests::random_bytes(random, 1 + random() % 3000);
        const auto offset = static_cast<int64_t>(random() % 3000000);
        const auto written = to.write(offset, data);
        if (!written) {
            ++refused;
            EXPECT_EQ(written.why().system_errno, ENOSPC) << written.why().message;
            continue;
        }
        // Where the room ended in the middle, as write(2) does.
        expected.write(offset, std::span(data).first(static_cast<size_t>(*written)));
    }
    EXPECT_EQ(refused, 20);
    const auto compare = [&] {
        reader from(in, tests::beside_writers());
        ASSERT_TRUE(from.reload().ok());
        ASSERT_EQ(tests::difference(tests::all_of(from), expected.contents()), "none");
    };
    compare();
    fs::remove(folder_.file("ballast"));
    to.write(0, as_bytes("more")).value();
    expected.write(0, as_bytes("more"));
    compare();
    EXPECT_TRUE(to.sync().ok());
    EXPECT_TRUE(to.close().ok());
    compare();
}

}  // namespace
}  // namespace halcyon::logfs
