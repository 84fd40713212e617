/* Writes as it is told: coordinated FILE MIB [until MARK | lock MARK | locked MARK | chain MARK]
 *
 * until: writes MIB, and goes on without a pause until MARK.end exists; then MARK.wrote says how many MiB that were.
 * lock: takes a lock on FILE, makes MARK.locked, and writes without a pause until somebody waits for the lock; then it
 * writes MIB more, and gives the lock back.
 * locked: waits for MARK.locked, writes MIB, and goes on to write without a pause while a second thread waits for the
 * lock on FILE.
 * chain: writes, and so do its child, the child of that, and so on, 5 generations in all, each in a child of the one
 * before; then MARK.pages says how many pages of an agent the last one has mapped. */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
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

static int write_until(int fd, int count, const char* with) {
    long wrote = count;
    alarm(300); /* nobody ends it where the test was killed */
    write_mib(fd, count);
    for (; !exists(mark(with, "end")); ++wrote) write_mib(fd, 1);
    FILE* tells = fopen(mark(with, "wrote"), "w");
    if (tells == NULL || fprintf(tells, "%ld\n", wrote) < 0 || fclose(tells) != 0) return 6;
    return 0;
}

static int count_pages(void) {
    char line[4096];
    int found = 0;
    FILE* maps = fopen("/proc/self/maps", "r");
    if (maps == NULL) exit(5);
    while (fgets(line, sizeof line, maps) != NULL) found += strstr(line, "halcyon-coordinate") != NULL;
    fclose(maps);
    return found;
}

static int chain(int fd, int count, const char* with) {
    for (int generation = 1;; ++generation) {
        write_mib(fd, count);
        if (generation == 5) break;
        const pid_t child = fork();
        if (child == 0) continue;
        int status = 1;
        return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : 7;
    }
    FILE* tells = fopen(mark(with, "pages"), "w");
    return tells != NULL && fprintf(tells, "%d\n", count_pages()) > 0 && fclose(tells) == 0 ? 0 : 6;
}

static int lock(int fd, short type) {
    struct flock all = {.l_type = type, .l_whence = SEEK_SET};
    return fcntl(fd, F_SETLKW, &all);
}

/* By /proc/locks, where who waits has a line with an arrow. */
static int somebody_waits_for(int fd) {
    struct stat about;
    char line[256], inode[32];
    int found = 0;
    if (fstat(fd, &about) != 0) exit(5);
    snprintf(inode, sizeof inode, ":%lu ", (unsigned long)about.st_ino);
    FILE* locks = fopen("/proc/locks", "r");
    if (locks == NULL) exit(5);
    while (fgets(line, sizeof line, locks) != NULL) found |= strstr(line, "-> ") != NULL && strstr(line, inode) != NULL;
    fclose(locks);
    return found;
}

static atomic_int had_lock;

static void* take_lock(void* of) {
    const int fd = *(int*)of;
    if (lock(fd, F_WRLCK) != 0 || lock(fd, F_UNLCK) != 0) exit(4);
    atomic_store(&had_lock, 1);
    return NULL;
}

int main(int argc, char** argv) {
    const int fd = open(argv[1], O_RDWR | O_CREAT, 0600);
    const int count = atoi(argv[2]);
    if (argc == 3) {
        write_mib(fd, count);
        return 0;
    }
    if (strcmp(argv[3], "until") == 0) return write_until(fd, count, argv[4]);
    if (strcmp(argv[3], "chain") == 0) return chain(fd, count, argv[4]);
    if (strcmp(argv[3], "lock") == 0) {
        if (lock(fd, F_WRLCK) != 0) return 4;
        make(mark(argv[4], "locked"));
        while (!somebody_waits_for(fd)) write_mib(fd, 1);
        write_mib(fd, count);
        if (lock(fd, F_UNLCK) != 0) return 4;
        return 0;
    }
    char other[1000];
    snprintf(other, sizeof other, "%s.other", argv[1]);
    const int own = open(other, O_RDWR | O_CREAT, 0600);
    while (!exists(mark(argv[4], "locked"))) usleep(1000);
    write_mib(own, count);
    pthread_t waiter;
    pthread_create(&waiter, NULL, take_lock, (void*)&fd);
    while (!atomic_load(&had_lock)) write_mib(own, 1);
    pthread_join(waiter, NULL);
    return 0;
}
