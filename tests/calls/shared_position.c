// A file whose position children share, and move. Usage: shared_position <directory> <way>
//   quiet                            the child of a fork moves nothing; then a thousand writes, and as many reads
//   seldom                           the child writes after 500 and 700 of a thousand writes
//   turns                            parent and child write in turns
//   fork, raw_fork, raw_clone, raw_clone3, clone
//                                    a child of that make writes between two writes of its parent
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int file, to_child[2], to_parent[2];

static void need(int is_so) {
    if (!is_so) abort();
}

static void write_ten(void) {
    need(write(file, "0123456789", 10) == 10);
}

static void let_child_write(void) {
    char answer;
    need(write(to_child[1], "x", 1) == 1 && read(to_parent[0], &answer, 1) == 1);
}

static pid_t writing_child(void) {
    need(pipe(to_child) == 0 && pipe(to_parent) == 0);
    const pid_t child = fork();
    if (child != 0) return child;
    close(to_child[1]);
    char word;
    while (read(to_child[0], &word, 1) == 1) {
        write_ten();
        need(write(to_parent[1], "x", 1) == 1);
    }
    _exit(0);
}

static void many(const char* way) {
    const int quiet = strcmp(way, "quiet") == 0;
    const int turns = strcmp(way, "turns") == 0;
    const pid_t child = writing_child();
    for (int i = 0; i < 1000; ++i) {
        if (!quiet && (turns || i == 500 || i == 700)) let_child_write();
        write_ten();
    }
    close(to_child[1]);
    int status = 1;
    need(waitpid(child, &status, 0) == child && status == 0);
    char data[10];
    need(lseek(file, 0, SEEK_SET) == 0);
    for (int i = 0; quiet && i < 1000; ++i) need(read(file, data, 10) == 10);
}

static int write_and_end(void* nothing) {
    (void)nothing;
    write_ten();
    _exit(0);
}

static pid_t child_of(const char* way) {
    if (strcmp(way, "fork") == 0) return fork();
    if (strcmp(way, "raw_fork") == 0) return syscall(SYS_fork);
    if (strcmp(way, "raw_clone") == 0) return syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    struct clone_args wanted = {.exit_signal = SIGCHLD};
    if (strcmp(way, "raw_clone3") == 0) return syscall(SYS_clone3, &wanted, sizeof wanted);
    static char stack[65536] __attribute__((aligned(16)));
    return clone(write_and_end, stack + sizeof stack, SIGCHLD, NULL);
}

int main(int count, char** words) {
    (void)count;
    char path[4096];
    snprintf(path, sizeof path, "%s/file", words[1]);
    file = open(path, O_RDWR | O_CREAT, 0600);
    if (strcmp(words[2], "quiet") == 0 || strcmp(words[2], "seldom") == 0 || strcmp(words[2], "turns") == 0) {
        many(words[2]);
        return 0;
    }
    write_ten();
    const pid_t child = child_of(words[2]);
    need(child >= 0);
    if (child == 0) write_and_end(NULL);
    int status = 1;
    need(waitpid(child, &status, 0) == child && status == 0);
    write_ten();
    return 0;
}
