// Rings of io_uring, one left open: made by liburing, with syscall(2), or with an instruction.
// Usage: rings library|syscall|instruction; 77 where the kernel allows none
#define _GNU_SOURCE
#include <liburing.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int made(int result) {
    if (result < 0) exit(77);
    return result;
}

static long by_instruction(long entries, void* parameters) {
#if defined(__x86_64__)
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(SYS_io_uring_setup), "D"(entries), "S"(parameters)
                     : "rcx", "r11", "memory");
    return result;
#else
    register long number __asm__("x8") = SYS_io_uring_setup;
    register long first __asm__("x0") = entries;
    register void* second __asm__("x1") = parameters;
    __asm__ volatile("svc 0" : "+r"(first) : "r"(number), "r"(second) : "memory");
    return first;
#endif
}

int main(int count, char** words) {
    (void)count;
    struct io_uring ring;
    struct io_uring_params parameters;
    for (int i = 0; i < 2; ++i) {
        memset(&parameters, 0, sizeof parameters);
        if (strcmp(words[1], "library") == 0) {
            made(i == 0 ? io_uring_queue_init(4, &ring, 0) : io_uring_queue_init_params(4, &ring, &parameters));
            if (i == 0) io_uring_queue_exit(&ring);
            continue;
        }
        const int by_call = strcmp(words[1], "syscall") == 0;
        const int fd = made(by_call ? syscall(SYS_io_uring_setup, 4, &parameters) : by_instruction(4, &parameters));
        if (i == 0) close(fd);
    }
    return 0;
}
