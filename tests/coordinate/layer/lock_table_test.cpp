// Locks that a process may hold.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include <new>
#include <utility>

#include "coordinate/layer/called_layer.hpp"
#include "coordinate/page/held_locks.hpp"

namespace halcyon::tests {
namespace {

class locks : public testing::Test {
  protected:
    locks() { table_.start(slot_); }
    static call_record of(call_id function, uint32_t file, int64_t begin, int64_t bytes) {
        call_record record = calls::blank_record(function);
        record.file = file;
        record.offset = begin;
        record.bytes = bytes;
        return record;
    }
    void take(uint32_t file, int64_t begin, int64_t bytes, int fd = 5) {
        table_.taken(of(call_id::fcntl_lock, file, begin, bytes), fd);
    }
    void give(uint32_t file, int64_t begin, int64_t bytes, int fd = 5) {
        table_.given_back(of(call_id::fcntl_unlock, file, begin, bytes), fd);
    }

    process_slot slot_{};
    std::atomic<uint32_t>& held_ = slot_.locks;
    lock_table table_;
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
    table_.taken(of(call_id::flock, 1, calls::none, calls::none), 5);
    give(1, 0, 0);
    EXPECT_EQ(held_, 1U);
    table_.given_back(of(call_id::flock_unlock, 1, calls::none, calls::none), 6);
    EXPECT_EQ(held_, 1U);  // by another description of the same file
    table_.given_back(of(call_id::flock_unlock, 1, calls::none, calls::none), 5);
    EXPECT_EQ(held_, 0U);
}

TEST_F(locks, of_flock_are_given_back_by_a_duplicate) {
    const call_record lock = of(call_id::flock, 1, calls::none, calls::none);
    const call_record unlock = of(call_id::flock_unlock, 1, calls::none, calls::none);
    table_.taken(lock, 5);
    table_.duplicated(5);
    table_.given_back(unlock, 6);
    EXPECT_EQ(held_, 0U);
    table_.taken(lock, 5);
    table_.duplicated(5);
    table_.taken(lock, 7);
    table_.given_back(unlock, 7);
    EXPECT_EQ(held_, 1U);  // its own, not the duplicated one
    table_.taken(lock, 8);
    table_.duplicated(8);
    table_.given_back(unlock, 6);
    EXPECT_EQ(held_, 2U);  // one of two, and nobody knows which
}

TEST_F(locks, go_with_their_descriptor_unless_that_was_duplicated) {
    take(1, 0, 0, 5);
    table_.closed(6);
    EXPECT_EQ(held_, 1U);
    table_.closed(5);
    EXPECT_EQ(held_, 0U);
    take(1, 0, 0, 5);
    table_.duplicated(5);
    table_.closed(5);
    EXPECT_EQ(held_, 1U);
    give(1, 0, 0, 9);
    EXPECT_EQ(held_, 0U);
}

TEST(locks_of_the_program_before, count_behind_exec_only_where_a_descriptor_still_has_one) {
    const int fd = ::memfd_create("locked", 0);
    for (const int operation : {LOCK_UN, LOCK_EX}) {
        EXPECT_EQ(::flock(fd, operation), 0);
        process_slot slot{};
        slot.locks = 3;
        slot.inherited_locks = 2;
        lock_table of_new_program;
        of_new_program.start(slot);
        EXPECT_EQ(slot.locks, operation == LOCK_EX ? 1U : 0U);
        EXPECT_EQ(slot.inherited_locks, 0U);
        EXPECT_EQ(held_locks::may_hold_any(slot), operation == LOCK_EX);
    }
    ::close(fd);
}

/// What a child of fork finds in its copy of the table.
class inherited_locks : public locks {
  protected:
    inherited_locks() { EXPECT_GE(fd_, 0); }
    ~inherited_locks() override { ::close(fd_); }
    [[nodiscard]] int of_child() {
        const pid_t child = ::fork();
        if (child == 0) {
            process_slot slot{};
            table_.start(slot);
            ::_exit(static_cast<int>(slot.locks.load()));
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

/// Waits in its first step, and says whether a lock may be held in its second.
class waiting_child {
  public:
    /// `begin(table, slot)` in the child, before it answers that it is ready.
    template <class Begin>
    waiting_child(lock_table& table, const Begin& begin) {
        EXPECT_EQ(::pipe2(to_child_, O_CLOEXEC) + ::pipe2(from_child_, O_CLOEXEC), 0);
        ::new (slot_) process_slot{};
        pid_ = ::fork();
        if (pid_ != 0) {
            char ready = 0;
            EXPECT_EQ(::read(from_child_[0], &ready, 1), 1);
            return;
        }
        slot_->owner = process_slot::owner_of(::getpid(), 1);
        table.start(*slot_);
        begin(table, *slot_);
        char word = 0;
        static_cast<void>(::write(from_child_[1], &word, 1) == 1);
        static_cast<void>(::read(to_child_[0], &word, 1) == 1);
        ::_exit(0);
    }
    ~waiting_child() {
        EXPECT_EQ(::write(to_child_[1], "", 1), 1);
        for (const int fd : {to_child_[0], to_child_[1], from_child_[0], from_child_[1]}) ::close(fd);
        ::waitpid(pid_, nullptr, 0);
        ::munmap(slot_, sizeof *slot_);
    }
    waiting_child(const waiting_child&) = delete;
    waiting_child& operator=(const waiting_child&) = delete;
    /// As any process of the job sees it.
    [[nodiscard]] bool may_hold() const { return held_locks::may_hold_any(*slot_); }

  private:
    process_slot* slot_ = static_cast<process_slot*>(
        ::mmap(nullptr, sizeof(process_slot), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    int to_child_[2] = {-1, -1}, from_child_[2] = {-1, -1};
    pid_t pid_ = 0;
};
constexpr auto nothing = [](lock_table&, process_slot&) {};

TEST_F(inherited_locks, are_those_of_flock) {
    EXPECT_EQ(of_child(), 0);
    table_.taken(of(call_id::flock, 1, calls::none, calls::none), fd_);
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

TEST_F(inherited_locks, are_gone_when_the_parent_gives_them_back) {
    ::flock(fd_, LOCK_EX);
    table_.taken(of(call_id::flock, 1, calls::none, calls::none), fd_);
    const waiting_child child(table_, nothing);
    EXPECT_TRUE(child.may_hold());
    ::flock(fd_, LOCK_UN);
    EXPECT_FALSE(child.may_hold());
    EXPECT_EQ(of_child(), 0) << "nor does the next child have it";
}

TEST_F(inherited_locks, of_ranges_are_gone_when_the_parent_gives_them_back) {
    lock_range(F_OFD_SETLK);
    take(1, 0, 10, fd_);
    const waiting_child child(table_, nothing);
    EXPECT_TRUE(child.may_hold());
    struct flock range {};
    range.l_type = F_UNLCK;
    range.l_whence = SEEK_SET;
    EXPECT_EQ(::fcntl(fd_, F_OFD_SETLK, &range), 0);
    EXPECT_FALSE(child.may_hold());
}

TEST_F(inherited_locks, are_held_on_when_the_parent_closes_its_descriptor) {
    ::flock(fd_, LOCK_EX);
    table_.taken(of(call_id::flock, 1, calls::none, calls::none), fd_);
    const waiting_child child(table_, nothing);
    ::close(std::exchange(fd_, -1));
    EXPECT_TRUE(child.may_hold());
}

TEST_F(inherited_locks, that_the_child_takes_anew_are_its_own) {
    ::flock(fd_, LOCK_EX);
    const call_record lock = of(call_id::flock, 1, calls::none, calls::none);
    table_.taken(lock, fd_);
    const waiting_child child(table_, [&](lock_table& table, process_slot& slot) {
        ::flock(fd_, LOCK_UN);
        EXPECT_FALSE(held_locks::may_hold_any(slot));
        ::flock(fd_, LOCK_EX);
        table.taken(lock, fd_);
    });
    EXPECT_TRUE(child.may_hold());
}

/// The kernel cannot be asked about the duplicate, which is not known.
TEST_F(inherited_locks, count_as_held_when_the_child_has_duplicated_the_descriptor) {
    ::flock(fd_, LOCK_EX);
    table_.taken(of(call_id::flock, 1, calls::none, calls::none), fd_);
    const waiting_child child(table_, [&](lock_table& table, process_slot&) {
        EXPECT_GE(::dup(fd_), 0);
        table.duplicated(fd_);
        ::close(fd_);
        table.closed(fd_);
    });
    EXPECT_TRUE(child.may_hold());
}

/// Some file systems keep flock's locks to themselves: there the kernel shows none.
TEST_F(inherited_locks, that_the_kernel_has_never_shown_count_as_held) {
    table_.taken(of(call_id::flock, 1, calls::none, calls::none), fd_);
    const waiting_child child(table_, nothing);
    EXPECT_TRUE(child.may_hold());
}

TEST_F(locks, beyond_those_there_is_room_for_are_held_for_good) {
    for (int64_t i = 0; i < 200; ++i) take(1, i * 10, 5);
    give(1, 0, 0);
    EXPECT_EQ(held_, 1U);
}

}  // namespace
}  // namespace halcyon::tests
