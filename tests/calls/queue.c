// Writes with libaio. Usage: queue <directory>
#define _GNU_SOURCE
#include <fcntl.h>
#include <libaio.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int count, char** words) {
    (void)count;
    static char data[4096];
    char path[4096];
    io_context_t queue = 0;
    struct iocb requests[3], *list[3];
    struct io_event events[3];
    snprintf(path, sizeof path, "%s/file", words[1]);
    const int fd = open(path, O_WRONLY | O_CREAT, 0600);
    if (io_setup(8, &queue) != 0) return 77;
    for (int round = 0; round < 10; ++round) {
        for (int i = 0; i < 3; ++i) {
            io_prep_pwrite(&requests[i], fd, data, sizeof data, (round * 3LL + i) * sizeof data);
            list[i] = &requests[i];
        }
        if (io_submit(queue, 3, list) != 3 || io_getevents(queue, 3, 3, events, NULL) != 3) abort();
    }
    return io_destroy(queue);
}
