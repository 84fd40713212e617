// In front of the C library: the clock of files stands still in the year 2030, but for a nanosecond at each look, in
// all processes alike.
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t clock, struct timespec* out) {
    static long looks;
    const long done = syscall(SYS_clock_gettime, clock, out);
    if (clock != CLOCK_REALTIME) return (int)done;
    out->tv_sec = 1893456000;
    out->tv_nsec = ++looks;
    return (int)done;
}
