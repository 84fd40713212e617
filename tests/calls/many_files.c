// Opens so many files, some of them at once, and writes to each. Usage: many_files <directory> <how many> <at once>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int count, char** words) {
    (void)count;
    const int files = atoi(words[2]), at_once = atoi(words[3]);
    int* opened = malloc(sizeof(int) * files);
    for (int i = 0; i < files + at_once; ++i) {
        if (i >= at_once) {
            const int fd = opened[i - at_once];
            if (write(fd, "x", 1) != 1 || close(fd) != 0) abort();
        }
        if (i >= files) continue;
        char path[4096];
        snprintf(path, sizeof path, "%s/%d", words[1], i);
        opened[i] = open(path, O_WRONLY | O_CREAT, 0600);
        if (opened[i] < 0) {
            perror(path);
            return 1;
        }
    }
    return 0;
}
