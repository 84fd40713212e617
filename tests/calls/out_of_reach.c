// Goes where the run's folder, or /proc, is not. Usage: out_of_reach <directory> <way>
//   chroot         the directory becomes the root; files are opened there in every manner, and a child writes
//   forked_user    children become another user before their first calls
//   raw_user       the same, by a system call that nobody sees
//   killed         as raw_user; then the parent is killed
//   files          opens files as after the chroot
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void need(int is_so, const char* what) {
    if (is_so) return;
    perror(what);
    exit(77);
}

static void write_some(int fd) {
    for (int i = 0; i < 1000; ++i) {
        if (write(fd, "x", 1) != 1) abort();
    }
}

static void write_in_every_manner(const char* root) {
    char path[4096];
    snprintf(path, sizeof path, "%s/absolute", root);
    write_some(open(path, O_WRONLY | O_CREAT, 0666));
    write_some(open("relative", O_WRONLY | O_CREAT, 0666));
    FILE* stream = fopen("stream", "w");
    for (int i = 0; i < 1000; ++i) fputc('x', stream);
    fclose(stream);
    const int directory = open(".", O_RDONLY | O_DIRECTORY);
    write_some(openat(directory, "beneath", O_WRONLY | O_CREAT, 0666));
    write_some(syscall(SYS_openat, AT_FDCWD, "unseen", O_WRONLY | O_CREAT, 0666));
    int ends[2];
    if (pipe(ends) != 0) abort();
    write_some(ends[1]);
}

// The C library's own, that nobody stands in front of.
static long unseen(long number, long a, long b, long c) {
    long (*function)(long, ...) = dlsym(dlopen("libc.so.6", RTLD_LAZY), "syscall");
    return function(number, a, b, c);
}

int main(int count, char** words) {
    (void)count;
    char path[4096];
    snprintf(path, sizeof path, "%s/before", words[1]);
    const int before = open(path, O_WRONLY | O_CREAT, 0666);
    write_some(before);
    if (strcmp(words[2], "files") == 0) {
        need(chdir(words[1]) == 0, "chdir");
        write_in_every_manner(words[1]);
        return 0;
    }
    if (strcmp(words[2], "chroot") == 0) {
        need(chroot(words[1]) == 0 && chdir("/") == 0, "chroot");
        write_some(before);
        write_in_every_manner("");
    }
    const int killed = strcmp(words[2], "killed") == 0;
    const int raw = killed || strcmp(words[2], "raw_user") == 0;
    for (int i = 0; i < 2; ++i) {
        const pid_t child = fork();
        if (child == 0) {
            need(raw ? unseen(SYS_setresuid, 65534, 65534, 65534) == 0 : setgid(65534) == 0 && setuid(65534) == 0,
                 "setuid");
            write_some(before);
            _exit(0);
        }
        int status = 1;
        if (waitpid(child, &status, 0) != child || status != 0) abort();
    }
    if (killed) kill(getpid(), SIGKILL);
    return 0;
}
