// One thread names files relative to the working directory without end; another changes that directory, and each time
// asks for a file of the new one. Usage: changing_directory <directory with first/ and second/> <rounds> [by number]
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static volatile int over;

static void* name_files(void* nothing) {
    while (!over) access("any", F_OK);
    return nothing;
}

// By a path that takes the kernel long, so that others get to ask meanwhile.
static int change_directory(const char* to, int by_number) {
    char path[2000];
    size_t length = 0;
    while (length < sizeof path - 100) length += sprintf(path + length, "./");
    strcpy(path + length, to);
    return by_number ? (int)syscall(SYS_chdir, path) : chdir(path);
}

int main(int count, char** words) {
    const int by_number = count > 3;
    if (chdir(words[1]) != 0) abort();
    pthread_t other[2];
    for (int i = 0; i < 2; ++i) pthread_create(&other[i], NULL, name_files, NULL);
    const int rounds = atoi(words[2]);
    for (int i = 0; i < rounds; ++i) {
        if (change_directory(i % 2 == 0 ? "first" : "second", by_number) != 0) abort();
        if (access(i % 2 == 0 ? "of_first" : "of_second", F_OK) != 0) abort();
        if (change_directory("..", by_number) != 0) abort();
    }
    over = 1;
    for (int i = 0; i < 2; ++i) pthread_join(other[i], NULL);
    return 0;
}
