// Locks that a process may hold.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "coordinate/layer/called_layer.hpp"

namespace halcyon::tests {
namespace {

class locks : public testing::Test {
  protected:
    locks() { book_.start(held_); }
    static call_record of(call_id function, uint32_t file, int64_t begin, int64_t bytes) {
        call_record record = calls::blank_record(function);
        record.file = file;
        record.offset = begin;
        record.bytes = bytes;
        return record;
    }
    void take(uint32_t file, int64_t begin, int64_t bytes, int fd = 5) {
        book_.taken(of(call_id::fcntl_lock, file, begin, bytes), fd);
    }
    void give(uint32_t file, int64_t begin, int64_t bytes, int fd = 5) {
        book_.given_back(of(call_id::fcntl_unlock, file, begin, bytes), fd);
    }

    std::atomic<uint32_t> held_{0};
    lock_book book_;
};

TEST_F(locks, are_given_back_by_a_range_that_covers_them) {
    take(1, 100, 10);
    give(1, 100, 5);
    EXPECT_EQ(held_, 1U);
    give(2, 0, 0);
    EXPECT_EQ(held_, 1U);
    give(1, 90, 20);
    EXPECT_EQ(held_, 0U);
    take(1, 100, 0);
    give(1, 0, 1 << 30);
    EXPECT_EQ(held_, 1U);
    give(1, 0, 0);
    EXPECT_EQ(held_, 0U);
}

TEST_F(locks, count_once_when_they_are_taken_again) {
    take(1, 0, 0);
    take(1, 0, 0);
    EXPECT_EQ(held_, 1U);
}

TEST_F(locks, of_flock_are_no_locks_of_ranges) {
    book_.taken(of(call_id::flock, 1, calls::none, calls::none), 5);
    give(1, 0, 0);
    EXPECT_EQ(held_, 1U);
    book_.given_back(of(call_id::flock_unlock, 1, calls::none, calls::none), 6);
    EXPECT_EQ(held_, 1U);  // by another description of the same file
    book_.given_back(of(call_id::flock_unlock, 1, calls::none, calls::none), 5);
    EXPECT_EQ(held_, 0U);
}

TEST_F(locks, go_with_their_descriptor_unless_that_was_duplicated) {
    take(1, 0, 0, 5);
    book_.closed(6);
    EXPECT_EQ(held_, 1U);
    book_.closed(5);
    EXPECT_EQ(held_, 0U);
    take(1, 0, 0, 5);
    book_.duplicated(5);
    book_.closed(5);
    EXPECT_EQ(held_, 1U);
    give(1, 0, 0, 9);
    EXPECT_EQ(held_, 0U);
}

/// What a child of fork finds in its copy of the book.
class inherited_locks : public locks {
  protected:
    inherited_locks() { EXPECT_GE(fd_, 0); }
    ~inherited_locks() override { ::close(fd_); }
    [[nodiscard]] int of_child() {
        const pid_t child = ::fork();
        if (child == 0) {
            std::atomic<uint32_t> held{0};
            book_.start(held);
            ::_exit(static_cast<int>(held.load()));
        }
        int status = 0;
        ::waitpid(child, &status, 0);
        return WEXITSTATUS(status);
    }
    void lock_range(int command) const {
        struct flock range {};
        range.l_type = F_WRLCK;
        range.l_whence = SEEK_SET;
        range.l_len = 10;
        EXPECT_EQ(::fcntl(fd_, command, &range), 0);
    }

    int fd_ = ::memfd_create("locked", MFD_CLOEXEC);
};

TEST_F(inherited_locks, are_those_of_flock) {
    EXPECT_EQ(of_child(), 0);
    book_.taken(of(call_id::flock, 1, calls::none, calls::none), fd_);
    EXPECT_EQ(of_child(), 1);
}

TEST_F(inherited_locks, are_not_those_of_the_parent_process) {
    lock_range(F_SETLK);
    take(1, 0, 10, fd_);
    EXPECT_EQ(of_child(), 0);
}

TEST_F(inherited_locks, are_those_of_open_file_descriptions) {
    lock_range(F_OFD_SETLK);
    take(1, 0, 10, fd_);
    EXPECT_EQ(of_child(), 1);
}

TEST_F(locks, beyond_those_there_is_room_for_are_held_for_good) {
    for (int64_t i = 0; i < 200; ++i) take(1, i * 10, 5);
    give(1, 0, 0);
    EXPECT_EQ(held_, 1U);
}

}  // namespace
}  // namespace halcyon::tests
