// A program that closes all descriptors in every way, and opens files under the numbers that became free.
// Usage: descriptors <directory> <way>
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

static int is(const char* way, const char* name) {
    return strcmp(way, name) == 0;
}

int main(int count, char** words) {
    (void)count;
    char path[4096];
    const char* way = words[2];
    const long most = sysconf(_SC_OPEN_MAX);
    snprintf(path, sizeof path, "%s/before", words[1]);
    if (write(open(path, O_WRONLY | O_CREAT, 0600), "before", 6) != 6) abort();
    snprintf(path, sizeof path, "%s/file", words[1]);
    const int file = open(path, O_RDWR | O_CREAT, 0600);
    if (write(file, "0123456789", 10) != 10) abort();
    if (is(way, "loop"))
        for (long fd = 3; fd < most; ++fd) close(fd);
    if (is(way, "all"))
        for (int fd = 0; fd < 1024; ++fd) close(fd);
    if (is(way, "range")) close_range(3, ~0U, 0);
    if (is(way, "range_of_all")) close_range(0, ~0U, 0);
    if (is(way, "from")) closefrom(3);
    if (is(way, "raw"))
        for (long fd = 3; fd < most; ++fd) syscall(SYS_close, fd);
    if (is(way, "raw_range")) syscall(SYS_close_range, 3, ~0U, 0);
    if (is(way, "over"))
        for (long fd = 3; fd < most; ++fd)
            if (fd != file) dup2(file, fd);
    if (is(way, "raw_over"))
        for (long fd = 3; fd < most; ++fd)
            if (fd != file) syscall(SYS_dup2, file, fd);
    // Numbers of ours are the application's now.
    if (is(way, "raw_over") || is(way, "over")) {
        for (long fd = 3; fd < most; ++fd) {
            if (fd != file && close(fd) != 0) abort();
        }
    }
    for (int i = 0; i < 5000; ++i) {
        const int fd = open(path, O_RDWR | O_CREAT | O_APPEND, 0600);
        if (fd < 0 || write(fd, "0123456789", 10) != 10 || close(fd) != 0) abort();
    }
    return 0;
}
