// Threads that are cancelled in fread, holding the stream; then the stream is used. Usage: cancel <directory>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static FILE* stream;

static void* wait_for_data(void* nothing) {
    char data[10];
    (void)nothing;
    fread(data, 1, sizeof data, stream);
    return NULL;
}

int main(int count, char** words) {
    (void)count;
    char path[4096];
    snprintf(path, sizeof path, "%s/fifo", words[1]);
    mkfifo(path, 0600);
    const int fd = open(path, O_RDWR);
    stream = fdopen(fd, "r+");
    setvbuf(stream, NULL, _IONBF, 0);
    for (int i = 0; i < 5; ++i) {
        pthread_t thread;
        pthread_create(&thread, NULL, wait_for_data, NULL);
        pthread_cancel(thread);
        void* how;
        pthread_join(thread, &how);
        if (how != PTHREAD_CANCELED) abort();
    }
    if (fputs("free", stream) < 0 || fclose(stream) != 0) abort();
    return 0;
}
