#include "logfs/mount/state/shared_file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>

#include "base/descriptor.hpp"
#include "plain_file.hpp"
#include "temporary_folder.hpp"

namespace halcyon::logfs {
namespace {

using tests::as_bytes;

class shared_files : public ::testing::Test {
  protected:
    void SetUp() override {
        how_.may_write = true;
        how_.creates = true;
        const std::string path = folder_.file("file");
        log_file made;
        ASSERT_TRUE(made.open(path, tests::identity(1), how_).ok());
        ASSERT_TRUE(made.write(0, as_bytes("hello")).ok());
        ASSERT_TRUE(made.close().ok());
        directory_ = descriptor(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    }

    void open_and_read(shared_file& file) const {
        ASSERT_TRUE(file.open_once(directory_.get(), tests::identity(2), how_).ok());
        tests::bytes read(5);
        ASSERT_EQ(file.read(0, read).value(), 5);
        ASSERT_EQ(tests::as_text(read), "hello");
    }

    halcyon::tests::temporary_folder folder_;
    opening how_;
    descriptor directory_;
};

TEST_F(shared_files, is_kept_when_nobody_uses_it) {
    shared_file file(file_key{}, folder_.file("file"));
    open_and_read(file);
    EXPECT_TRUE(file.rest());
    open_and_read(file);
}

// The thread that closes a file behind its last reader loses its core; meanwhile a writer opens and closes it.
TEST_F(shared_files, may_be_closed_at_any_moment_while_it_comes_to_rest) {
    constexpr int rounds = 300;
    for (int round = 0; round < rounds && !HasFailure(); ++round) {
        SCOPED_TRACE(round);
        shared_file file(file_key{}, folder_.file("file"));
        open_and_read(file);
        std::atomic<bool> begins{false};
        std::thread resting([&] {
            begins = true;
            file.rest();
        });
        while (!begins) std::this_thread::yield();
        for (int step = 0; step < round * 20; ++step) std::atomic_signal_fence(std::memory_order_seq_cst);
        EXPECT_TRUE(file.close().ok());
        resting.join();
        EXPECT_FALSE(file.rest());
    }
}

}  // namespace
}  // namespace halcyon::logfs
