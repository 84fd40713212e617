// A program with its own malloc, which reads a file at its first use, holds a lock that is not recursive, and writes to
// a log while it holds it. Usage: own_malloc <directory>
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "growing_malloc.h"

static atomic_flag lock = ATOMIC_FLAG_INIT;
static char* place;
static size_t left;
static int logged = -1;
static int logging;

void* malloc(size_t bytes) {
    while (atomic_flag_test_and_set(&lock)) continue;
    if (place == NULL) {
        char version[100];
        const int fd = open("/etc/hostname", O_RDONLY);
        read(fd, version, sizeof version);
        close(fd);
        left = 256 << 20;
        place = mmap(NULL, left, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    }
    if (logging && write(logged, "malloc\n", 7) != 7) _exit(3);
    bytes = (bytes + 31) / 16 * 16;
    char* given = place + 16;
    memcpy(place, &bytes, sizeof bytes);
    place += bytes;
    left -= bytes;
    atomic_flag_clear(&lock);
    return given;
}

int main(int count, char** words) {
    (void)count;
    char path[4096];
    snprintf(path, sizeof path, "%s/log", words[1]);
    logged = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    logging = 1;
    for (int i = 0; i < 30000; ++i) *(volatile char*)malloc(50) = 1;
    return 0;
}
