// Cleaning of caches that takes long. syncfs is this file's, in the whole program.
#include "coordinate/agent/cache_cleaner.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <condition_variable>
#include <functional>
#include <mutex>

#include "temporary_folder.hpp"

namespace {

std::mutex mutex;
std::condition_variable changed;
int begun = 0, may_end = -1;  // -1: all

}  // namespace

extern "C" int syncfs(int fd) noexcept {
    std::unique_lock here(mutex);
    const int mine = ++begun;
    changed.notify_all();
    changed.wait(here, [&] { return may_end < 0 || mine <= may_end; });
    here.unlock();
    return static_cast<int>(::syscall(SYS_syncfs, fd));
}

namespace halcyon::coordinate {
namespace {

class cleaning : public testing::Test {
  protected:
    cleaning() {
        const std::lock_guard here(mutex);
        begun = may_end = 0;
    }
    ~cleaning() override { let(-1); }
    static void let(int many) {
        const std::lock_guard here(mutex);
        may_end = many;
        changed.notify_all();
    }
    static void await_begun(int many) {
        std::unique_lock here(mutex);
        changed.wait(here, [&] { return begun >= many; });
    }
    void await_event() const {
        uint64_t count = 0;
        EXPECT_EQ(::read(done_.get(), &count, sizeof count), static_cast<ssize_t>(sizeof count));
    }

    descriptor done_{::eventfd(0, EFD_CLOEXEC)};
    cache_cleaner cleaner_{"/tmp", done_.get()};
};

TEST_F(cleaning, is_asked_for_again_without_a_wait_and_is_done_when_the_last_one_is) {
    cleaner_.begin({});
    await_begun(1);
    cleaner_.begin({});  // would hang if it waited
    EXPECT_FALSE(cleaner_.take_done());
    let(1);
    await_begun(2);
    EXPECT_FALSE(cleaner_.take_done());  // what came between the two is not in the storage yet
    let(2);
    await_event();
    EXPECT_TRUE(cleaner_.take_done());
    EXPECT_FALSE(cleaner_.take_done());
}

TEST_F(cleaning, can_be_asked_for_when_the_one_before_has_ended) {
    let(-1);
    for (int i = 0; i < 3; ++i) {
        cleaner_.begin({});
        await_event();
        EXPECT_TRUE(cleaner_.take_done());
    }
}

/// In a process of a user who is not root: the number of the check that failed, or 0.
int as_other_user(const std::function<int()>& checks) {
    const pid_t pid = ::fork();
    if (pid == 0) {
        if (::getuid() == 0 && ::setresuid(65534, 65534, 65534) != 0) ::_exit(100);
        ::prctl(PR_SET_DUMPABLE, 1);  // /proc/self/fd is this user's again
        ::_exit(checks());
    }
    int status = 0;
    ::waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/// A mount that its users may pass, not read.
class unreadable_mount : public cleaning {
  protected:
    unreadable_mount() {
        ::chmod(folder_.path().c_str(), 0711);
        descriptor(::open((folder_.path() / "file").c_str(), O_CREAT | O_WRONLY, 0666));
        ::chmod((folder_.path() / "file").c_str(), 0666);
        ::chmod(folder_.path().c_str(), 0111);
        let(-1);
    }
    ~unreadable_mount() override { ::chmod(folder_.path().c_str(), 0700); }

    [[nodiscard]] std::string mount() const { return folder_.path().string(); }
    [[nodiscard]] uint64_t uncleaned_after_one() const {
        cache_cleaner cleaner(mount(), done_.get());
        cleaner.begin({::getpid()});
        await_event();
        return cleaner.take_done() ? cleaner.uncleaned() : 1000;
    }

    tests::temporary_folder folder_;
};

TEST_F(unreadable_mount, is_cleaned_through_what_a_process_has_open_there) {
    EXPECT_EQ(as_other_user([&] {
                  const descriptor file(::open((mount() + "/file").c_str(), O_WRONLY | O_CLOEXEC));
                  if (!file) return 1;
                  if (uncleaned_after_one() != 0) return 2;
                  return begun == 1 ? 0 : 3;
              }),
              0);
}

TEST_F(unreadable_mount, is_counted_where_nothing_is_open_there) {
    EXPECT_EQ(as_other_user([&] { return uncleaned_after_one() == 1 && begun == 0 ? 0 : 1; }), 0);
}

TEST_F(cleaning, is_tried_again_where_the_system_has_no_thread) {
    let(-1);
    EXPECT_EQ(as_other_user([&] {
                  cache_cleaner cleaner("/tmp", done_.get());
                  rlimit usual{};
                  ::getrlimit(RLIMIT_NPROC, &usual);
                  const rlimit none{0, usual.rlim_max};
                  ::setrlimit(RLIMIT_NPROC, &none);
                  cleaner.begin({});
                  if (cleaner.take_done()) return 1;
                  if (cleaner.threads_missing() == 0) return 2;
                  ::setrlimit(RLIMIT_NPROC, &usual);
                  if (cleaner.take_done()) return 3;  // begins only
                  await_event();
                  return cleaner.take_done() ? 0 : 4;
              }),
              0);
}

}  // namespace
}  // namespace halcyon::coordinate
