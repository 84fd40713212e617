#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "open_container.hpp"
#include "watched_files.hpp"

namespace halcyon::logfs {
namespace {

using tests::as_bytes;
using tests::open_container;

/// As many as a large run has, in a process that may have 300 files open.
TEST(many_writers, are_read_with_few_descriptors_and_little_memory) {
    constexpr int64_t writers = 10240;
    tests::watched_files calls;
    int open = 0;
    int most = 0;
    calls.behind = [&](std::string_view call) {
        if (call == "open") most = std::max(most, ++open);
        if (call == "close") --open;
    };
    rlimit before{};
    getrlimit(RLIMIT_NOFILE, &before);
    const rlimit few{300, before.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
    open_container in(calls);
    for (int64_t rank = 0; rank < writers; ++rank) {
        writer to(in.of());
        ASSERT_TRUE(to.open(tests::identity(rank, "node" + std::to_string(rank / 64))).ok());
        const std::string data(16, static_cast<char>('a' + rank % 26));
        for (int64_t i = 0; i < 3; ++i) to.write((i * writers + rank) * 16, as_bytes(data)).value();
        // Some were killed.
        if (rank % 10 == 0)
            to.abandon();
        else
            ASSERT_TRUE(to.close().ok());
    }
    const int at_rest = open;
    most = open;
    reader_options how = tests::beside_writers();
    how.most_memory_bytes = uint64_t{200} << 20;
    const auto from = in.new_reader(how);
    const auto done = from->reload();
    ASSERT_TRUE(done.ok()) << done.why().message;
    EXPECT_EQ(from->writers().size(), writers);
    const auto contents = tests::all_of(*from);
    ASSERT_EQ(contents.size(), static_cast<size_t>(writers * 3 * 16));
    for (size_t i = 0; i < contents.size(); ++i)
        ASSERT_EQ(contents[i], static_cast<std::byte>('a' + i / 16 % writers % 26)) << i;
    EXPECT_LE(most - at_rest, 256);
    EXPECT_LE(from->memory().peak(), uint64_t{200} << 20);
    EXPECT_EQ(from->torn_writers(), 0U);
    setrlimit(RLIMIT_NOFILE, &before);
}

/// What a reader keeps of patterns does not grow with the writes.
TEST(many_writes, of_patterns_take_no_more_memory) {
    uint64_t few = 0;
    uint64_t many = 0;
    for (const int64_t writes : {1000, 100000}) {
        open_container in;
        const std::string data(8, 'x');
        writer& to = in.add_writer(1);
        for (int64_t i = 0; i < writes; ++i) to.write(i * 32, as_bytes(data)).value();
        in.close_writers();
        const auto from = in.new_reader();
        ASSERT_TRUE(from->reload().ok());
        EXPECT_EQ(from->size(), (writes - 1) * 32 + 8);
        (writes == 1000 ? few : many) = from->memory().peak();
    }
    // Pauses of the machine begin new patterns.
    EXPECT_LE(many, few + 100'000);
}

}  // namespace
}  // namespace halcyon::logfs
