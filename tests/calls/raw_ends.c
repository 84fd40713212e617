// Ends, and becomes another program, with syscall(2). Usage: raw_ends <directory>
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

static void write_own(const char* directory, const char* name) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    const int fd = open(path, O_WRONLY | O_CREAT, 0600);
    if (write(fd, "0123456789", 10) != 10) abort();
}

static void await(pid_t child) {
    int status = 1;
    if (waitpid(child, &status, 0) != child || status != 0) abort();
}

int main(int count, char** words) {
    char* again[] = {words[0], words[1], "again", NULL};
    char* nothing[] = {NULL};
    if (count > 2) {
        write_own(words[1], words[2]);
        return 0;
    }
    pid_t child = fork();
    if (child == 0) {
        write_own(words[1], "ended");
        syscall(SYS_exit_group, 0);
    }
    await(child);
    child = fork();
    if (child == 0) {
        write_own(words[1], "became");
        syscall(SYS_execve, words[0], again, environ);
        _exit(9);
    }
    await(child);
    child = fork();
    if (child == 0) {
        write_own(words[1], "lost");
        syscall(SYS_execve, words[0], again, nothing);
        _exit(9);
    }
    await(child);
    if (syscall(SYS_execve, "/nowhere/program", again, environ) >= 0) abort();
    write_own(words[1], "after");
    return 0;
}
