// Usage: deep_host <directory> <module>, with standard output redirected to where the directory is
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

int main(int count, char** words) {
    void* module = dlopen(words[2], RTLD_NOW | RTLD_DEEPBIND);
    if (count != 3 || module == NULL) return 2;
    int (*put_deeply)(FILE*, int) = dlsym(module, "put_deeply");
    char path[4096];
    snprintf(path, sizeof path, "%s/file", words[1]);
    FILE* stream = fopen(path, "a+");
    if (stream == NULL || !put_deeply(stream, fileno(stream))) return 3;
    printf("printed by the program\n");
    fprintf(stream, "by the program\n");
    if (count == 3 && getenv("DEEP_DESCRIPTOR") != NULL) {
        int (*write_deeply)(int) = dlsym(module, "write_deeply");
        if (!write_deeply(fileno(stream))) return 4;
    }
    return fclose(stream);
}
