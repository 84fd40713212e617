#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

/// Processes that die at a call by which they change files.
namespace halcyon::logfs::tests {

/// By kind, and how many of that kind came before: a call more or less of another kind changes nothing of that.
struct file_change {
    std::string call;
    int before = 0;

    [[nodiscard]] std::string name() const { return call + " " + std::to_string(before + 1); }
    friend bool operator==(const file_change&, const file_change&) = default;
};

/// "": it changes nothing.
inline std::string change_of(const __ptrace_syscall_info& call) {
    const auto& given = call.entry;
    switch (given.nr) {
        case SYS_openat:
            return (given.args[2] & O_CREAT) != 0 ? "openat" : "";
        case SYS_pwrite64:
            return "pwrite64";
        case SYS_write:
            return "write";
        case SYS_ftruncate:
            return "ftruncate";
        case SYS_fchmod:
            return "fchmod";
        case SYS_fsync:
            return "fsync";
        case SYS_renameat2:
            return "renameat2";
        case SYS_unlinkat:
            return "unlinkat";
#ifdef SYS_open  // newer architectures have only those with a directory
        case SYS_open:
            return (given.args[1] & O_CREAT) != 0 ? "openat" : "";
        case SYS_rename:
            return "renameat2";
        case SYS_unlink:
        case SYS_rmdir:
            return "unlinkat";
#endif
        default:
            return "";
    }
}

/// Runs `work()` in a child, whose end has its result; `passes(change, is_made)` in front of each change and behind it:
/// false, and the child dies there. Whether it did.
template <class Work, class Passes>
bool follow(Work work, Passes passes) {
    const pid_t child = ::fork();
    if (child == 0) {
        ::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
        ::raise(SIGSTOP);
        ::_exit(work());
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    ::ptrace(PTRACE_SETOPTIONS, child, nullptr, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL);
    std::map<std::string, int> seen;
    file_change now;
    while (::ptrace(PTRACE_SYSCALL, child, nullptr, nullptr) == 0 && ::waitpid(child, &status, 0) == child &&
           WIFSTOPPED(status)) {
        __ptrace_syscall_info call{};
        ::ptrace(PTRACE_GET_SYSCALL_INFO, child, sizeof call, &call);
        bool is_made = false;
        if (call.op == PTRACE_SYSCALL_INFO_ENTRY) {
            now = {change_of(call), 0};
            if (!now.call.empty()) now.before = seen[now.call]++;
        } else {
            is_made = call.op == PTRACE_SYSCALL_INFO_EXIT;
            if (!is_made) continue;
        }
        if (now.call.empty() || passes(std::as_const(now), is_made)) continue;
        ::kill(child, SIGKILL);
        ::waitpid(child, &status, 0);
        return true;
    }
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
    return false;
}

/// All that `work()`, which returns 0, changes.
template <class Work>
std::vector<file_change> changes_of(Work work) {
    std::vector<file_change> all;
    follow(work, [&](const file_change& change, bool is_made) {
        if (!is_made) all.push_back(change);
        return true;
    });
    return all;
}

/// Whether it died: in front of the change, or behind it. Else it came to its end without one.
template <class Work>
bool dies_at(const file_change& wanted, bool is_made, Work work) {
    return follow(work,
                  [&](const file_change& change, bool was_made) { return was_made != is_made || change != wanted; });
}

}  // namespace halcyon::logfs::tests
