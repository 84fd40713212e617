// What the cases of stream_cases.c have in common.
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <wchar.h>

static const char* directory;

// Of a file in the directory; good for four calls.
static const char* path_of(const char* name) {
    static char paths[4][4096];
    static int next;
    char* path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", directory, name);
    return path;
}

#define CHECK(is_so) check(is_so, #is_so, __LINE__)
static void check(int is_so, const char* what, int line) {
    if (is_so) return;
    dprintf(1, "line %d: %s: %s\n", line, what, strerror(errno));
    _exit(3);
}

static void tell(const char* what, long result) {
    printf("%s %ld %s\n", what, result, result < 0 ? strerrorname_np(errno) : "");
}

static unsigned long long hash(const void* data, size_t bytes) {
    unsigned long long seen = 0xcbf29ce484222325u;
    for (size_t i = 0; i < bytes; ++i) seen = (seen ^ ((const unsigned char*)data)[i]) * 0x100000001b3u;
    return seen;
}

// Size and content of a file, in words where they are few, as a process sees them that reads it by a descriptor.
static void tell_file(const char* name) {
    static char data[1 << 22];
    const int fd = open(path_of(name), O_RDONLY);
    size_t bytes = 0;
    ssize_t got = 0;
    while (fd >= 0 && (got = read(fd, data + bytes, sizeof data - bytes)) > 0) bytes += (size_t)got;
    if (fd >= 0) close(fd);
    if (fd < 0)
        printf("%s: none\n", name);
    else if (bytes < 400)
        printf("%s: %zu <%.*s>\n", name, bytes, (int)bytes, data);
    else
        printf("%s: %zu %llx\n", name, bytes, hash(data, bytes));
}

static void put_file(const char* name, const char* text) {
    const int fd = open(path_of(name), O_CREAT | O_TRUNC | O_WRONLY, 0644);
    CHECK(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text) && close(fd) == 0);
}

static int status_of(pid_t child) {
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}
