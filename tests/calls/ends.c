// Writes 5000 times and ends in the way that is asked for. Usage: ends <directory> exit|_exit|abort|terminated|held
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void* hold(void* held) {
    flockfile(stdout);
    fputs("never written by us", stdout);
    *(volatile int*)held = 1;
    pause();
    return NULL;
}

int main(int count, char** words) {
    (void)count;
    char path[4096];
    snprintf(path, sizeof path, "%s/file", words[1]);
    const int fd = open(path, O_WRONLY | O_CREAT, 0600);
    for (int i = 0; i < 5000; ++i) {
        if (write(fd, "0123456789", 10) != 10) abort();
    }
    if (strcmp(words[2], "_exit") == 0) _exit(0);
    if (strcmp(words[2], "abort") == 0) abort();
    if (strcmp(words[2], "terminated") == 0) kill(getpid(), SIGTERM);
    if (strcmp(words[2], "held") == 0) {
        volatile int held = 0;
        pthread_t thread;
        freopen(path, "a", stdout);
        ftruncate(fd, 50000);
        pthread_create(&thread, NULL, hold, (void*)&held);
        while (!held) continue;
    }
    exit(0);
}
