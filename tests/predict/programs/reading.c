// Reads a file of its own in the folder that it is told, by patterns; checks each byte, and tells what of the file is
// in memory before it is read:
//
//     reading PATTERN FOLDER
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { piece = 16384, stride = 8 * piece, pieces = 256, threads = 4 };
static const int64_t file_bytes = (int64_t)pieces * stride;

static char byte_at(int64_t offset, int file) {
    return (char)(offset / 512 * 7 + offset + file);
}

static void fail(const char* what) {
    perror(what);
    exit(1);
}

static void make(const char* path, int file) {
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    char* data = malloc(stride);
    for (int64_t at = 0; at < file_bytes; at += stride) {
        for (int i = 0; i < stride; ++i) data[i] = byte_at(at + i, file);
        if (write(fd, data, stride) != stride) fail("write");
    }
    free(data);
    if (fsync(fd) != 0) fail("fsync");
    close(fd);
}

/// A descriptor of it, with nothing of it in memory and nothing that the kernel reads ahead by itself.
static int cold(const char* path) {
    const int fd = open(path, O_RDONLY);
    if (fd < 0) fail(path);
    posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM);
    return fd;
}

/// Past every layer.
static long past(long number, long a, long b, long c, long d, long e, long f) {
#if defined(__x86_64__)
    long result;
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
#else
    return syscall(number, a, b, c, d, e, f);
#endif
}

/// Whether the page cache has it, or is about to: the kernel was asked. A look that asks for nothing, unlike mincore's
/// and preadv2's.
static int is_in_memory(int fd, int64_t offset) {
    const struct { uint64_t offset, bytes; } range = {(uint64_t)offset, 1};
    struct {
        uint64_t cached, others[4];
    } found = {0};
    if (past(451, fd, (long)&range, (long)&found, 0, 0, 0) != 0) {  // cachestat
        puts("no cachestat");
        exit(0);
    }
    return found.cached == 1;
}

static void check(int fd, int64_t offset, int file) {
    char data[piece];
    if (pread(fd, data, piece, offset) != piece) fail("pread");
    for (int i = 0; i < piece; ++i) {
        if (data[i] != byte_at(offset + i, file)) {
            printf("wrong byte at %lld\n", (long long)(offset + i));
            exit(1);
        }
    }
}

static int64_t seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec;
}

/// Before each read but the first ones it waits until that piece or one of the next two is in memory.
static void observed(const char* path, int backward) {
    const int fd = cold(path);
    int came = 0, other = 0, most = 0;
    const int64_t end = seconds() + 20;  // of all waiting
    for (int i = 0; i < 192; ++i) {
        const int64_t step = backward ? -stride : stride;
        const int64_t at = (backward ? file_bytes - stride : 0) + i * step;
        int here = 0;
        while (i >= 32 && !here && seconds() < end) {
            if (is_in_memory(fd, at))
                here = 1;
            else if (is_in_memory(fd, at + step) || is_in_memory(fd, at + 2 * step))
                here = 2;
            else
                sched_yield();
        }
        came += here == 1;
        other += is_in_memory(fd, at + (backward ? -1 : 1) * stride / 2);
        int ahead = 0;
        for (int j = i; j < pieces; ++j) ahead += is_in_memory(fd, at + (j - i) * step);
        if (ahead > most) most = ahead;
        check(fd, at, 0);
    }
    printf("in memory before: %d of 160, of what is not read: %d, most ahead: %d\n", came, other, most);
}

static void strided(int fd, int from, int count, int file) {
    for (int i = from; i < from + count; ++i) check(fd, (int64_t)i * stride, file);
}

static void random_places(const char* path) {
    const int fd = cold(path);
    uint64_t x = 1;
    for (int i = 0; i < 1000; ++i) {
        x = x * 6364136223846793005u + 1442695040888963407u;  // Knuth, MMIX
        check(fd, (int64_t)((x >> 33) % (uint64_t)(file_bytes / piece)) * piece, 0);
    }
}

/// The file gets short, is replaced, and its descriptor becomes another file's, which nobody sees.
static void meanwhile(const char* path, const char* second) {
    int fd = cold(path);
    strided(fd, 0, 128, 0);
    if (truncate(path, file_bytes / 2 + stride) != 0) fail("truncate");
    char data[piece];
    for (int i = 128; i < 192; ++i) {
        const ssize_t got = pread(fd, data, piece, (int64_t)i * stride);
        if (got != (i == 128 ? piece : 0)) fail("pread of a short file");
    }
    close(fd);
    make(path, 0);
    fd = cold(path);
    strided(fd, 0, 64, 0);
    if (rename(second, path) != 0) fail("rename");
    strided(fd, 64, 64, 0);
    const int other = (int)past(SYS_openat, AT_FDCWD, (long)path, O_RDONLY, 0, 0, 0);
    if (past(SYS_dup3, other, fd, 0, 0, 0, 0) != fd) fail("dup3");
    strided(fd, 128, 64, 1);
    int ends[2];
    if (past(SYS_pipe2, (long)ends, 0, 0, 0, 0, 0) != 0 || past(SYS_dup3, ends[0], fd, 0, 0, 0, 0) != fd) fail("pipe");
    if (write(ends[1], "left", 4) != 4) fail("write");
    strided(other, 0, 128, 1);
    if (past(SYS_read, fd, (long)data, 5, 0, 0, 0) != 4 || memcmp(data, "left", 4) != 0) fail("the pipe");
}

static void* thread(void* path) {
    const int fd = cold(path);
    for (int turn = 0; turn < 4; ++turn) strided(fd, 0, pieces, 0);
    close(fd);
    return NULL;
}

static void forked(const char* path) {
    int fd = cold(path);
    strided(fd, 0, 128, 0);
    if (fork() == 0) {
        fd = cold(path);
        strided(fd, 0, pieces, 0);
        exit(0);
    }
    strided(fd, 128, 128, 0);
    int status = 0;
    wait(&status);
    if (status != 0) fail("child");
}

int main(int count, char** arguments) {
    if (count != 3) return 2;
    const char* pattern = arguments[1];
    char path[4096], second[4096];
    snprintf(path, sizeof path, "%s/data", arguments[2]);
    snprintf(second, sizeof second, "%s/second", arguments[2]);
    make(path, 0);
    make(second, 1);
    if (strcmp(pattern, "strided") == 0) observed(path, 0);
    if (strcmp(pattern, "backward") == 0) observed(path, 1);
    if (strcmp(pattern, "random") == 0) random_places(path);
    if (strcmp(pattern, "unobserved") == 0) strided(cold(path), 0, pieces, 0);
    if (strcmp(pattern, "meanwhile") == 0) meanwhile(path, second);
    if (strcmp(pattern, "fork") == 0) forked(path);
    if (strcmp(pattern, "threads") == 0) {
        pthread_t ids[threads];
        for (int i = 0; i < threads; ++i) pthread_create(&ids[i], NULL, thread, path);
        for (int i = 0; i < threads; ++i) pthread_join(ids[i], NULL);
    }
    if (strcmp(pattern, "direct") == 0) {
        const int fd = open(path, O_RDONLY | O_DIRECT);
        char* data = NULL;
        if (fd < 0 || posix_memalign((void**)&data, 4096, piece) != 0) fail("O_DIRECT");
        for (int i = 0; i < pieces; ++i) {
            if (pread(fd, data, piece, (int64_t)i * stride) != piece || data[1] != byte_at((int64_t)i * stride + 1, 0))
                fail("pread");
        }
    }
    puts("right");
}
