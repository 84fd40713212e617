#pragma once

#include <sched.h>

#include <atomic>
#include <thread>

#include "calls/backend_conformance/fixture.hpp"

namespace halcyon::calls {

TEST_P(backend_conformance, opens_only_what_is_there) {
    EXPECT_EQ(open_error("a", O_RDONLY), -ENOENT);
    EXPECT_EQ(open_error("a", O_RDWR | O_CREAT), 0);
    EXPECT_EQ(open_error("a", O_RDONLY), 0);
    EXPECT_EQ(open_error("a", O_RDWR | O_CREAT), 0);
    EXPECT_EQ(open_error("a", O_RDWR | O_CREAT | O_EXCL), -EEXIST);
    EXPECT_EQ(open_error("b", O_RDWR | O_CREAT | O_EXCL), 0);
    EXPECT_EQ(open_error("a", O_RDONLY | O_DIRECTORY), -ENOTDIR);
    EXPECT_EQ(open_error("none/a", O_RDWR | O_CREAT), -ENOENT);
    EXPECT_EQ(open_error("a/b", O_RDWR | O_CREAT), -ENOTDIR);
    EXPECT_EQ(open_error(std::string(256, 'n'), O_RDWR | O_CREAT), -ENAMETOOLONG);
    EXPECT_EQ(open_error(std::string(255, 'n'), O_RDWR | O_CREAT), 0);
}

TEST_P(backend_conformance, opens_a_directory_for_reading_only) {
    ASSERT_EQ(make_directory("d"), 0);
    EXPECT_EQ(open_error("d", O_RDONLY), 0);
    EXPECT_EQ(open_error("d", O_RDONLY | O_DIRECTORY), 0);
    EXPECT_EQ(open_error("d", O_WRONLY), -EISDIR);
    EXPECT_EQ(open_error("d", O_RDWR), -EISDIR);
    EXPECT_EQ(open_error("d", O_RDONLY | O_CREAT), -EISDIR);
    EXPECT_EQ(open_error("d", O_RDONLY | O_CREAT | O_EXCL), -EEXIST);
    opened_file directory(backend(), path("d"), O_RDONLY);
    EXPECT_EQ(directory.read(1, 0), "errno " + std::to_string(EISDIR));
    EXPECT_EQ(opened_file(backend(), "/", O_RDONLY | O_DIRECTORY).result(), 0);
}

TEST_P(backend_conformance, reads_what_was_written) {
    opened_file file(backend(), path("a"), O_CREAT | O_RDWR);
    ASSERT_EQ(file.result(), 0);
    EXPECT_EQ(file.size(), 0);
    EXPECT_EQ(file.read(10, 0), "");
    EXPECT_EQ(file.write("hello world", 0), 11);
    EXPECT_EQ(file.size(), 11);
    EXPECT_EQ(file.read(11, 0), "hello world");
    EXPECT_EQ(file.read(100, 6), "world");
    EXPECT_EQ(file.read(1, 11), "");
    EXPECT_EQ(file.read(1, int64_t{1} << 30), "");
    EXPECT_EQ(file.write("W", 6), 1);
    EXPECT_EQ(file.read(100, 0), "hello World");
    EXPECT_EQ(file.write("", 500), 0);
    EXPECT_EQ(file.size(), 11);
    EXPECT_EQ(file.read(1, -1), "errno " + std::to_string(EINVAL));
    EXPECT_EQ(file.write("x", -1), -EINVAL);
    file.close();
    EXPECT_EQ(content("a"), "hello World");
}

TEST_P(backend_conformance, opens_a_file_again_by_what_is_open) {
    put("a", "hello world");
    opened_file file(backend(), path("a"), O_RDONLY);
    file_backend::handle again = 0;
    ASSERT_EQ(backend().open_again(file.handle(), O_RDWR, again), 0);
    EXPECT_NE(again, file.handle());
    file.close();
    char text[6] = {};
    const iovec piece{text, 5};
    EXPECT_EQ(backend().read(again, &piece, 1, 6), 5);
    EXPECT_STREQ(text, "world");
    file_backend::handle third = 0;
    ASSERT_EQ(backend().open_again(again, O_WRONLY | O_TRUNC, third), 0);
    EXPECT_EQ(stat("a").st_size, 0);
    backend().close(third);
    EXPECT_EQ(unlink("a"), 0);
    const int without_name = backend().open_again(again, O_RDWR, third);
    EXPECT_TRUE(without_name == 0 || without_name == -ENOENT) << without_name;
    if (without_name == 0) backend().close(third);
    EXPECT_EQ(backend().write(again, &piece, 1, 0), 5);
    backend().close(again);
    opened_file folder(backend(), path(""), O_RDONLY | O_DIRECTORY);
    EXPECT_EQ(backend().open_again(folder.handle(), O_RDWR, again), -EISDIR);
}

TEST_P(backend_conformance, moves_pieces_in_their_order) {
    opened_file file(backend(), path("a"), O_CREAT | O_RDWR);
    std::string text = "onetwothree";
    const iovec from[] = {{text.data(), 3}, {text.data(), 0}, {text.data() + 3, 3}, {text.data() + 6, 5}};
    EXPECT_EQ(backend().write(file.handle(), from, 4, 2), 11);
    std::string first(4, '?');
    std::string second(20, '?');
    const iovec to[] = {{first.data(), 4}, {nullptr, 0}, {second.data(), 20}};
    EXPECT_EQ(backend().read(file.handle(), to, 3, 1), 12);
    EXPECT_EQ(first, std::string("\0one", 4));
    EXPECT_EQ(second.substr(0, 9), "twothree?");
    EXPECT_EQ(backend().write(file.handle(), from, 0, 0), 0);
}

TEST_P(backend_conformance, keeps_large_transfers_whole) {
    opened_file file(backend(), path("a"), O_CREAT | O_RDWR);
    std::string text(5'000'001, ' ');
    for (size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>('a' + i * i % 23);
    EXPECT_EQ(file.write(text, 777), static_cast<ssize_t>(text.size()));
    EXPECT_EQ(file.size(), 777 + static_cast<int64_t>(text.size()));
    EXPECT_TRUE(file.read(text.size() + 1, 777) == text);
    EXPECT_EQ(file.read(777, 0), std::string(777, '\0'));
    for (const size_t at : {size_t{262'143}, size_t{1'048'575}, size_t{4'999'990}})
        EXPECT_EQ(file.read(11, static_cast<int64_t>(777 + at)), text.substr(at, 11));
}

TEST_P(backend_conformance, reads_holes_as_zeros) {
    opened_file file(backend(), path("a"), O_CREAT | O_RDWR);
    EXPECT_EQ(file.write("end", 10'000'000), 3);
    EXPECT_EQ(file.size(), 10'000'003);
    EXPECT_EQ(file.read(5, 9'999'997), std::string("\0\0\0en", 5));
    EXPECT_TRUE(file.read(10'000'000, 0) == std::string(10'000'000, '\0'));
    EXPECT_EQ(file.write("far", int64_t{1} << 36), 3);
    EXPECT_EQ(file.read(9, (int64_t{1} << 36) - 3), std::string("\0\0\0far", 6));
}

TEST_P(backend_conformance, appends_at_the_end_wherever_that_is) {
    opened_file file(backend(), path("a"), O_CREAT | O_RDWR | O_APPEND);
    int64_t at = -7;
    EXPECT_EQ(file.append("one", at), 3);
    EXPECT_EQ(at, 0);
    EXPECT_EQ(file.append("two", at), 3);
    EXPECT_EQ(at, 3);
    EXPECT_EQ(backend().resize(file.handle(), 4), 0);
    EXPECT_EQ(file.append("three", at), 5);
    EXPECT_EQ(at, 4);
    EXPECT_EQ(file.read(100, 0), "onetthree");
    EXPECT_EQ(file.size(), 9);
}

TEST_P(backend_conformance, resizes_both_ways) {
    opened_file file(backend(), path("a"), O_CREAT | O_RDWR);
    EXPECT_EQ(file.write(std::string(600'000, 'x'), 0), 600'000);
    EXPECT_EQ(backend().resize(file.handle(), 5), 0);
    EXPECT_EQ(file.size(), 5);
    EXPECT_EQ(file.read(100, 0), "xxxxx");
    EXPECT_EQ(backend().resize(file.handle(), 500'000), 0);
    EXPECT_EQ(file.size(), 500'000);
    EXPECT_TRUE(file.read(600'000, 0) == "xxxxx" + std::string(499'995, '\0'));
    EXPECT_EQ(backend().resize(file.handle(), -1), -EINVAL);
    EXPECT_EQ(backend().resize(file.handle(), 0), 0);
    EXPECT_EQ(file.read(1, 0), "");
    EXPECT_EQ(file.write("y", 3), 1);
    EXPECT_EQ(file.read(10, 0), std::string("\0\0\0y", 4));
}

TEST_P(backend_conformance, truncates_as_it_opens) {
    put("a", "some text");
    EXPECT_EQ(open_error("a", O_WRONLY | O_TRUNC), 0);
    EXPECT_EQ(stat("a").st_size, 0);
    put("a", "other text");
    opened_file before(backend(), path("a"), O_RDWR);
    EXPECT_EQ(open_error("a", O_WRONLY | O_CREAT | O_TRUNC), 0);
    EXPECT_EQ(before.size(), 0);
    EXPECT_EQ(before.write("x", 4), 1);
    EXPECT_EQ(content("a"), std::string("\0\0\0\0x", 5));
}

TEST_P(backend_conformance, reserving_makes_a_file_as_long_as_that) {
    opened_file file(backend(), path("a"), O_CREAT | O_RDWR);
    EXPECT_EQ(file.write("text", 0), 4);
    EXPECT_EQ(backend().reserve(file.handle(), 0, 2, 300'000), 0);
    EXPECT_EQ(file.size(), 300'002);
    EXPECT_EQ(file.read(6, 0), std::string("text\0\0", 6));
    EXPECT_EQ(backend().reserve(file.handle(), 0, 0, 2), 0);
    EXPECT_EQ(file.size(), 300'002);
    EXPECT_EQ(backend().sync(file.handle(), false), 0);
    EXPECT_EQ(backend().sync(file.handle(), true), 0);
}

TEST_P(backend_conformance, tells_a_files_state) {
    opened_file file(backend(), path("a"), O_CREAT | O_RDWR, 0640);
    opened_file other(backend(), path("b"), O_CREAT | O_RDWR, 0600);
    ASSERT_EQ(file.write("12345", 0), 5);
    const struct stat by_handle = file.stat();
    const struct stat by_path = stat("a");
    EXPECT_EQ(by_handle.st_mode, S_IFREG | 0640U);
    EXPECT_EQ(by_path.st_mode, S_IFREG | 0640U);
    EXPECT_EQ(by_path.st_size, 5);
    EXPECT_EQ(by_path.st_nlink, 1U);
    EXPECT_EQ(by_path.st_uid, geteuid());
    EXPECT_EQ(by_path.st_gid, getegid());
    EXPECT_EQ(by_path.st_ino, by_handle.st_ino);
    EXPECT_EQ(by_path.st_dev, by_handle.st_dev);
    EXPECT_NE(by_path.st_ino, other.stat().st_ino);
    EXPECT_GT(by_path.st_blksize, 0);
    EXPECT_EQ(rename("a", "c"), 0);
    EXPECT_EQ(stat("c").st_ino, by_path.st_ino);
    EXPECT_EQ(make_directory("d"), 0);
    EXPECT_EQ(stat("d").st_mode, S_IFDIR | 0755U);
    EXPECT_EQ(stat_error("none"), -ENOENT);
    EXPECT_EQ(stat_error("c/none"), -ENOTDIR);
    struct statfs system {};
    EXPECT_EQ(backend().stat_system(system), 0);
    EXPECT_GT(system.f_bsize, 0);
    EXPECT_GT(system.f_blocks, 0U);
    EXPECT_LE(system.f_bfree, system.f_blocks);
}

TEST_P(backend_conformance, times_move_with_changes) {
    put("a", "1");
    opened_file file(backend(), path("a"), O_RDWR);
    const timespec past[2] = {{1000, 250}, {2000, 500}};
    EXPECT_EQ(backend().set_times(path("a").c_str(), true, past), 0);
    EXPECT_EQ(file.stat().st_atim.tv_sec, 1000);
    EXPECT_EQ(file.stat().st_atim.tv_nsec, 250);
    EXPECT_EQ(file.stat().st_mtim.tv_sec, 2000);
    EXPECT_EQ(file.stat().st_mtim.tv_nsec, 500);
    const timespec only_access[2] = {{3000, 0}, {0, UTIME_OMIT}};
    EXPECT_EQ(backend().set_times(file.handle(), only_access), 0);
    EXPECT_EQ(stat("a").st_atim.tv_sec, 3000);
    EXPECT_EQ(stat("a").st_mtim.tv_sec, 2000);
    EXPECT_GT(stat("a").st_ctim.tv_sec, 3000);
    const timespec now_and_stays[2] = {{0, UTIME_NOW}, {0, UTIME_OMIT}};
    EXPECT_EQ(backend().set_times(file.handle(), now_and_stays), 0);
    EXPECT_GT(stat("a").st_atim.tv_sec, 3000);
    EXPECT_EQ(stat("a").st_mtim.tv_sec, 2000);

    const auto is_new = [&] { return stat("a").st_mtim.tv_sec > 3000; };
    EXPECT_EQ(file.write("2", 0), 1);
    EXPECT_TRUE(is_new());
    EXPECT_EQ(backend().set_times(file.handle(), past), 0);
    EXPECT_EQ(backend().resize(file.handle(), 0), 0);
    EXPECT_TRUE(is_new());
    EXPECT_EQ(backend().set_times(file.handle(), past), 0);
    int64_t at = 0;
    EXPECT_EQ(file.append("3", at), 1);
    EXPECT_TRUE(is_new());
    EXPECT_EQ(backend().set_times(path("").c_str(), true, past), 0);
    put("b", "");
    EXPECT_GT(stat("").st_mtim.tv_sec, 3000);
    EXPECT_EQ(backend().set_times(path("none").c_str(), true, past), -ENOENT);
}

TEST_P(backend_conformance, mode_and_owner_are_kept) {
    put("a", "");
    opened_file file(backend(), path("a"), O_RDWR);
    EXPECT_EQ(backend().set_mode(path("a").c_str(), 0600), 0);
    EXPECT_EQ(file.stat().st_mode, S_IFREG | 0600U);
    EXPECT_EQ(backend().set_mode(file.handle(), 0755), 0);
    EXPECT_EQ(stat("a").st_mode, S_IFREG | 0755U);
    EXPECT_EQ(backend().set_mode(path("none").c_str(), 0600), -ENOENT);
    const auto same = static_cast<uid_t>(-1);
    EXPECT_EQ(backend().set_owner(path("a").c_str(), true, geteuid(), same), 0);
    EXPECT_EQ(backend().set_owner(file.handle(), same, getegid()), 0);
    EXPECT_EQ(stat("a").st_uid, geteuid());
    EXPECT_EQ(backend().set_owner(path("none").c_str(), true, same, same), -ENOENT);
    if (geteuid() != 0) return;
    EXPECT_EQ(backend().set_owner(path("a").c_str(), true, 12, 34), 0);
    EXPECT_EQ(file.stat().st_uid, 12U);
    EXPECT_EQ(file.stat().st_gid, 34U);
    EXPECT_EQ(backend().set_owner(file.handle(), 56, same), 0);
    EXPECT_EQ(stat("a").st_uid, 56U);
    EXPECT_EQ(stat("a").st_gid, 34U);
}

TEST_P(backend_conformance, a_symbolic_link_has_times_and_an_owner_of_its_own) {
    if (!GetParam().links) GTEST_SKIP() << "this backend has no links";
    put("a", "");
    ASSERT_EQ(symbolic_link("a", "to_a"), 0);
    ASSERT_EQ(symbolic_link("nowhere", "dangling"), 0);
    const timespec first[2] = {{1000, 0}, {2000, 0}};
    const timespec second[2] = {{3000, 0}, {4000, 0}};
    EXPECT_EQ(backend().set_times(path("to_a").c_str(), true, first), 0);
    EXPECT_EQ(backend().set_times(path("to_a").c_str(), false, second), 0);
    EXPECT_EQ(stat("a").st_mtim.tv_sec, 2000);
    EXPECT_EQ(stat("to_a", false).st_mtim.tv_sec, 4000);
    EXPECT_EQ(backend().set_times(path("dangling").c_str(), true, first), -ENOENT);
    EXPECT_EQ(backend().set_times(path("dangling").c_str(), false, first), 0);
    EXPECT_EQ(stat("dangling", false).st_atim.tv_sec, 1000);
    if (geteuid() != 0) return;
    EXPECT_EQ(backend().set_owner(path("to_a").c_str(), true, 12, 34), 0);
    EXPECT_EQ(backend().set_owner(path("to_a").c_str(), false, 56, 78), 0);
    EXPECT_EQ(stat("a").st_uid, 12U);
    EXPECT_EQ(stat("to_a", false).st_uid, 56U);
}

TEST_P(backend_conformance, unlinked_files_live_while_they_are_open) {
    put("a", "old");
    opened_file file(backend(), path("a"), O_RDWR);
    const auto inode = file.stat().st_ino;
    EXPECT_EQ(unlink("a"), 0);
    EXPECT_EQ(unlink("a"), -ENOENT);
    EXPECT_FALSE(is_there("a"));
    EXPECT_EQ(file.stat().st_nlink, 0U);
    put("a", "new");
    EXPECT_NE(stat("a").st_ino, inode);
    EXPECT_EQ(file.read(10, 0), "old");
    EXPECT_EQ(file.write("er", 3), 2);
    EXPECT_EQ(file.read(10, 0), "older");
    EXPECT_EQ(content("a"), "new");
    EXPECT_EQ(file.path(), "errno " + std::to_string(ENOENT));
}

TEST_P(backend_conformance, threads_write_to_ranges_of_their_own) {
    constexpr int threads = 4;
    constexpr int rounds = 2000;
    constexpr size_t bytes = 200;
    constexpr int64_t step = 300'000;  // all threads come to a new part of the file at once
    opened_file file(backend(), path("a"), O_CREAT | O_RDWR);
    std::atomic<int> arrived{0};
    std::vector<std::thread> writers;
    writers.reserve(threads);
    for (int thread = 0; thread < threads; ++thread) {
        writers.emplace_back([&, thread] {
            const std::string record(bytes, static_cast<char>('a' + thread));
            for (int round = 0; round < rounds; ++round) {
                arrived.fetch_add(1);
                while (arrived.load() < (round + 1) * threads) sched_yield();
                EXPECT_EQ(file.write(record, round * step + thread * static_cast<int64_t>(bytes)),
                          static_cast<ssize_t>(bytes));
            }
        });
    }
    for (auto& writer : writers) writer.join();
    std::string expected;
    for (int thread = 0; thread < threads; ++thread) expected.append(bytes, static_cast<char>('a' + thread));
    for (int round = 0; round < rounds; ++round) ASSERT_EQ(file.read(threads * bytes, round * step), expected) << round;
    EXPECT_EQ(file.size(), (rounds - 1) * step + static_cast<int64_t>(threads * bytes));
}

TEST_P(backend_conformance, a_write_and_a_truncation_at_once_come_one_after_the_other) {
    constexpr int rounds = 2000;
    constexpr int64_t at = 100'000;
    opened_file file(backend(), path("a"), O_CREAT | O_RDWR);
    const std::string record(300, 'x');
    for (int round = 0; round < rounds; ++round) {
        ASSERT_EQ(file.write("old", at), 3);
        std::atomic<int> arrived{0};
        const auto together = [&arrived] {
            arrived.fetch_add(1);
            while (arrived.load() < 2) sched_yield();
        };
        std::thread writer([&] {
            together();
            EXPECT_EQ(file.write(record, at), 300);
        });
        together();
        EXPECT_EQ(backend().resize(file.handle(), 0), 0);
        writer.join();
        const bool written_last = file.size() != 0;
        EXPECT_EQ(file.size(), written_last ? at + 300 : 0);
        EXPECT_EQ(backend().resize(file.handle(), at + 300), 0);
        ASSERT_EQ(file.read(300, at), written_last ? record : std::string(300, '\0')) << round;
        ASSERT_EQ(backend().resize(file.handle(), 0), 0);
    }
}

TEST_P(backend_conformance, a_full_backend_says_so_and_takes_more_once_there_is_room) {
    if (!GetParam().small) GTEST_SKIP() << "this backend cannot be made to fill up";
    file_backend& small = GetParam().small();
    const std::string block(100'000, 'b');
    constexpr int most_blocks = 10'000;
    int64_t written = 0;
    const auto fill = [&](opened_file& file) {
        written = 0;
        for (int i = 0; i < most_blocks; ++i) {
            const ssize_t now = file.write(block, written);
            if (now < 0) return now;
            written += now;
        }
        return ssize_t{0};
    };
    opened_file file(small, "/full", O_CREAT | O_RDWR);
    ASSERT_EQ(file.result(), 0);
    EXPECT_EQ(fill(file), -ENOSPC);
    EXPECT_GT(written, 1'000'000);
    EXPECT_EQ(file.size(), written);
    EXPECT_EQ(file.read(10, written - 10), std::string(10, 'b'));
    int64_t at = 0;
    EXPECT_EQ(file.append(block, at), -ENOSPC);
    EXPECT_EQ(file.size(), written);
    EXPECT_EQ(file.write("over", 0), 4);
    opened_file second(small, "/second", O_CREAT | O_RDWR);
    EXPECT_EQ(second.write("x", 0), -ENOSPC);
    EXPECT_EQ(second.size(), 0);

    const int64_t room = written;
    EXPECT_EQ(small.unlink("/full"), 0);
    EXPECT_EQ(second.write("x", 0), -ENOSPC) << "an open file keeps its bytes";
    file.close();
    EXPECT_EQ(fill(second), -ENOSPC);
    EXPECT_GE(written, room);
    second.close();
    opened_file third(small, "/second", O_RDWR | O_TRUNC);
    EXPECT_EQ(third.size(), 0);
    EXPECT_EQ(fill(third), -ENOSPC);
    EXPECT_GE(written, room);
    third.close();
    opened_file fourth(small, "/fourth", O_CREAT | O_RDWR);
    EXPECT_EQ(fourth.write("x", 0), -ENOSPC);
    EXPECT_EQ(small.rename("/fourth", "/second", 0), 0);
    EXPECT_EQ(fill(fourth), -ENOSPC);
    EXPECT_GE(written, room);
    fourth.close();
    EXPECT_EQ(small.unlink("/second"), 0);
}

}  // namespace halcyon::calls
