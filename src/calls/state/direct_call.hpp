#pragma once

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <ctime>

/// System calls of our own, past every interposed function and without touching the application's errno: each returns
/// what the kernel does, that is -errno when it failed.
namespace halcyon::calls::direct {

#if defined(__x86_64__)
inline long call(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0, long f = 0) {
    long result;
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}
#elif defined(__aarch64__)
inline long call(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0, long f = 0) {
    register long x8 __asm__("x8") = number;
    register long x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b;
    register long x2 __asm__("x2") = c;
    register long x3 __asm__("x3") = d;
    register long x4 __asm__("x4") = e;
    register long x5 __asm__("x5") = f;
    __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
    return x0;
}
#else
#error "direct system calls are written for x86-64 and AArch64"
#endif

inline long address(const void* pointer) {
    return reinterpret_cast<long>(pointer);
}

inline int open(const char* path, int flags, int mode = 0) {
    return static_cast<int>(call(SYS_openat, AT_FDCWD, address(path), flags, mode));
}
inline int close(int fd) {
    return static_cast<int>(call(SYS_close, fd));
}
inline ssize_t read(int fd, void* buffer, size_t bytes) {
    return call(SYS_read, fd, address(buffer), static_cast<long>(bytes));
}
inline ssize_t pwrite(int fd, const void* buffer, size_t bytes, int64_t offset) {
    return call(SYS_pwrite64, fd, address(buffer), static_cast<long>(bytes), offset);
}
inline int64_t lseek(int fd, int64_t offset, int whence) {
    return call(SYS_lseek, fd, offset, whence);
}
inline int fallocate(int fd, int64_t offset, int64_t bytes) {
    return static_cast<int>(call(SYS_fallocate, fd, 0, offset, bytes));
}
inline int unlink(const char* path) {
    return static_cast<int>(call(SYS_unlinkat, AT_FDCWD, address(path), 0));
}
inline int fstatfs(int fd, struct statfs* out) {
    return static_cast<int>(call(SYS_fstatfs, fd, address(out)));
}
inline int duplicate_high(int fd, int least) {
    return static_cast<int>(call(SYS_fcntl, fd, F_DUPFD_CLOEXEC, least));
}
inline int flags_of(int fd) {
    return static_cast<int>(call(SYS_fcntl, fd, F_GETFL));
}
inline int process_id() {
    return static_cast<int>(call(SYS_getpid));
}
inline int parent_process_id() {
    return static_cast<int>(call(SYS_getppid));
}
inline int thread_id() {
    return static_cast<int>(call(SYS_gettid));
}
/// Whether this process has no thread of this number any more.
inline bool has_ended(int thread) {
    constexpr int no_signal = 0;
    return call(SYS_tgkill, process_id(), thread, no_signal) == -ESRCH;
}
inline void yield() {
    call(SYS_sched_yield);
}
/// For who waits, and has tried so often: others run meanwhile, at length also those of a lower priority.
inline void wait_a_little(int tries) {
    constexpr int turns = 100;
    const timespec nap{0, 50'000};
    if (tries < turns)
        yield();
    else
        call(SYS_nanosleep, address(&nap));
}

/// The path that `fd` was opened by, as the kernel knows it now; returns its length (0: not known), always terminated.
inline size_t path_of(int fd, char* out, size_t capacity) {
    char link[32] = "/proc/self/fd/";
    char digits[12];
    int count = 0;
    for (int rest = fd; rest > 0 || count == 0; rest /= 10) digits[count++] = static_cast<char>('0' + rest % 10);
    char* end = link + 14;
    while (count > 0) *end++ = digits[--count];
    *end = '\0';
    const long length = call(SYS_readlinkat, AT_FDCWD, address(link), address(out), static_cast<long>(capacity - 1));
    out[length < 0 ? 0 : length] = '\0';
    return length < 0 ? 0 : static_cast<size_t>(length);
}

/// Fresh zeroed memory, or null. Pages that are never touched cost nothing.
inline void* map_memory(size_t bytes) {
    const long result = call(SYS_mmap, 0, static_cast<long>(bytes), PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return result < 0 && result > -4096 ? nullptr : reinterpret_cast<void*>(result);
}

}  // namespace halcyon::calls::direct
