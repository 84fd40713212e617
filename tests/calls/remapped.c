// A mapping of a file that grows and moves, beside one of memory that does. Usage: remapped <directory>
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static void need(int holds) {
    if (!holds) abort();
}

int main(int count, char** words) {
    (void)count;
    char path[4096];
    const size_t page = 4096;
    snprintf(path, sizeof path, "%s/mapped", words[1]);
    const int fd = open(path, O_RDWR | O_CREAT, 0600);
    need(ftruncate(fd, 100 * page) == 0);
    // What lies behind it makes it move.
    char* wall = mmap(NULL, 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char* at = mmap(wall, page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0);
    need(wall != MAP_FAILED && at == wall);
    need(mremap(at, page, 10 * page, 0) == MAP_FAILED);
    char* moved = mremap(at, page, 10 * page, MREMAP_MAYMOVE);
    need(moved != MAP_FAILED && moved != at);
    moved[9 * page] = 'x';
    need(msync(moved + 9 * page, page, MS_SYNC) == 0);
    char* room = mmap(NULL, 20 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char* fixed = mremap(moved, 10 * page, 20 * page, MREMAP_MAYMOVE | MREMAP_FIXED, room);
    need(fixed == room);
    need(msync(fixed, 20 * page, MS_ASYNC) == 0);
    need(munmap(fixed, 20 * page) == 0);
    // Where a file was shown, memory is now.
    char* memory = mmap(fixed, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    need(memory == fixed && mremap(memory, page, 50 * page, MREMAP_MAYMOVE) != MAP_FAILED);
    return 0;
}
