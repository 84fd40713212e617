// Writes until it is killed; says a line once it has begun. Usage: until_killed <directory>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int main(int count, char** words) {
    (void)count;
    char path[4096];
    snprintf(path, sizeof path, "%s/data", words[1]);
    const int fd = open(path, O_RDWR | O_CREAT, 0600);
    snprintf(path, sizeof path, "%s/done", words[1]);
    const int done = open(path, O_RDWR | O_CREAT, 0600);
    if (ftruncate(done, 4096) != 0) abort();
    // How many calls have returned, where a kill leaves it.
    volatile long* returned = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, done, 0);
    for (long i = 0;; ++i) {
        if (pwrite(fd, &i, sizeof i, i % 1000 * (long)sizeof i) != sizeof i) abort();
        *returned = i + 1;
        if (i == 5000) {
            puts("begun");
            fflush(stdout);
        }
    }
}
