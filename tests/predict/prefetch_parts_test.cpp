// What the layer `prefetch` is made of, without a process around it.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <thread>

#include "calls/state/descriptors.hpp"
#include "predict/prefetch/benefit.hpp"
#include "predict/prefetch/memory_share.hpp"
#include "predict/prefetch/reach.hpp"
#include "predict/prefetch/request_ring.hpp"
#include "temporary_folder.hpp"

namespace halcyon::predict::prefetch {
namespace {

using tests::temporary_folder;
constexpr int64_t ms = 1'000'000;

TEST(request_ring_test, a_read_that_comes_first_withdraws_its_request) {
    request_ring ring;
    uint32_t first = 0, second = 0;
    ASSERT_TRUE(ring.push({{}, 0, 10}, first));
    ASSERT_TRUE(ring.push({{}, 10, 10}, second));
    EXPECT_EQ(ring.end(first), outcome::withdrawn);
    int64_t asked = 0;
    ring.each([&](const request& what) {
        asked += what.offset;
        return outcome::cached;
    });
    EXPECT_EQ(asked, 10);
    EXPECT_EQ(ring.end(first), outcome::withdrawn);
    EXPECT_EQ(ring.end(second), outcome::cached);
}

TEST(request_ring_test, a_full_ring_refuses) {
    request_ring ring;
    uint32_t last = 0;
    for (uint32_t i = 0; i < request_ring::most; ++i) ASSERT_TRUE(ring.push({}, last));
    EXPECT_FALSE(ring.push({}, last));
    ring.each([](const request&) { return outcome::asked; });
    EXPECT_TRUE(ring.push({}, last));
}

TEST(memory_share_test, is_bounded_and_given_back) {
    memory_share memory;
    memory.start(100);
    EXPECT_TRUE(memory.take(1, 60));
    EXPECT_FALSE(memory.take(2, 41));
    EXPECT_TRUE(memory.take(2, 40));
    memory.give_back(1, 60);
    EXPECT_TRUE(memory.take(1, 60));
}

TEST(memory_share_test, what_an_ended_thread_holds_is_taken_back_once) {
    memory_share memory;
    memory.start(100);
    int ended = 0;
    std::thread([&] { ended = gettid(); }).join();
    while (tgkill(getpid(), ended, 0) == 0) std::this_thread::yield();  // it is joined a little before it has gone
    memory.hold(1, ended);
    memory.hold(2, gettid());
    ASSERT_TRUE(memory.take(1, 60));
    ASSERT_TRUE(memory.take(2, 40));
    memory.look(1);
    memory.give_back(1, 60);  // by a thread that goes on with its queue
    EXPECT_FALSE(memory.take(2, 61));
    EXPECT_TRUE(memory.take(2, 60));
}

TEST(memory_share_test, is_an_eighth_of_what_the_node_has_left) {
    memory_share memory;
    memory.start(INT64_MAX / 4);
    memory.look(1);
    EXPECT_LT(memory.most(), sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE) / 8);
    EXPECT_GT(memory.most(), 0);
}

TEST(memory_share_test, has_no_descriptor_that_the_program_counts_on) {
    const temporary_folder folder;
    const auto lowest = [&] {
        const int fd = open((folder.path() / "file").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        close(fd);
        return fd;
    };
    const int before = lowest();
    memory_share memory;
    memory.start(INT64_MAX / 4);
    EXPECT_EQ(lowest(), before);
    memory.look(1);
    const int64_t known = memory.most();
    EXPECT_LT(known, INT64_MAX / 4);
    // By a system call that nobody sees: nothing is known then but what was set.
    for (const int own : calls::descriptors::own_numbers()) {
        if (own >= 0) close(own);
    }
    memory.look(2'000'000'000);
    EXPECT_EQ(memory.most(), INT64_MAX / 4);
}

TEST(open_files_test, a_descriptor_that_stands_for_another_file_is_noticed) {
    const temporary_folder folder;
    const auto opened = [&](const char* name) {
        return open((folder.path() / name).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    };
    const int first = opened("first"), second = opened("second");
    struct stat of {};
    ASSERT_EQ(fstat(first, &of), 0);
    const open_files::place known{1, first, true, of.st_dev, of.st_ino};
    int64_t bytes = 0;
    ASSERT_EQ(ftruncate(first, 1234), 0);
    EXPECT_TRUE(open_files::is_same(known, bytes));
    EXPECT_EQ(bytes, 1234);
    ASSERT_EQ(dup2(second, first), first);
    EXPECT_FALSE(open_files::is_same(known, bytes));
    close(first);
    close(second);
    EXPECT_FALSE(open_files::is_same(known, bytes));
}

benefit judged_after(int64_t asked_ns, int64_t control_ns, int64_t unused_bytes, int64_t work_ns) {
    benefit gain;
    for (int i = 0; i < 32; ++i) gain.read_asked(100'000, asked_ns);
    for (int i = 0; i < 4; ++i) gain.read_control(100'000, control_ns);
    gain.unused(unused_bytes);
    gain.worked(work_ns);
    EXPECT_TRUE(gain.is_due());
    return gain;
}

TEST(benefit_test, shorter_reads_pay_unless_work_or_waste_is_more) {
    EXPECT_TRUE(judged_after(1 * ms, 10 * ms, 0, 1 * ms).judge().pays);
    EXPECT_FALSE(judged_after(10 * ms, 10 * ms, 0, 1 * ms).judge().pays);
    EXPECT_FALSE(judged_after(1 * ms, 10 * ms, 0, 300 * ms).judge().pays);
    EXPECT_FALSE(judged_after(1 * ms, 10 * ms, 3'000'000, 1 * ms).judge().pays);
}

TEST(benefit_test, sizes_are_compared_with_their_own) {
    benefit gain;
    for (int i = 0; i < 32; ++i) gain.read_asked(1000, 1 * ms);
    for (int i = 0; i < 4; ++i) gain.read_control(10'000'000, 100 * ms);
    EXPECT_FALSE(gain.judge().pays);
}

/// Steps of `pieces` reads of 100 kB, with a pause before each; the storage takes 10 ms a piece, and reads as far ahead
/// as it is asked to. Returns the reads that had to wait in the last step.
int waits_in_last_step(reach& far, int pieces, int64_t pause_ns) {
    constexpr int64_t bytes = 100'000, piece_ns = 10 * ms;
    int64_t now = 0, stored = 0;  // pieces that the storage has read, times piece_ns
    int64_t ready = 0;
    int waits = 0;
    int64_t read = 0;
    for (int step = 0; step < 20; ++step) {
        waits = 0;
        now += pause_ns;
        for (int i = 0; i < pieces; ++i) {
            // Until now it read what it was asked for, that is up to `far` beyond the last read.
            while (stored < read + far.bytes() / bytes && ready + piece_ns <= now) {
                ready += piece_ns;
                ++stored;
            }
            if (stored >= read + far.bytes() / bytes) ready = now;
            const int64_t begin = now;
            if (stored <= read) {
                now = ready += piece_ns;
                ++stored;
                ++waits;
            }
            now += 10'000;
            far.read_asked(begin, now, bytes, now - begin > 1 * ms);
            ++read;
        }
    }
    return waits;
}

TEST(reach_test, grows_until_a_pause_suffices_and_no_farther) {
    reach far;
    EXPECT_LE(waits_in_last_step(far, 30, 400 * ms), 2);
    EXPECT_GE(far.bytes(), 30 * 100'000);
    EXPECT_LE(far.bytes(), 60 * 100'000);
}

TEST(reach_test, does_not_grow_for_storage_that_is_never_idle) {
    reach far;
    waits_in_last_step(far, 100, 200 * ms);
    EXPECT_LE(far.bytes(), 32 * 100'000);
}

}  // namespace
}  // namespace halcyon::predict::prefetch
