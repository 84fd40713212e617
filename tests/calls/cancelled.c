// Threads that are cancelled while a call of theirs waits: in read of a FIFO, in fcntl for a lock. Their clean-ups, and
// the destructors of their own data, do I/O. Usage: cancelled <directory>
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { rounds = 5 };
static int fifo, locked, clean_up, at_end;
static pthread_key_t key;

static void write_one(int fd) {
    if (write(fd, "x", 1) != 1) abort();
}

static void in_clean_up(void* nothing) {
    (void)nothing;
    write_one(clean_up);
}

static void in_destructor(void* nothing) {
    (void)nothing;
    write_one(at_end);
}

static void* wait_in_read(void* begun) {
    char data[10];
    pthread_setspecific(key, &key);
    pthread_cleanup_push(in_clean_up, NULL);
    write_one(*(int*)begun);
    if (read(fifo, data, sizeof data) >= 0) abort();
    pthread_cleanup_pop(0);
    return NULL;
}

static void* wait_for_lock(void* begun) {
    struct flock whole = {.l_type = F_WRLCK};
    pthread_setspecific(key, &key);
    pthread_cleanup_push(in_clean_up, NULL);
    write_one(*(int*)begun);
    if (fcntl(locked, F_SETLKW, &whole) == 0) abort();
    pthread_cleanup_pop(0);
    return NULL;
}

static int opened(const char* directory, const char* name) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    return open(path, O_RDWR | O_CREAT, 0600);
}

static void cancel_in(void* (*wait_in)(void*)) {
    for (int i = 0; i < rounds; ++i) {
        int ends[2];
        char data;
        pthread_t thread;
        void* how;
        if (pipe(ends) != 0) abort();
        pthread_create(&thread, NULL, wait_in, &ends[1]);
        if (read(ends[0], &data, 1) != 1) abort();  // it is about to wait
        pthread_cancel(thread);
        pthread_join(thread, &how);
        if (how != PTHREAD_CANCELED) abort();
        close(ends[0]);
        close(ends[1]);
    }
}

int main(int count, char** words) {
    (void)count;
    char path[4096];
    int held[2];
    struct flock whole = {.l_type = F_WRLCK};
    snprintf(path, sizeof path, "%s/fifo", words[1]);
    mkfifo(path, 0600);
    fifo = open(path, O_RDWR);
    locked = opened(words[1], "locked");
    clean_up = opened(words[1], "clean_up");
    at_end = opened(words[1], "at_end");
    pthread_key_create(&key, in_destructor);
    // Another process holds the lock until its pipe is closed.
    if (pipe(held) != 0) abort();
    const pid_t holder = fork();
    if (holder == 0) {
        char data;
        close(held[0]);
        if (fcntl(locked, F_SETLKW, &whole) != 0) _exit(1);
        if (write(held[1], "x", 1) != 1) _exit(1);
        if (read(fifo, &data, 1) != 1) _exit(1);
        _exit(0);
    }
    char data;
    if (read(held[0], &data, 1) != 1) abort();
    cancel_in(wait_for_lock);
    if (write(fifo, "x", 1) != 1) abort();
    int status = 1;
    if (waitpid(holder, &status, 0) != holder || status != 0) abort();
    cancel_in(wait_in_read);
    write_one(locked);
    return 0;
}
