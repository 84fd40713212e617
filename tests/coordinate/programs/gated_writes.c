/* Holds transfers where a test wants them: the n-th one of a rank to the file GATED_FILE waits while the file
 * GATES/<gate>-<rank>-<n>.closed exists, having made GATES/<gate>-<rank>-<n>.reached, and makes ….left when it goes on.
 *
 * Compiled twice. With GATE "above", as part of a program: transfers that Halcyon has not seen yet. With GATE "below",
 * as a library that is loaded behind Halcyon's: transfers that are under way; GATES/done-<rank> has a byte for each
 * that has ended. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static const char* rank(void) {
    const char* const found = getenv("OMPI_COMM_WORLD_RANK");
    return found ? found : getenv("PMI_RANK");
}

static int is_gated(int fd) {
    struct stat wanted, given;
    const char* const file = getenv("GATED_FILE");
    return rank() && file && stat(file, &wanted) == 0 && fstat(fd, &given) == 0 && wanted.st_ino == given.st_ino;
}

static int exists(const char* path) {
    struct stat about;
    return stat(path, &about) == 0;
}

static void make(const char* name, const char* ending) {
    char path[1000];
    snprintf(path, sizeof path, "%s.%s", name, ending);
    close(open(path, O_CREAT | O_WRONLY, 0600));
}

static void pass_gate(void) {
    static int count = 0;
    char name[900], closed[1000];
    snprintf(name, sizeof name, "%s/%s-%s-%d", getenv("GATES"), GATE, rank(), ++count);
    snprintf(closed, sizeof closed, "%s.closed", name);
    if (!exists(closed)) return;
    make(name, "reached");
    while (exists(closed)) usleep(500);
    make(name, "left");
}

static void note_end(void) {
    char path[1000];
    snprintf(path, sizeof path, "%s/done-%s", getenv("GATES"), rank());
    const int fd = open(path, O_CREAT | O_APPEND | O_WRONLY, 0600);
    if (strcmp(GATE, "below") == 0 && write(fd, "x", 1) != 1) abort();
    close(fd);
}

#define GATED(name, type, ...)                             \
    {                                                      \
        type real = (type)dlsym(RTLD_NEXT, #name);         \
        const int gated = is_gated(fd);                    \
        if (gated) pass_gate();                            \
        const ssize_t moved = real(fd, data, __VA_ARGS__); \
        if (gated) note_end();                             \
        return moved;                                      \
    }
typedef ssize_t (*plain_call)(int, const void*, size_t, off_t);
typedef ssize_t (*vector_call)(int, const struct iovec*, int, off_t);

ssize_t pwrite(int fd, const void* data, size_t bytes, off_t at) GATED(pwrite, plain_call, bytes, at) ssize_t
    pwrite64(int fd, const void* data, size_t bytes, off_t at) GATED(pwrite64, plain_call, bytes, at) ssize_t
    pwritev(int fd, const struct iovec* data, int count, off_t at) GATED(pwritev, vector_call, count, at) ssize_t
    pwritev64(int fd, const struct iovec* data, int count, off_t at) GATED(pwritev64, vector_call, count, at)
