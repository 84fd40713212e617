// Threads write while the process changes its user and group again and again: the C library tells all threads by a
// signal. Usage: changing_user <directory> <writes of each thread>
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { threads = 4 };
static int fd, wanted;
static atomic_int done;

static void* work(void* number) {
    struct stat now;
    for (int i = 0; i < wanted; ++i) {
        if (pwrite(fd, "0123456789", 10, ((long)number * wanted + i) * 10) != 10) abort();
        if (i % 100 == 0 && fstat(fd, &now) != 0) abort();
    }
    ++done;
    return NULL;
}

int main(int count, char** words) {
    (void)count;
    char path[4096];
    snprintf(path, sizeof path, "%s/file", words[1]);
    fd = open(path, O_WRONLY | O_CREAT, 0600);
    wanted = atoi(words[2]);
    pthread_t started[threads];
    for (long i = 0; i < threads; ++i) pthread_create(&started[i], NULL, work, (void*)i);
    int changes = 0;
    while (done < threads || changes < 20) {
        if (setegid(65534) != 0 || seteuid(65534) != 0 || seteuid(0) != 0 || setegid(0) != 0) abort();
        ++changes;
    }
    for (int i = 0; i < threads; ++i) pthread_join(started[i], NULL);
    if (setgid(65534) != 0 || setuid(65534) != 0) abort();
    if (pwrite(fd, "end", 3, (long)threads * wanted * 10) != 3) abort();
    if (setuid(0) == 0 || errno != EPERM) abort();
    printf("%d\n", changes);
    return 0;
}
