#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/error.hpp"  // the public header and this one are used together in plugins
#include "halcyon/logfs.hpp"
#include "temporary_folder.hpp"

/// logfs.hpp.
namespace {

using halcyon::error_kind;
using halcyon::logfs::access;
using halcyon::logfs::file;

static_assert(!std::is_copy_constructible_v<file> && std::is_nothrow_move_constructible_v<file>);
static_assert(!halcyon::logfs::values<const char (&)[5]> && !halcyon::logfs::values<std::vector<std::string>>);
static_assert(halcyon::logfs::values<std::string_view> && halcyon::logfs::values<double (&)[5]>);

class file_class : public testing::Test {
  protected:
    template <class Call>
    static void expect_error(error_kind kind, int number, const std::string& message, Call call) {
        try {
            call();
            FAIL() << "no error; expected: " << message;
        } catch (const halcyon::error& e) {
            EXPECT_EQ(e.kind(), kind);
            EXPECT_EQ(e.as_failure().system_errno, number);
            EXPECT_NE(std::string(e.what()).find(message), std::string::npos) << e.what();
        }
    }

    halcyon::tests::temporary_folder folder_;
    std::string path_ = folder_.file("file");
};

TEST_F(file_class, writes_and_reads_values_from_where_they_lie) {
    file out(path_, access::read_write, {.creates = true, .rank = 1});
    const std::vector<double> field{1.5, 2.5, 3.5};
    out.write(8, field);
    out.write(0, std::array<int64_t, 1>{7});
    EXPECT_EQ(out.append(std::string_view("end")), 32);
    std::array<double, 2> back{};
    EXPECT_EQ(out.read(16, back), sizeof back);
    EXPECT_EQ(back, (std::array<double, 2>{2.5, 3.5}));
    std::string text(10, '?');
    EXPECT_EQ(out.read(32, text), 3U);
    EXPECT_EQ(out.read(35, text), 0U);
    out.truncate(34);
    out.erase(32, 1);
    EXPECT_EQ(out.size(), 34);
    EXPECT_EQ(out.status().bytes, 34);
    out.raise_epoch(out.propose_epoch());
    out.settle();
    out.sync();
    out.refresh();
    out.close();
    const file in(path_, access::read);
    std::array<int64_t, 1> first{};
    EXPECT_EQ(in.read(0, first), sizeof first);
    EXPECT_EQ(first[0], 7);
}

TEST_F(file_class, closes_what_it_has) {
    {
        file first(path_, access::write, {.creates = true});
        file second(std::move(first));
        second.write(0, std::string_view("text"));
        expect_error(error_kind::usage, EBADF, "the handle is null", [&] { first.sync(); });
        first = std::move(second);
        first.close();
        expect_error(error_kind::usage, EBADF, "the handle is null", [&] { first.close(); });
    }
    // Nobody has it open.
    EXPECT_EQ(halcyon::logfs::flatten(path_, path_).bytes, 4);
}

TEST_F(file_class, throws_what_fails) {
    expect_error(error_kind::system, ENOENT, path_, [&] { file(path_, access::read); });
    expect_error(error_kind::usage, EINVAL, "HALCYON_LOGFS_EXCLUSIVE needs HALCYON_LOGFS_CREATE",
                 [&] { file(path_, access::write, {.is_exclusive = true}); });
    expect_error(error_kind::usage, EINVAL, "rank is -1",
                 [&] { file(path_, access::write, {.creates = true, .rank = -1}); });
    expect_error(error_kind::usage, EINVAL, "stage is 'node'",
                 [&] { file(path_, access::write, {.creates = true, .stage = "node"}); });
    file made(path_, access::write, {.creates = true, .is_exclusive = true});
    expect_error(error_kind::unavailable, EBUSY, "has it open", [&] { halcyon::logfs::flatten(path_, path_); });
    std::array<char, 1> byte{};
    expect_error(error_kind::usage, EBADF, "for writing only", [&] { made.read(0, byte); });
}

TEST_F(file_class, has_the_functions_of_paths_beside_it) {
    namespace logs = halcyon::logfs;
    file(path_, access::write, {.creates = true}).write(0, std::string_view("text"));
    EXPECT_TRUE(logs::is_container(path_));
    const std::string other = folder_.file("other");
    logs::rename(path_, other);
    EXPECT_FALSE(logs::is_container(path_));
    EXPECT_EQ(logs::status_of(other).bytes, 4);
    EXPECT_EQ(logs::flatten(other, path_).written_bytes, 4);
    logs::remove(other);
    EXPECT_EQ(folder_.names(), std::vector<std::string>{"file"});
    expect_error(error_kind::usage, ENOTDIR, "no log container", [&] { logs::remove(path_); });
}

}  // namespace
