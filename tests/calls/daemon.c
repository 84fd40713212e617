// Becomes a daemon in the traditional way, then works. Usage: daemon <directory>
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void write_own(const char* path, int calls) {
    const int fd = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
    for (int i = 0; i < calls; ++i) {
        if (write(fd, "0123456789", 10) != 10) abort();
    }
    if (close(fd) != 0) abort();
}

int main(int count, char** words) {
    (void)count;
    char path[4096];
    const int first = chdir(words[1]);
    write_own("before", 10);
    pid_t child = fork();
    if (child > 0) {
        printf("%d\n", (int)child);
        fflush(stdout);
        waitpid(child, NULL, 0);
        return first;
    }
    setsid();
    if (fork() > 0) _exit(0);
    umask(0);
    if (chdir("/") != 0) abort();
    for (int fd = 0; fd < 1024; ++fd) close(fd);
    open("/dev/null", O_RDWR);
    if (dup(0) != 1 || dup(0) != 2) abort();
    snprintf(path, sizeof path, "%s/pid", words[1]);
    FILE* stream = fopen(path, "w");
    fprintf(stream, "%d\n", (int)getpid());
    fclose(stream);
    snprintf(path, sizeof path, "%s/work", words[1]);
    for (int i = 0; i < 50; ++i) write_own(path, 20);
    // Relative to /, where it may not exist.
    snprintf(path, sizeof path, ".%s/relative", words[1]);
    write_own(path, 10);
    return 0;
}
