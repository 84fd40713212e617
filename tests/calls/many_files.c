// Opens so many files at once and writes to each. Usage: many_files <directory> <how many>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int count, char** words) {
    (void)count;
    const int files = atoi(words[2]);
    int* opened = malloc(sizeof(int) * files);
    for (int i = 0; i < files; ++i) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%d", words[1], i);
        opened[i] = open(path, O_WRONLY | O_CREAT, 0600);
        if (opened[i] < 0) {
            perror(path);
            return 1;
        }
    }
    for (int i = 0; i < files; ++i) {
        if (write(opened[i], "x", 1) != 1) abort();
        unlink("/nowhere");
    }
    return 0;
}
