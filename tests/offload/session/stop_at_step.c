/* stop_at_step STEP kill|hold REPORT PROGRAM [ARGUMENT ...]
 * stop_at_step STEP kill|hold REPORT --thread ID
 *
 * Runs PROGRAM in this process and stops it before its STEPth system call, counted over all its processes and threads
 * from its first one on. `kill`: all of its processes get SIGKILL; one alone may be that which has just forked off the
 * others, and is about to end anyway. `hold`: the process that is about to make the call stands still, and all others
 * with it as soon as they make a call, until a file REPORT.go appears. REPORT is written when STEP is reached: the
 * number of the system call. Without reaching it the program runs as if nothing were there.
 *
 * The tracer is a process of its own that the program's parent never sees: who waits for the program sees its end.
 * STEP 0 stops nothing and writes into REPORT how many calls were made when REPORT.count appeared, or until all ended.
 *
 * `--thread`: the same for the calls of one thread that runs already, and of no other. REPORT.traced appears when it is
 * traced. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { most_tasks = 256 };

static const char* report_path;
static long step, made;
static int kills;

static char* named(const char* ending) {
    static char path[4096];
    snprintf(path, sizeof path, "%s%s", report_path, ending);
    return path;
}

static void write_number(const char* path, long value) {
    const int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (file >= 0) dprintf(file, "%ld\n", value);
    close(file);
}

static _Noreturn void all_have_ended(void) {
    if (step == 0 && access(report_path, F_OK) != 0) write_number(report_path, made);
    _exit(0);
}

/* Until the file is there. Processes that are killed meanwhile are reaped: their parents wait for that. */
static void hold(pid_t task) {
    pid_t stopped[most_tasks] = {task};
    int count = 1;
    while (access(named(".go"), F_OK) != 0) {
        int status = 0;
        const pid_t other = waitpid(-1, &status, __WALL | WNOHANG);
        if (other < 0) all_have_ended();
        if (other > 0 && WIFSTOPPED(status) && count < most_tasks) stopped[count++] = other;
        if (other == 0) usleep(5000);
    }
    for (int i = 0; i < count; ++i) ptrace(PTRACE_CONT, stopped[i], 0, 0);
}

/* True when this was the stop that was asked for. */
static int at_call(pid_t task) {
    struct __ptrace_syscall_info call;
    memset(&call, 0, sizeof call);
    ptrace(PTRACE_GET_SYSCALL_INFO, task, sizeof call, &call);
    if (call.op != PTRACE_SYSCALL_INFO_ENTRY) return 0;
    ++made;
    if (step == 0 && access(named(".count"), F_OK) == 0) {
        write_number(report_path, made);
        return 1;
    }
    if (made != step) return 0;
    write_number(report_path, (long)call.entry.nr);
    if (kills) _exit(0); /* all that it traces are killed then: PTRACE_O_EXITKILL */
    return 1;
}

static _Noreturn void trace(void) {
    int done = 0;
    while (1) {
        int status = 0;
        const pid_t task = waitpid(-1, &status, __WALL);
        if (task < 0) all_have_ended();
        if (!WIFSTOPPED(status)) continue;
        const int signal = WSTOPSIG(status), event = status >> 16;
        if (signal == (SIGTRAP | 0x80)) {
            if (!done && at_call(task)) {
                done = 1;
                if (step > 0 && !kills) {
                    hold(task);
                    continue;
                }
            }
            ptrace(done ? PTRACE_CONT : PTRACE_SYSCALL, task, 0, 0);
            continue;
        }
        const int deliver = event == 0 && signal != SIGTRAP ? signal : 0;
        ptrace(done ? PTRACE_CONT : PTRACE_SYSCALL, task, 0, deliver);
    }
}

static long options(void) {
    return PTRACE_O_TRACESYSGOOD | (kills ? PTRACE_O_EXITKILL : 0);
}

static _Noreturn void trace_program(pid_t program) {
    const long of_all = PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC;
    if (ptrace(PTRACE_SEIZE, program, 0, options() | of_all) != 0) _exit(2);
    kill(program, SIGCONT);
    trace();
}

static _Noreturn void trace_thread(pid_t thread) {
    if (ptrace(PTRACE_SEIZE, thread, 0, options()) != 0 || ptrace(PTRACE_INTERRUPT, thread, 0, 0) != 0) _exit(2);
    int status = 0;
    if (waitpid(thread, &status, __WALL) != thread || ptrace(PTRACE_SYSCALL, thread, 0, 0) != 0) _exit(2);
    write_number(named(".traced"), thread);
    trace();
}

int main(int argc, char** argv) {
    if (argc < 5) return 2;
    step = atol(argv[1]);
    kills = strcmp(argv[2], "kill") == 0;
    report_path = argv[3];
    if (strcmp(argv[4], "--thread") == 0) trace_thread(argc > 5 ? (pid_t)atol(argv[5]) : 0);
    const pid_t program = getpid();
    const pid_t between = fork();
    if (between < 0) return 2;
    if (between == 0) {
        if (fork() != 0) _exit(0);
        setsid();
        syscall(SYS_close_range, 0, ~0U, 0);
        trace_program(program);
    }
    waitpid(between, NULL, 0);
    raise(SIGSTOP); /* until the tracer has taken hold */
    execv(argv[4], argv + 4);
    return 127;
}
