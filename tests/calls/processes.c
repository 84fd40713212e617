// Children of every make, each with a file of its own. Usage: processes <directory>
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;
static const char* directory;
static char* self;

static void write_own(const char* name, int calls) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    const int fd = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
    for (int i = 0; i < calls; ++i) {
        if (write(fd, "0123456789", 10) != 10) abort();
    }
    close(fd);
}

static void await(pid_t child, const char* what) {
    int status = 0;
    if (child <= 0 || waitpid(child, &status, 0) != child || status != 0) {
        fprintf(stderr, "%s: status %d\n", what, status);
        abort();
    }
}

int main(int count, char** words) {
    self = words[0];
    directory = words[1];
    if (count > 2) {
        write_own(words[2], 100);
        return 0;
    }
    write_own("parent", 100);
    pid_t child = fork();
    if (child == 0) {
        write_own("forked", 100);
        if (fork() == 0) {
            write_own("twice", 100);
            exit(0);
        }
        wait(NULL);
        _exit(0);
    }
    await(child, "fork");
    child = syscall(SYS_fork);
    if (child == 0) {
        write_own("raw_fork", 100);
        exit(0);
    }
    await(child, "raw fork");
    child = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    if (child == 0) {
        write_own("raw_clone", 100);
        exit(0);
    }
    await(child, "raw clone");
    child = vfork();
    if (child == 0) {
        const int out = open("/dev/null", O_WRONLY);
        dup2(out, 1);
        close(out);
        execl(self, self, directory, "vforked", NULL);
        _exit(9);
    }
    await(child, "vfork");
    char* nothing[] = {NULL};
    char* cleared[] = {self, (char*)directory, "cleared", NULL};
    child = fork();
    if (child == 0) {
        execle("/usr/bin/env", "env", "-i", self, directory, "env_i", NULL, nothing);
        _exit(9);
    }
    await(child, "env -i");
    if (posix_spawn(&child, self, NULL, NULL, cleared, nothing) != 0) abort();
    await(child, "posix_spawn");
    // Becoming another program fails, and this one goes on.
    if (execl("/nowhere/program", "program", NULL) >= 0 || execl(directory, "directory", NULL) >= 0) abort();
    write_own("after_exec", 100);
    write_own("parent", 100);
    return 0;
}
