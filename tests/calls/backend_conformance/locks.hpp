#pragma once

#include <sys/file.h>
#include <sys/mman.h>

#include "calls/backend_conformance/fixture.hpp"

namespace halcyon::calls {

inline struct flock range_of(short type, int64_t start, int64_t length) {
    struct flock range {};
    range.l_type = type;
    range.l_whence = SEEK_SET;
    range.l_start = start;
    range.l_len = length;
    return range;
}

inline int set_lock(file_backend& backend, const opened_file& file, short type, int64_t start, int64_t length,
                    int command = F_SETLK) {
    struct flock range = range_of(type, start, length);
    return backend.lock(file.handle(), command, range);
}

inline bool is_refusal(int result) {
    return result == -EAGAIN || result == -EACCES;
}

#define SKIP_WITHOUT_LOCKS() \
    if (!GetParam().locks) GTEST_SKIP() << "this backend has no locks of fcntl"
#define SKIP_WITHOUT_WHOLE_LOCKS() \
    if (!GetParam().whole_locks) GTEST_SKIP() << "this backend has no locks of flock"
#define CHECK_IN_CHILD(condition) \
    if (!(condition)) return __LINE__ % 256

TEST_P(backend_conformance, locked_ranges_keep_other_processes_out) {
    SKIP_WITHOUT_LOCKS();
    opened_file file(backend(), path("a"), O_CREAT | O_RDWR);
    opened_file other(backend(), path("b"), O_CREAT | O_RDWR);
    EXPECT_EQ(set_lock(backend(), file, F_WRLCK, 10, 10), 0);
    EXPECT_EQ(set_lock(backend(), file, F_RDLCK, 100, 0), 0);
    EXPECT_EQ(set_lock(backend(), file, F_WRLCK, 15, 10), 0) << "its own are in nobody's way";
    struct flock own = range_of(F_WRLCK, 0, 0);
    EXPECT_EQ(backend().lock(file.handle(), F_GETLK, own), 0);
    EXPECT_EQ(own.l_type, F_UNLCK);
    EXPECT_EQ(set_lock(backend(), file, F_WRLCK, -5, 10), -EINVAL);
    child_process child(backend(), [&] {
        CHECK_IN_CHILD(is_refusal(set_lock(backend(), file, F_WRLCK, 5, 6)));
        CHECK_IN_CHILD(is_refusal(set_lock(backend(), file, F_RDLCK, 24, 1)));
        CHECK_IN_CHILD(set_lock(backend(), file, F_WRLCK, 0, 10) == 0);
        CHECK_IN_CHILD(set_lock(backend(), file, F_WRLCK, 25, 75) == 0);
        CHECK_IN_CHILD(set_lock(backend(), file, F_RDLCK, 1000, 10) == 0);
        CHECK_IN_CHILD(is_refusal(set_lock(backend(), file, F_WRLCK, 1'000'000, 0)));
        CHECK_IN_CHILD(set_lock(backend(), other, F_WRLCK, 0, 0) == 0);
        struct flock held = range_of(F_WRLCK, 0, 0);
        CHECK_IN_CHILD(backend().lock(file.handle(), F_GETLK, held) == 0);
        CHECK_IN_CHILD(held.l_type == F_WRLCK && held.l_start == 10 && held.l_len == 15);
        held = range_of(F_WRLCK, 500, 20);
        CHECK_IN_CHILD(backend().lock(file.handle(), F_GETLK, held) == 0);
        CHECK_IN_CHILD(held.l_type == F_RDLCK && held.l_start == 100 && held.l_len == 0);
        return 0;
    });
    EXPECT_EQ(child.result(), 0);
    EXPECT_EQ(set_lock(backend(), file, F_UNLCK, 12, 2), 0);
    child_process second(backend(), [&] {
        CHECK_IN_CHILD(set_lock(backend(), file, F_WRLCK, 12, 2) == 0);
        CHECK_IN_CHILD(is_refusal(set_lock(backend(), file, F_WRLCK, 11, 2)));
        CHECK_IN_CHILD(is_refusal(set_lock(backend(), file, F_WRLCK, 14, 1)));
        return 0;
    });
    EXPECT_EQ(second.result(), 0);
}

TEST_P(backend_conformance, closing_any_of_a_files_handles_drops_its_locks) {
    SKIP_WITHOUT_LOCKS();
    opened_file file(backend(), path("a"), O_CREAT | O_RDWR);
    opened_file again(backend(), path("a"), O_RDONLY);
    opened_file other(backend(), path("b"), O_CREAT | O_RDWR);
    const auto others_get = [&] {
        child_process child(backend(), [&] {
            opened_file own(backend(), path("a"), O_RDWR);
            return set_lock(backend(), own, F_WRLCK, 0, 0) == 0 ? 1 : 0;
        });
        return child.result() == 1;
    };
    EXPECT_EQ(set_lock(backend(), file, F_WRLCK, 0, 1), 0);
    EXPECT_EQ(set_lock(backend(), other, F_WRLCK, 0, 1), 0);
    other.close();
    EXPECT_FALSE(others_get());
    again.close();
    EXPECT_TRUE(others_get());
}

TEST_P(backend_conformance, who_waits_for_a_range_gets_it_when_it_is_let_go) {
    SKIP_WITHOUT_LOCKS();
    opened_file file(backend(), path("a"), O_CREAT | O_RDWR);
    EXPECT_EQ(set_lock(backend(), file, F_WRLCK, 0, 0), 0);
    const signpost waits;
    child_process child(backend(), [&] {
        waits.set();
        CHECK_IN_CHILD(set_lock(backend(), file, F_WRLCK, 0, 0, F_SETLKW) == 0);
        CHECK_IN_CHILD(file.read(4, 0) == "done");
        return 0;
    });
    waits.wait();
    for (int turns = 0; turns < 1000; ++turns) sched_yield();
    EXPECT_EQ(file.write("done", 0), 4);
    EXPECT_EQ(set_lock(backend(), file, F_UNLCK, 0, 0), 0);
    EXPECT_EQ(child.result(), 0);
}

TEST_P(backend_conformance, a_killed_process_has_no_locks) {
    SKIP_WITHOUT_LOCKS();
    opened_file file(backend(), path("a"), O_CREAT | O_RDWR);
    const signpost holds;
    child_process child(backend(), [&] {
        CHECK_IN_CHILD(set_lock(backend(), file, F_WRLCK, 0, 0) == 0);
        holds.set();
        for (;;) pause();
        return 0;
    });
    holds.wait();
    EXPECT_TRUE(is_refusal(set_lock(backend(), file, F_WRLCK, 3, 1)));
    child.kill();
    EXPECT_EQ(set_lock(backend(), file, F_WRLCK, 3, 1, F_SETLKW), 0);
    EXPECT_EQ(child.result(), -SIGKILL);
}

/// An open file and the descriptor that a program would have of it.
class file_with_descriptor {
  public:
    file_with_descriptor(file_backend& of, const std::string& path)
        : backend_(of), file_(of, path, O_CREAT | O_RDWR), fd_(of.descriptor_of(file_.handle(), O_RDWR)) {
        if (fd_ == -ENOSYS) fd_ = memfd_create("placeholder", 0);
    }
    ~file_with_descriptor() { close(); }
    file_with_descriptor(const file_with_descriptor&) = delete;
    file_with_descriptor& operator=(const file_with_descriptor&) = delete;

    int lock(int operation) { return backend_.lock_whole(file_.handle(), fd_, operation); }
    void close() {
        file_.close();
        if (fd_ >= 0) ::close(fd_);
        fd_ = -1;
    }

  private:
    file_backend& backend_;
    opened_file file_;
    int fd_;
};

TEST_P(backend_conformance, whole_locks_belong_to_open_files) {
    SKIP_WITHOUT_WHOLE_LOCKS();
    file_with_descriptor first(backend(), path("a"));
    file_with_descriptor second(backend(), path("a"));
    file_with_descriptor other(backend(), path("b"));
    EXPECT_EQ(first.lock(LOCK_SH | LOCK_NB), 0);
    EXPECT_EQ(second.lock(LOCK_SH | LOCK_NB), 0);
    EXPECT_EQ(other.lock(LOCK_EX | LOCK_NB), 0);
    EXPECT_EQ(first.lock(LOCK_EX | LOCK_NB), -EWOULDBLOCK);
    EXPECT_EQ(first.lock(LOCK_UN), 0);
    EXPECT_EQ(second.lock(LOCK_EX | LOCK_NB), 0);
    EXPECT_EQ(second.lock(LOCK_EX | LOCK_NB), 0);
    EXPECT_EQ(first.lock(LOCK_SH | LOCK_NB), -EWOULDBLOCK);
    child_process child(backend(), [&] {
        CHECK_IN_CHILD(second.lock(LOCK_EX | LOCK_NB) == 0);  // the same open file
        CHECK_IN_CHILD(first.lock(LOCK_EX | LOCK_NB) == -EWOULDBLOCK);
        return 0;
    });
    EXPECT_EQ(child.result(), 0);
    EXPECT_EQ(first.lock(LOCK_SH | LOCK_NB), -EWOULDBLOCK) << "the child's end is not the open file's";
    second.close();
    EXPECT_EQ(first.lock(LOCK_EX | LOCK_NB), 0);
    EXPECT_EQ(first.lock(1234), -EINVAL);
}

TEST_P(backend_conformance, a_whole_lock_lasts_until_its_last_process_ends) {
    SKIP_WITHOUT_WHOLE_LOCKS();
    file_with_descriptor first(backend(), path("a"));
    file_with_descriptor second(backend(), path("a"));
    ASSERT_EQ(first.lock(LOCK_EX), 0);
    const signpost has_it;
    child_process child(backend(), [&] {
        second.close();
        has_it.set();
        for (;;) pause();
        return 0;
    });
    has_it.wait();
    first.close();
    EXPECT_EQ(second.lock(LOCK_SH | LOCK_NB), -EWOULDBLOCK);
    child.kill();
    EXPECT_EQ(second.lock(LOCK_SH), 0);
    EXPECT_EQ(child.result(), -SIGKILL);
}

TEST_P(backend_conformance, who_waits_for_a_whole_lock_gets_it) {
    SKIP_WITHOUT_WHOLE_LOCKS();
    file_with_descriptor first(backend(), path("a"));
    ASSERT_EQ(first.lock(LOCK_EX), 0);
    opened_file data(backend(), path("a"), O_RDWR);
    const signpost waits;
    child_process child(backend(), [&] {
        file_with_descriptor own(backend(), path("a"));
        waits.set();
        CHECK_IN_CHILD(own.lock(LOCK_EX) == 0);
        CHECK_IN_CHILD(data.read(4, 0) == "done");
        return 0;
    });
    waits.wait();
    for (int turns = 0; turns < 1000; ++turns) sched_yield();
    EXPECT_EQ(data.write("done", 0), 4);
    EXPECT_EQ(first.lock(LOCK_UN), 0);
    EXPECT_EQ(child.result(), 0);
}

}  // namespace halcyon::calls
