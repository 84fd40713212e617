// A timer's handler jumps out of whatever is under way, again and again, while files are opened, written and closed by
// system calls, all of which a handler may interrupt. Prints how many calls returned. Usage: jumps_anywhere <directory>
// <jumps>
#define _GNU_SOURCE
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>

static sigjmp_buf place;
static volatile long jumps, wanted, written;
static volatile sig_atomic_t may_jump;

static void on_alarm(int signal) {
    (void)signal;
    if (!may_jump || jumps >= wanted) return;
    may_jump = 0;
    ++jumps;
    siglongjmp(place, 1);
}

int main(int count, char** words) {
    (void)count;
    static char name[64];
    if (chdir(words[1]) != 0) abort();
    wanted = atol(words[2]);
    struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_NODEFER};
    sigaction(SIGALRM, &action, NULL);
    const struct itimerval often = {{0, 100}, {0, 100}};
    setitimer(ITIMER_REAL, &often, NULL);
    static volatile int fd = -1;
    static volatile unsigned files;
    while (jumps < wanted) {
        sigsetjmp(place, 1);
        for (int left = 3; left < 20; ++left) close(left);
        may_jump = 1;
        for (int i = 0; i < 50; ++i) {
            name[0] = 'f';
            unsigned number = files++ % 100000;
            for (int at = 5; at > 0; --at, number /= 10) name[at] = '0' + number % 10;
            fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
            for (int j = 0; j < 20; ++j) {
                if (write(fd, "x", 1) == 1) ++written;
            }
            close(fd);
            unlink(name);
        }
        may_jump = 0;
    }
    const struct itimerval never = {{0, 0}, {0, 0}};
    setitimer(ITIMER_REAL, &never, NULL);
    printf("%ld\n", written);
    return 0;
}
