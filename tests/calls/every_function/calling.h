// Part of every_function.c: finding a function by its name, and saying what it must have moved.
#pragma once

#include <aio.h>
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <utime.h>
#include <wchar.h>

extern char** environ;
static const char* directory;
static char text[10001];

static void tell(const char* name, const char* kind, long bytes) {
    char line[200];
    const int length = snprintf(line, sizeof line, "%s %s %ld\n", name, kind, bytes);
    const int fd = syscall(SYS_open, getenv("TOLD"), O_WRONLY | O_APPEND | O_CREAT, 0600);
    syscall(SYS_write, fd, line, length);
    syscall(SYS_close, fd);
}

static void fail(const char* name, const char* what) {
    char line[300];
    const int length = snprintf(line, sizeof line, "%s: %s: %s\n", name, what, strerror(errno));
    syscall(SYS_write, 2, line, length);
    syscall(SYS_exit_group, 1);
}

static void* function(const char* name) {
    void* found = dlsym(RTLD_DEFAULT, name);
    if (found == NULL) fail(name, "no such function");
    return found;
}

#define CHECK(condition)                          \
    do {                                          \
        if (!(condition)) fail(name, #condition); \
    } while (0)
#define EACH(...) \
    for (const char *const *at = (const char*const[]){__VA_ARGS__, NULL}, *name = *at; (name = *at) != NULL; ++at)
#define CALL(type) ((type)function(name))

static char* path_of(const char* name) {
    static char paths[8][4096];
    static int next;
    char* path = paths[next++ % 8];
    snprintf(path, 4096, "%s/%s", directory, name);
    return path;
}

// Makes a file of so many bytes, by system calls that nobody sees; its path.
static char* made(const char* name, long bytes) {
    char* path = path_of(name);
    const int fd = syscall(SYS_open, path, O_CREAT | O_WRONLY | O_TRUNC, 0600);
    if (fd < 0 || syscall(SYS_write, fd, text, bytes) != bytes) fail(name, "make");
    syscall(SYS_close, fd);
    return path;
}

static int opened(const char* name, long bytes) {
    const int fd = open(made(name, bytes), O_RDWR);
    if (fd < 0) fail(name, "open");
    return fd;
}
