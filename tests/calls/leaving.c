// Leaves its user namespace, its root directory and its user, one after the other, and goes on writing.
// Usage: leaving <directory>
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void write_some(int fd) {
    for (int i = 0; i < 10000; ++i) {
        if (write(fd, "x", 1) != 1) abort();
    }
}

static void need(int result, const char* what) {
    if (result == 0) return;
    perror(what);
    exit(77);
}

int main(int count, char** words) {
    (void)count;
    char path[4096];
    snprintf(path, sizeof path, "%s/file", words[1]);
    const int fd = open(path, O_WRONLY | O_CREAT, 0600);
    write_some(fd);
    need(unshare(CLONE_NEWNS | CLONE_FS), "unshare");
    write_some(fd);
    need(chroot(words[1]), "chroot");
    need(chdir("/"), "chdir");
    write_some(fd);
    const int inside = open("inside", O_WRONLY | O_CREAT, 0666);
    write_some(inside);
    need(setgid(65534), "setgid");
    need(setuid(65534), "setuid");
    write_some(fd);
    const pid_t child = fork();  // its trace cannot be created from here
    if (child == 0) {
        write_some(inside);
        _exit(0);
    }
    int status = 1;
    if (waitpid(child, &status, 0) != child || status != 0) abort();
    return 0;
}
