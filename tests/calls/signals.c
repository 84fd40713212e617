// A timer's handler does I/O while what it interrupts does I/O. Usage: signals <directory> <handler's calls>
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>

static volatile sig_atomic_t handled;
static int log_file;

static void on_alarm(int signal) {
    (void)signal;
    const int saved = errno;
    if (write(log_file, "tick\n", 5) != 5) abort();
    ++handled;
    errno = saved;
}

int main(int count, char** words) {
    (void)count;
    char path[4096], data[100] = {0};
    snprintf(path, sizeof path, "%s/log", words[1]);
    log_file = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
    snprintf(path, sizeof path, "%s/data", words[1]);
    const int wanted = atoi(words[2]);
    struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
    sigaction(SIGALRM, &action, NULL);
    const struct itimerval often = {{0, 200}, {0, 200}};
    setitimer(ITIMER_REAL, &often, NULL);
    long written = 0;
    while (handled < wanted) {
        const int fd = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
        for (int i = 0; i < 20; ++i) {
            if (write(fd, data, sizeof data) != (long)sizeof data) abort();
            ++written;
        }
        close(fd);
    }
    const struct itimerval never = {{0, 0}, {0, 0}};
    setitimer(ITIMER_REAL, &never, NULL);
    printf("%ld %d\n", written, (int)handled);
    return 0;
}
