// Runs a program with libhalcyon-io.so preloaded, and kills it when it, or a thread of it, enters or leaves the kernel
// for the given time after recording began with uname. Exits with 0 when the program had ended before, with 1 when it
// was killed, with 77 where that cannot be done.
//
// killed_at TIME LIBRARY PROGRAM ARGUMENTS…
#include <signal.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static pid_t started(char** words) {
    const pid_t child = fork();
    if (child != 0) return child;
    ptrace(PTRACE_TRACEME, 0, 0, 0);
    raise(SIGSTOP);
    setenv("LD_PRELOAD", words[2], 1);
    execv(words[3], words + 3);
    _exit(2);
}

static int asks_for_the_name_of_the_node(pid_t stopped) {
    struct __ptrace_syscall_info info;
    return ptrace(PTRACE_GET_SYSCALL_INFO, stopped, sizeof info, &info) > 0 && info.op == PTRACE_SYSCALL_INFO_ENTRY &&
           info.entry.nr == SYS_uname;
}

int main(int count, char** words) {
    if (count < 4) return 2;
    const long last = atol(words[1]);
    const pid_t child = started(words);
    int status = 0;
    waitpid(child, &status, 0);
    const long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL;
    if (ptrace(PTRACE_SETOPTIONS, child, 0, options) != 0) return 77;
    ptrace(PTRACE_SYSCALL, child, 0, 0);
    int begun = 0;
    for (long stops = 0;;) {
        const pid_t stopped = waitpid(-1, &status, __WALL);
        if (stopped < 0) return 2;
        if (!WIFSTOPPED(status)) {
            if (stopped == child) return WIFSIGNALED(status) ? 1 : WEXITSTATUS(status);
            continue;  // a thread of it
        }
        int sent = WSTOPSIG(status);
        if (sent == (SIGTRAP | 0x80) && !begun) begun = asks_for_the_name_of_the_node(stopped);
        if (sent == (SIGTRAP | 0x80) && begun && ++stops == last) {
            kill(child, SIGKILL);
            continue;
        }
        if (sent == (SIGTRAP | 0x80) || sent == SIGTRAP || sent == SIGSTOP) sent = 0;
        ptrace(PTRACE_SYSCALL, stopped, 0, sent);
    }
}
