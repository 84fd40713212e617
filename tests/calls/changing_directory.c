// One thread names files relative to the working directory without end; another changes that directory, and each time
// asks for a file of the new one. Usage: changing_directory <directory with first/ and second/> <rounds>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static volatile int over;

static void* name_files(void* nothing) {
    while (!over) access("any", F_OK);
    return nothing;
}

int main(int count, char** words) {
    (void)count;
    if (chdir(words[1]) != 0) abort();
    pthread_t other[2];
    for (int i = 0; i < 2; ++i) pthread_create(&other[i], NULL, name_files, NULL);
    const int rounds = atoi(words[2]);
    for (int i = 0; i < rounds; ++i) {
        if (chdir(i % 2 == 0 ? "first" : "second") != 0 || access(i % 2 == 0 ? "of_first" : "of_second", F_OK) != 0)
            abort();
        if (chdir("..") != 0) abort();
    }
    over = 1;
    for (int i = 0; i < 2; ++i) pthread_join(other[i], NULL);
    return 0;
}
