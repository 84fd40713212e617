// What a file that is read and written in turn costs: what is new in its index, and nothing else.
#include <fcntl.h>

#include <cstdint>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "logfs/backend/mounted_log.hpp"

namespace halcyon::logfs {
namespace {

using calls::child_process;
using calls::opened_file;
using calls::signpost;

class log_costs : public log_test {
  protected:
    struct reads {
        int64_t calls = 0;
        int64_t bytes = 0;
    };
    /// By system calls of this process; none of the kernel's: it does not count.
    static reads made() {
        std::ifstream counts("/proc/self/io");
        reads found;
        std::string name;
        for (int64_t count = 0; counts >> name >> count;) {
            if (name == "rchar:") found.bytes = count;
            if (name == "syscr:") found.calls = count;
        }
        return found;
    }
    void SetUp() override {
        if (made().calls == 0) GTEST_SKIP() << "the kernel does not count what is read (/proc/self/io)";
        log_test::SetUp();
    }
    int64_t somewhere() { return static_cast<int64_t>(random_() % 10'000) * 1000; }

    static constexpr size_t piece_bytes = 100;
    const std::string piece_ = std::string(piece_bytes, 'x');

  private:
    std::mt19937_64 random_{1};
};

TEST_F(log_costs, of_a_read_behind_each_own_write_are_its_data_and_the_last_block_of_the_index) {
    constexpr int rounds = 500;
    constexpr int64_t block = 4096;
    opened_file file(files(), path("f"), O_CREAT | O_RDWR);
    for (int many = 0; many < 4; ++many) {
        const reads before = made();
        for (int round = 0; round < rounds; ++round) {
            const int64_t place = somewhere();
            ASSERT_EQ(file.write(piece_, place), static_cast<ssize_t>(piece_bytes));
            ASSERT_EQ(file.read(piece_bytes, place), piece_);
        }
        const reads behind = made();
        EXPECT_LE(behind.calls - before.calls, rounds * 7 / 2);
        EXPECT_LE(behind.bytes - before.bytes, rounds * (int64_t{piece_bytes} + block + block / 2));
    }
}

TEST_F(log_costs, of_a_read_behind_others_writes_are_what_is_new_in_their_index) {
    constexpr int rounds = 40;
    constexpr int writes = 150;
    opened_file file(files(), path("f"), O_CREAT | O_RDWR);
    ASSERT_EQ(file.write(piece_, 0), static_cast<ssize_t>(piece_bytes));
    ASSERT_EQ(files().sync(file.handle(), false), 0);
    const signpost wanted;
    const signpost written;
    child_process other(files(), [&] {
        opened_file own(files(), path("f"), O_RDWR);
        for (int round = 0; round < rounds; ++round) {
            wanted.wait();
            for (int i = 0; i < writes; ++i) own.write(piece_, somewhere() + 1000);
            if (files().sync(own.handle(), false) != 0) return 1;
            written.set();
        }
        return 0;
    });
    std::vector<int64_t> bytes;
    for (int round = 0; round < rounds; ++round) {
        wanted.set();
        written.wait();
        const reads before = made();
        ASSERT_EQ(file.write(piece_, 0), static_cast<ssize_t>(piece_bytes));
        ASSERT_EQ(file.read(piece_bytes, 0), piece_);
        bytes.push_back(made().bytes - before.bytes);
    }
    EXPECT_EQ(other.result(), 0);
    int64_t early = 0;
    int64_t late = 0;
    for (int i = 0; i < 10; ++i) {
        early += bytes[static_cast<size_t>(i)];
        late += bytes[static_cast<size_t>(rounds - 1 - i)];
    }
    EXPECT_LE(late, early + early / 4) << "of 10 rounds, behind 30 others";
}

}  // namespace
}  // namespace halcyon::logfs
