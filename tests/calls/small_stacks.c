// Threads with the smallest stacks that there are, and a handler on the smallest of its own, do I/O.
// Usage: small_stacks <directory>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char path[4096];

static void write_some(int calls) {
    for (int i = 0; i < calls; ++i) {
        const int fd = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
        if (fd < 0 || write(fd, "0123456789", 10) != 10 || close(fd) != 0) abort();
    }
}

static void* work(void* nothing) {
    write_some(2000);
    return nothing;
}

static void on_signal(int signal) {
    (void)signal;
    write_some(1000);
}

int main(int count, char** words) {
    (void)count;
    snprintf(path, sizeof path, "%s/file", words[1]);
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, PTHREAD_STACK_MIN);
    pthread_t threads[4];
    for (int i = 0; i < 4; ++i) pthread_create(&threads[i], &small, work, NULL);
    for (int i = 0; i < 4; ++i) pthread_join(threads[i], NULL);
    stack_t stack = {.ss_sp = malloc(MINSIGSTKSZ + 4096), .ss_size = MINSIGSTKSZ + 4096};
    sigaltstack(&stack, NULL);
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};
    sigaction(SIGUSR1, &action, NULL);
    snprintf(path, sizeof path, "%s/other", words[1]);
    raise(SIGUSR1);
    return 0;
}
