// What a preloaded library cannot see. Usage: hidden <directory>
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int count, char** words) {
    (void)count;
    char path[4096], parameters[200] = {0};
    snprintf(path, sizeof path, "%s/mapped", words[1]);
    const int fd = open(path, O_RDWR | O_CREAT, 0600);
    if (ftruncate(fd, 8192) != 0) abort();
    char* at = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    at[4096] = 1;
    if (msync(at + 4096, 4096, MS_SYNC) != 0) abort();
    for (int i = 0; i < 10; ++i) {
        if (syscall(SYS_pwrite64, fd, "x", 1L, (long)i) != 1) abort();
        if (syscall(SYS_pread64, fd, parameters, 1L, (long)i) != 1) abort();
        if (syscall(SYS_fsync, fd) != 0) abort();
        syscall(SYS_getpid);
    }
    syscall(425, 1, parameters);
    // What comes behind an unseen write stands where the kernel put it.
    if (write(fd, "abc", 3) != 3 || syscall(SYS_write, fd, "defg", 4L) != 4 || write(fd, "h", 1) != 1) abort();
    snprintf(path, sizeof path, "%s/folder", words[1]);
    struct open_how how = {.flags = O_RDONLY};
    if (syscall(SYS_mkdirat, AT_FDCWD, path, 0700L) != 0) abort();
    const long folder = syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof how);
    if (folder >= 0) close((int)folder);
    return 0;
}
