// A library that does I/O when it is loaded and when it is unloaded (-DLIBRARY), and a program that does both with it.
// Usage: constructor <directory> <library>
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void append(const char* name, const char* text, size_t bytes) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", getenv("PLACE"), name);
    const int fd = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (write(fd, text, bytes) != (ssize_t)bytes || close(fd) != 0) abort();
}

#ifdef LIBRARY
__attribute__((constructor)) static void load(void) {
    append("loaded", "0123456789", 10);
    FILE* stream = fopen("/proc/self/maps", "r");
    char line[4096];
    while (fgets(line, sizeof line, stream)) continue;
    fclose(stream);
}
__attribute__((destructor)) static void unload(void) {
    append("unloaded", "01234", 5);
}
#else
int main(int count, char** words) {
    (void)count;
    setenv("PLACE", words[1], 1);
    for (int i = 0; i < 3; ++i) {
        void* library = dlopen(words[2], RTLD_NOW | (i == 1 ? RTLD_GLOBAL : RTLD_LOCAL));
        if (library == NULL) abort();
        append("between", "x", 1);
        if (dlclose(library) != 0) abort();
    }
    if (dlopen(words[2], RTLD_NOW) == NULL) abort();  // unloaded when the process ends
    return 0;
}
#endif
