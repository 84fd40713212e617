/* Writes as it is told: coordinated FILE MIB [lock MARK | locked MARK]
 *
 * lock: holds a lock on FILE while it writes, until MARK.done exists, and makes MARK.locked when it has the lock.
 * locked: waits for MARK.locked, writes, makes MARK.done, waits for the lock on FILE in a second thread, and writes
 * meanwhile. */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { mib = 1 << 20 };
static char data[mib];
static char name[1000];

static const char* mark(const char* with, const char* ending) {
    snprintf(name, sizeof name, "%s.%s", with, ending);
    return name;
}

static int exists(const char* path) {
    struct stat about;
    return stat(path, &about) == 0;
}

static void make(const char* path) {
    close(open(path, O_CREAT | O_WRONLY, 0600));
}

static void write_mib(int fd, int count) {
    for (int i = 0; i < count; ++i) {
        if (pwrite(fd, data, sizeof data, (off_t)i % 8 * mib) != mib) exit(3);
    }
}

static int lock(int fd, short type) {
    struct flock all = {.l_type = type, .l_whence = SEEK_SET};
    return fcntl(fd, F_SETLKW, &all);
}

static void* take_lock(void* of) {
    const int fd = *(int*)of;
    if (lock(fd, F_WRLCK) != 0 || lock(fd, F_UNLCK) != 0) exit(4);
    return NULL;
}

int main(int argc, char** argv) {
    const int fd = open(argv[1], O_RDWR | O_CREAT, 0600);
    const int count = atoi(argv[2]);
    if (argc == 3) {
        write_mib(fd, count);
        return 0;
    }
    if (strcmp(argv[3], "lock") == 0) {
        if (lock(fd, F_WRLCK) != 0) return 4;
        make(mark(argv[4], "locked"));
        while (!exists(mark(argv[4], "done"))) write_mib(fd, 1);
        write_mib(fd, count);
        if (lock(fd, F_UNLCK) != 0) return 4;
        return 0;
    }
    char other[1000];
    snprintf(other, sizeof other, "%s.other", argv[1]);
    const int own = open(other, O_RDWR | O_CREAT, 0600);
    while (!exists(mark(argv[4], "locked"))) usleep(1000);
    write_mib(own, count);
    make(mark(argv[4], "done"));
    pthread_t waiter;
    pthread_create(&waiter, NULL, take_lock, (void*)&fd);
    write_mib(own, count);
    pthread_join(waiter, NULL);
    return 0;
}
