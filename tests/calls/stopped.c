// One thread makes calls without end; another stops it by a signal, again and again, makes many calls itself, and only
// then lets it go on. Usage: stopped <directory>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int file;
static sem_t stopped, resumed;
static volatile int over;

static void on_stop(int signal) {
    (void)signal;
    sem_post(&stopped);
    while (sem_wait(&resumed) != 0) continue;
}

static void* work(void* nothing) {
    (void)nothing;
    while (!over) pwrite(file, "x", 1, 0);
    return NULL;
}

int main(int count, char** words) {
    (void)count;
    char path[4096];
    snprintf(path, sizeof path, "%s/file", words[1]);
    file = open(path, O_RDWR | O_CREAT, 0600);
    sem_init(&stopped, 0, 0);
    sem_init(&resumed, 0, 0);
    signal(SIGUSR1, on_stop);
    pthread_t worker;
    pthread_create(&worker, NULL, work, NULL);
    for (int i = 0; i < 300; ++i) {
        pthread_kill(worker, SIGUSR1);
        while (sem_wait(&stopped) != 0) continue;
        for (int j = 0; j < 10; ++j) {
            if (pwrite(file, "y", 1, 1) != 1) abort();
        }
        sem_post(&resumed);
    }
    over = 1;
    pthread_join(worker, NULL);
    return 0;
}
