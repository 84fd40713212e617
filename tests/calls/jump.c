// A handler jumps out of a read that waits, again and again; what comes after must be no child of it.
// Usage: jump <directory>
#define _GNU_SOURCE
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

static sigjmp_buf place;

static void on_alarm(int signal) {
    (void)signal;
    siglongjmp(place, 1);
}

int main(int count, char** words) {
    (void)count;
    char path[4096], data[10];
    snprintf(path, sizeof path, "%s/fifo", words[1]);
    mkfifo(path, 0600);
    const int fifo = open(path, O_RDWR);
    snprintf(path, sizeof path, "%s/after", words[1]);
    const int after = open(path, O_WRONLY | O_CREAT, 0600);
    signal(SIGALRM, on_alarm);
    for (volatile int i = 0; i < 20; ++i) {
        if (sigsetjmp(place, 1) == 0) {
            const struct itimerval soon = {{0, 0}, {0, 1000}};
            setitimer(ITIMER_REAL, &soon, NULL);
            if (read(fifo, data, sizeof data) >= 0) abort();
        }
        if (write(after, "x", 1) != 1) abort();
    }
    return 0;
}
