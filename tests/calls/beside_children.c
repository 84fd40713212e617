/* Writes and reads FOLDER/file with a sync after each second write, while a child of fork and one of posix_spawn have
 * it open, too. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

static int ended_well(pid_t child) {
    int status = 0;
    return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

int main(int count, char** words) {
    if (count < 2) return 2;
    char path[4096];
    char data[1000];
    snprintf(path, sizeof path, "%s/file", words[1]);
    const int file = open(path, O_RDWR | O_CREAT, 0600);
    if (file < 0) return 3;
    for (int i = 0; i < 40; ++i) {
        memset(data, 'a' + i % 26, sizeof data);
        if (write(file, data, sizeof data) != sizeof data) return 4;
        if (i % 2 == 1 && fsync(file) != 0) return 5;
    }
    for (int i = 0; i < 40; ++i) {
        if (pread(file, data, sizeof data, i * 1000L) != sizeof data || data[999] != 'a' + i % 26) return 6;
    }
    const pid_t forked = fork();
    if (forked == 0) _exit(pwrite(file, "child", 5, 40000) == 5 ? 0 : 1);
    if (!ended_well(forked)) return 7;
    pid_t spawned = 0;
    char* arguments[] = {"true", NULL};
    if (posix_spawnp(&spawned, "true", NULL, NULL, arguments, environ) != 0 || !ended_well(spawned)) return 8;
    snprintf(path, sizeof path, "%s/none", words[1]);
    if (open(path, O_RDONLY) >= 0 || errno != ENOENT) return 9;
    return close(file) == 0 ? 0 : 10;
}
