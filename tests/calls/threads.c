// Threads that are started and end while they do I/O, 50 at a time. Usage: threads <directory> <how many> <calls of
// each>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int shared;
static int calls;

static void* work(void* number) {
    char data[64] = {0};
    for (int i = 0; i < calls; ++i) {
        if (pwrite(shared, data, sizeof data, ((long)number * calls + i) * (long)sizeof data) != (long)sizeof data)
            abort();
    }
    return NULL;
}

int main(int count, char** words) {
    char path[4096];
    snprintf(path, sizeof path, "%s/shared", words[1]);
    const long threads = atol(words[2]);
    calls = atoi(words[3]);
    (void)count;
    shared = open(path, O_RDWR | O_CREAT, 0600);
    pthread_t running[50];
    for (long begun = 0; begun < threads; begun += 50) {
        for (long i = 0; i < 50; ++i) {
            if (pthread_create(&running[i], NULL, work, (void*)(begun + i)) != 0) abort();
        }
        for (long i = 0; i < 50; ++i) pthread_join(running[i], NULL);
    }
    // The process goes on until its last thread ends; one of ours would keep it for ever.
    pthread_exit(NULL);
}
