#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "logfs/container/directory/container.hpp"
#include "logfs/container/format/plfs_format.hpp"
#include "logfs/container/log_file.hpp"
#include "logfs/container/reading/reader.hpp"
#include "logfs/container/tools/check.hpp"
#include "logfs/container/tools/flatten.hpp"
#include "logfs/container/tools/punch.hpp"
#include "logfs/container/tools/repair.hpp"
#include "logfs/container/tools/stats.hpp"
#include "plain_file.hpp"
#include "temporary_folder.hpp"

namespace halcyon::logfs {
namespace {

namespace fs = std::filesystem;
using tests::as_bytes;

std::string file_text(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

void append(const std::string& path, std::span<const std::byte> bytes) {
    std::ofstream file(path, std::ios::binary | std::ios::app);
    file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

/// A container as the facts about PLFS 2.x say, made here byte by byte.
class plfs : public ::testing::Test {
  protected:
    void SetUp() override {
        fs::create_directories(path_ + "/meta");
        put(path_ + "/.plfsaccess113918400", "");
        put(path_ + "/version-tag.2.5.0-dat.20091019-chk.77", "");
    }
    static void put(const std::string& path, const std::string& text) { std::ofstream(path, std::ios::binary) << text; }

    struct writer {
        std::string directory;
        std::string host;
        int32_t pid;
        int64_t physical = 0;
        [[nodiscard]] std::string name(const std::string& kind, int32_t of) const {
            return directory + "/dropping." + kind + ".1390000000.123456." + host + "." + std::to_string(of);
        }
    };
    writer add_writer(int number, const std::string& host, int32_t pid) const {
        const std::string directory = path_ + "/hostdir." + std::to_string(number);
        fs::create_directories(directory);
        return {directory, host, pid};
    }

    void add_record(const writer& to, const plfs_record& what) const {
        append(to.name("index", to.pid), std::as_bytes(std::span(&what, 1)));
    }
    void write(writer& to, int64_t offset, std::span<const std::byte> data, double end_s) {
        append(to.name("data", to.pid), data);
        add_record(to, {offset, to.physical, data.size(), end_s - 0.001, end_s, to.pid, 0xffffffffU});
        to.physical += static_cast<int64_t>(data.size());
        file_.write(offset, data);
    }

    void open() { in_.open(path_).value(); }
    std::string text() {
        reader from(in_);
        const auto done = from.reload();
        if (!done.ok()) return done.why().message;
        return tests::as_text(tests::all_of(from));
    }

    halcyon::tests::temporary_folder folder_;
    std::string path_ = folder_.file("file");
    container in_;
    tests::plain_file file_;
};

TEST_F(plfs, containers_are_read_as_they_are) {
    writer one = add_writer(3, "node.a.cluster", 4711);
    writer other = add_writer(700, "node-b", 12);
    write(one, 0, as_bytes("aaaaaaaa"), 1390000001.0);
    write(other, 4, as_bytes("bbbbbbbb"), 1390000002.0);
    write(one, 20, as_bytes("cc"), 1390000003.0);
    open();
    EXPECT_TRUE(in_.is_plfs());
    EXPECT_TRUE(container::is_at(kernel_files(), path_));
    EXPECT_EQ(text(), std::string("aaaabbbbbbbb\0\0\0\0\0\0\0\0cc", 22));
    // An end that is later by the least that these times can say.
    write(one, 4, as_bytes("dddd"), std::nextafter(1390000002.0, 2e9));
    EXPECT_EQ(text().substr(0, 12), "aaaaddddbbbb");
    write(other, 6, as_bytes("e"), std::nextafter(std::nextafter(1390000002.0, 2e9), 2e9));
    EXPECT_EQ(text().substr(0, 12), "aaaaddedbbbb");
}

TEST_F(plfs, records_name_the_process_whose_data_they_are) {
    writer one = add_writer(0, "node", 1);
    append(one.name("data", 2), as_bytes("of another"));
    append(one.name("data", 1), as_bytes("its own"));
    add_record(one, {0, 3, 7, 1, 1, 2, 0});
    add_record(one, {7, 3, 4, 2, 2, 1, 0});
    open();
    EXPECT_EQ(text(), "another own");
}

TEST_F(plfs, sizes_are_those_of_extensions_and_of_meta_too) {
    writer one = add_writer(0, "node", 1);
    write(one, 0, as_bytes("hello"), 5);
    add_record(one, {12, 5, 0, 6, 6, 1, 0});
    open();
    EXPECT_EQ(text(), std::string("hello\0\0\0\0\0\0\0", 12));
    put(path_ + "/meta/20.5.1390000001.5.node", "");
    put(path_ + "/meta/7.5.1390000001.5.other.node", "");
    put(path_ + "/meta/foreign", "");
    EXPECT_EQ(text().size(), 20U);
}

TEST_F(plfs, what_is_appended_later_is_taken_by_a_reload) {
    writer one = add_writer(0, "node", 1);
    write(one, 0, as_bytes("hello"), 5);
    open();
    reader from(in_);
    ASSERT_TRUE(from.reload().ok());
    write(one, 4, as_bytes("p!"), 6);
    writer other = add_writer(1, "other", 1);
    write(other, 0, as_bytes("y"), 7);
    EXPECT_EQ(tests::as_text(tests::all_of(from)), "hello");
    ASSERT_TRUE(from.reload().ok());
    EXPECT_EQ(tests::as_text(tests::all_of(from)), "yellp!");
    // A record of which only a part is there.
    const plfs_record last{0, 7, 1, 8, 8, 1, 0};
    append(one.name("data", 1), as_bytes("s"));
    append(one.name("index", 1), std::as_bytes(std::span(&last, 1)).first(20));
    ASSERT_TRUE(from.reload().ok());
    EXPECT_EQ(tests::as_text(tests::all_of(from)), "yellp!");
    append(one.name("index", 1), std::as_bytes(std::span(&last, 1)).subspan(20));
    ASSERT_TRUE(from.reload().ok());
    EXPECT_EQ(tests::as_text(tests::all_of(from)), "sellp!");
}

TEST_F(plfs, directories_in_other_backends_are_found) {
    writer one = add_writer(5, "node", 1);
    write(one, 0, as_bytes("hello"), 5);
    fs::rename(path_ + "/hostdir.5", folder_.file("elsewhere"));
    put(path_ + "/hostdir.5", folder_.file("elsewhere") + "\n");
    open();
    EXPECT_EQ(text(), "hello");
    put(path_ + "/hostdir.5", folder_.file("nowhere"));
    EXPECT_NE(text().find("nowhere"), std::string::npos);
}

/// As PLFS 2.5 writes them; where it was configured with `posix:///path`, it takes all of the slashes for the path's.
TEST_F(plfs, directories_in_other_backends_are_found_by_links) {
    writer one = add_writer(5, "node", 1);
    write(one, 0, as_bytes("hello"), 5);
    const std::string own = fs::canonical(fs::path(path_).parent_path()), other = own + ".other";
    const std::string link = path_ + "/hostdir.5", at = other + "/" + std::string(fs::path(path_).filename());
    fs::create_directories(at);
    fs::rename(link, at + "/hostdir.5");
    for (const char* const slashes : {"", "//"}) {
        fs::create_symlink(std::to_string(own.size() + std::strlen(slashes)) + slashes + other, link);
        open();
        EXPECT_EQ(text(), "hello");
        fs::remove(link);
    }
    fs::create_symlink(std::to_string(own.size() + 1) + other, link);
    open();
    EXPECT_NE(text().find("in a backend of another length"), std::string::npos) << text();
    fs::remove(link);
    fs::create_symlink(at + "/hostdir.5", link);
    open();
    EXPECT_EQ(text(), "hello");
    fs::remove_all(other);
}

TEST_F(plfs, records_that_make_no_sense_are_damage) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const std::vector<plfs_record> bad{{-1, 0, 5, 1, 1, 1, 0},
                                       {0, -1, 5, 1, 1, 1, 0},
                                       {0, 0, UINT64_MAX, 1, 1, 1, 0},
                                       {INT64_MAX - 3, 0, 5, 1, 1, 1, 0},
                                       {0, INT64_MAX - 3, 5, 1, 1, 1, 0},
                                       {0, 0, 5, 1, nan, 1, 0},
                                       {0, 0, 5, -1, 1, 1, 0},
                                       {0, 0, 5, 1, 1e30, 1, 0},
                                       {0, 0, 5, 1, 1, -7, 0}};
    open();
    for (const plfs_record& each : bad) {
        fs::remove_all(path_ + "/hostdir.0");
        writer one = add_writer(0, "node", 1);
        write(one, 0, as_bytes("hello"), 1);
        add_record(one, each);
        reader from(in_);
        const auto read = from.reload();
        ASSERT_FALSE(read.ok());
        EXPECT_EQ(read.why().kind, error_kind::config);
        EXPECT_NE(read.why().message.find("dropping.index.1390000000.123456.node.1: offset 48: a record that"),
                  std::string::npos)
            << read.why().message;
    }
}

TEST_F(plfs, data_that_are_missing_are_never_zeros) {
    writer one = add_writer(0, "node", 1);
    write(one, 0, as_bytes("hello"), 1);
    fs::resize_file(one.name("data", 1), 3);
    open();
    reader from(in_);
    ASSERT_TRUE(from.reload().ok());
    tests::bytes buffer(5);
    EXPECT_EQ(from.read(0, buffer).why().kind, error_kind::config);
    fs::remove(one.name("data", 1));
    reader again(in_);
    ASSERT_TRUE(again.reload().ok());
    EXPECT_NE(again.read(0, buffer).why().message.find("dropping.data.1390000000.123456.node.1"), std::string::npos);
}

TEST_F(plfs, of_another_version_is_refused) {
    fs::rename(path_ + "/version-tag.2.5.0-dat.20091019-chk.77", path_ + "/version-tag.3.0.0-dat.1-chk.1");
    open();
    EXPECT_NE(text().find("a container of PLFS 3; this release reads those of PLFS 2"), std::string::npos) << text();
}

TEST_F(plfs, names_are_told_from_foreign_ones) {
    plfs_name name;
    ASSERT_TRUE(parse_plfs_name("dropping.data.1390000000.000123.a.b.c.42", name));
    EXPECT_EQ(name.kind, dropping_kind::data);
    EXPECT_EQ(name.created_ns, 1390000000'000123'000);
    EXPECT_EQ(name.created, "1390000000.000123");
    EXPECT_EQ(name.host, "a.b.c");
    EXPECT_EQ(name.pid, 42);
    for (const char* const other :
         {"dropping.", "dropping.index.1.2.node.3", "dropping.index.1390000000.123456.3", "dropping.map.1.123456.n.3",
          "dropping.index.1390000000.123456.node.", "dropping.index.1390000000.123456.node.x",
          "dropping.index.99999999999999999999.123456.node.1", "dropping.index.1390000000.123456..3", "index.node.1.2"})
        EXPECT_FALSE(parse_plfs_name(other, name)) << other;
}

/// Beside a plain file; the times are those that a double can tell apart.
TEST_F(plfs, random_writes_read_as_in_a_plain_file) {
    std::mt19937_64 random(1);
    std::vector<writer> writers;
    for (int i = 0; i < 3; ++i) writers.push_back(add_writer(i, "node" + std::to_string(i), 100 + i));
    double now_s = 1700000000;
    open();
    reader from(in_);
    for (int i = 0; i < 4000; ++i) {
        now_s = std::nextafter(now_s, 2e9);
        const auto data = tests::random_bytes(random, 1 + random() % 200);
        write(writers[random() % 3], static_cast<int64_t>(random() % 20000), data, now_s);
        if (i % 500 != 499) continue;
        ASSERT_TRUE(from.reload().ok());
        ASSERT_EQ(tests::difference(tests::all_of(from), file_.contents()), "none") << i;
    }
    const auto figures = stats(in_).value();
    EXPECT_EQ(figures.writers, 3U);
    EXPECT_EQ(figures.writes, 4000U);
    EXPECT_EQ(figures.index_bytes, 4000 * 48);
    const std::string flat = folder_.file("flat");
    ASSERT_EQ(::chmod((path_ + "/.plfsaccess113918400").c_str(), 0640), 0);
    ASSERT_TRUE(flatten(in_, flat).ok());
    EXPECT_TRUE(file_text(flat) == tests::as_text(file_.contents()));
    struct stat there {};
    ASSERT_EQ(::stat(flat.c_str(), &there), 0);
    EXPECT_EQ(there.st_mode & 0777, 0640U);
}

TEST_F(plfs, can_be_read_and_flattened_and_nothing_else) {
    writer one = add_writer(0, "node", 1);
    write(one, 0, as_bytes("hello"), 1);
    open();
    EXPECT_EQ(check(in_).why().kind, error_kind::usage);
    EXPECT_EQ(repair(in_).why().kind, error_kind::usage);
    EXPECT_EQ(punch_dead(in_).why().kind, error_kind::usage);
    EXPECT_EQ(in_.make_host_directory(3), -EROFS);
    log_file file;
    opening how;
    how.may_write = true;
    how.creates = true;
    EXPECT_EQ(file.open(path_, tests::identity(1), how).why().system_errno, EROFS);
    ASSERT_TRUE(file.open(path_, tests::identity(1), {}).ok());
    tests::bytes buffer(10);
    EXPECT_EQ(file.read(0, buffer).value(), 5);
    EXPECT_EQ(file.write(0, as_bytes("x")).why().system_errno, EBADF);
    ASSERT_TRUE(file.close().ok());
    // One that is not known to have ended.
    put(path_ + "/meta/open.node.1", "");
    EXPECT_EQ(flatten(in_, path_).why().kind, error_kind::unavailable);
    fs::remove(path_ + "/meta/open.node.1");
    const auto done = flatten(in_, path_);
    ASSERT_TRUE(done.ok()) << done.why().message;
    EXPECT_EQ(file_text(path_), "hello");
}

}  // namespace
}  // namespace halcyon::logfs
