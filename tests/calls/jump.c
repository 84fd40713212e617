// A handler jumps out of a call that waits, again and again; what comes after must be no child of it.
// Usage: jump <directory> read|write|lock
#define _GNU_SOURCE
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static sigjmp_buf place;
static char path[4096], data[65536];
static int waits_in;

static void on_alarm(int signal) {
    (void)signal;
    siglongjmp(place, 1);
}

static void prepare(const char* directory, const char* way) {
    snprintf(path, sizeof path, "%s/%s", directory, way);
    if (strcmp(way, "lock") != 0) {
        mkfifo(path, 0600);
        waits_in = open(path, O_RDWR);
        // Full: what is written waits.
        if (strcmp(way, "write") == 0 && fcntl(waits_in, F_SETPIPE_SZ, 4096) > 0 && write(waits_in, data, 4096) != 4096)
            abort();
        return;
    }
    waits_in = open(path, O_RDWR | O_CREAT, 0600);
}

static void wait_in(const char* way) {
    struct flock whole = {.l_type = F_WRLCK};
    if (strcmp(way, "read") == 0 && read(waits_in, data, sizeof data) >= 0) abort();
    if (strcmp(way, "write") == 0 && write(waits_in, data, sizeof data) >= 0) abort();
    if (strcmp(way, "lock") == 0 && fcntl(waits_in, F_SETLKW, &whole) >= 0) abort();
}

static pid_t hold_lock(void) {
    int told[2];
    if (pipe(told) != 0) abort();
    const pid_t child = fork();
    if (child == 0) {
        struct flock whole = {.l_type = F_WRLCK};
        if (fcntl(waits_in, F_SETLKW, &whole) != 0 || write(told[1], "x", 1) != 1) _exit(1);
        for (;;) pause();
    }
    if (read(told[0], data, 1) != 1) abort();
    return child;
}

int main(int count, char** words) {
    (void)count;
    const char* way = words[2];
    prepare(words[1], way);
    const pid_t holder = strcmp(way, "lock") == 0 ? hold_lock() : 0;
    snprintf(path, sizeof path, "%s/after", words[1]);
    const int after = open(path, O_WRONLY | O_CREAT, 0600);
    signal(SIGALRM, on_alarm);
    for (volatile int i = 0; i < 20; ++i) {
        if (sigsetjmp(place, 1) == 0) {
            const struct itimerval soon = {{0, 0}, {0, 1000}};
            setitimer(ITIMER_REAL, &soon, NULL);
            wait_in(way);
        }
        if (write(after, "x", 1) != 1) abort();
    }
    if (holder > 0) kill(holder, SIGKILL), waitpid(holder, NULL, 0);
    return 0;
}
