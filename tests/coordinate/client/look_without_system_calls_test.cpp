// A program that looks whether it is its turn, between two steps of its computation, makes no system call for that.
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <cstddef>
#include <iterator>

#include "coordinate/client/program_turns.hpp"
#include "sanitized.hpp"

namespace halcyon::tests {
namespace {

constexpr int no_filters = 77;

/// From now on a system call kills this process, but for its end, and the time, for which the C library asks the kernel
/// on some machines. False: the system has no such filters.
bool forbid_system_calls() {
    sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clock_gettime, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    sock_fprog program{static_cast<unsigned short>(std::size(filter)), filter};
    return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

/// In a child, which has the same page. 0: `holds()`, and no system call was made; 1: it does not hold; negative: the
/// signal by which the child ended.
template <class Condition>
int without_system_calls(Condition holds) {
    const pid_t child = ::fork();
    if (child == 0) {
        if (!forbid_system_calls()) ::_exit(no_filters);
        ::_exit(holds() ? 0 : 1);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

class look_without_system_calls : public program_turn_test {
  protected:
    void SetUp() override {
        if (sanitized) GTEST_SKIP() << "sanitizers make system calls of their own";
        if (without_system_calls([] { return true; }) == no_filters)
            GTEST_SKIP() << "this system has no filters of system calls (seccomp)";
    }
};

TEST_F(look_without_system_calls, says_no_while_another_one_has_the_turn) {
    give(permission::waiting);
    program asks(page_, 1);
    asks.begin();
    EXPECT_EQ(without_system_calls([&] { return !asks.try_take(); }), 0);
}

TEST_F(look_without_system_calls, takes_the_turn_when_it_is_the_programs) {
    give(permission::allowed);
    program asks(page_, 1);
    asks.begin();
    EXPECT_EQ(without_system_calls([&] { return asks.try_take() && asks.is_kept(); }), 0);
    EXPECT_EQ(state().under_way, 1) << "the child has taken it";
}

TEST_F(look_without_system_calls, says_that_others_are_to_have_the_turn_which_is_held) {
    give(permission::allowed);
    program holds(page_, 1);
    holds.begin();
    holds.take();
    give(permission::stop, 1);
    EXPECT_EQ(without_system_calls([&] { return !holds.is_kept(); }), 0);
}

}  // namespace
}  // namespace halcyon::tests
