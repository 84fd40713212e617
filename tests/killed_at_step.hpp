#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace halcyon::tests {

/// Whether a call, at its entry, may change what is on the disk, or who has a lock. What is synced is the same before
/// and behind that, but between two syncs a program may store into mapped files.
inline bool changes_files(const __ptrace_syscall_info& call) {
    if (call.op != PTRACE_SYSCALL_INFO_ENTRY) return false;
    switch (call.entry.nr) {
        case SYS_openat:
            return (call.entry.args[2] & O_CREAT) != 0;
#if defined(__x86_64__)
        case SYS_open:
            return (call.entry.args[1] & O_CREAT) != 0;
        case SYS_rename:
        case SYS_unlink:
        case SYS_mkdir:
        case SYS_rmdir:
#endif
        case SYS_renameat:
        case SYS_renameat2:
        case SYS_unlinkat:
        case SYS_mkdirat:
        case SYS_linkat:
        case SYS_symlinkat:
        case SYS_ftruncate:
        case SYS_fallocate:
        case SYS_write:
        case SYS_pwrite64:
        case SYS_pwritev:
        case SYS_fchmod:
        case SYS_fchmodat:
        case SYS_utimensat:
        case SYS_flock:
        case SYS_fsync:
        case SYS_fdatasync:
            return true;
        case SYS_fcntl:
            return call.entry.args[1] == F_SETLK || call.entry.args[1] == F_SETLKW ||
                   call.entry.args[1] == F_OFD_SETLK || call.entry.args[1] == F_OFD_SETLKW;
        default:
            return false;
    }
}

/// Runs `work` in a process that is killed before (even `step`) or after (odd) it changes files for the (step/2)th
/// time. The process stays a zombie until `looked` has run. False: it ended before.
template <class Work, class Looked>
bool killed_at(long step, Work work, Looked looked) {
    const pid_t child = fork();
    if (child == 0) {
        ptrace(PTRACE_TRACEME, 0, 0, 0);
        raise(SIGSTOP);
        work();
        _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    ptrace(PTRACE_SETOPTIONS, child, 0, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL);
    bool inside = false;
    for (long done = 0; ptrace(PTRACE_SYSCALL, child, 0, 0) == 0 && waitpid(child, &status, 0) == child;) {
        if (!WIFSTOPPED(status)) return false;
        __ptrace_syscall_info call{};
        ptrace(PTRACE_GET_SYSCALL_INFO, child, sizeof call, &call);
        const bool entered = changes_files(call);
        if ((entered || inside) && done++ == step) break;
        inside = entered;
    }
    kill(child, SIGKILL);
    siginfo_t end{};
    waitid(P_PID, static_cast<id_t>(child), &end, WEXITED | WNOWAIT);
    looked();
    waitpid(child, &status, 0);
    return true;
}

}  // namespace halcyon::tests
