/* A program that uses log containers both ways at once, below the directory that it is given: by logfs.h, and by the
 * calls of POSIX that `halcyon run --log` answers. Says what it reads. */
#include <fcntl.h>
#include <halcyon/logfs.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const char* folder;
static char path[4096];

static const char* below(const char* name) {
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static int done(int code, const char* call) {
    if (code != HALCYON_OK) printf("%s: %s\n", call, halcyon_logfs_error_message());
    return code;
}
#define DONE(call) done(call, #call)

static void say(const char* what, const char* text, long bytes) {
    printf("%s: %.*s\n", what, bytes < 0 ? 6 : (int)bytes, bytes < 0 ? "failed" : text);
}

static void say_by_interface(const char* what, halcyon_logfs_handle h) {
    char text[100];
    uint64_t bytes = 0;
    DONE(halcyon_logfs_refresh(h));
    const int code = DONE(halcyon_logfs_pread(h, text, sizeof text, 0, &bytes));
    say(what, text, code == HALCYON_OK ? (long)bytes : -1);
}

static void say_by_posix(const char* what, const char* name) {
    char text[100];
    const int fd = open(below(name), O_RDONLY);
    say(what, text, pread(fd, text, sizeof text, 0));
    close(fd);
}

static void write_by_posix(const char* name, const char* text, off_t at) {
    const int fd = open(below(name), O_RDWR | O_CREAT, 0644);
    if (pwrite(fd, text, strlen(text), at) != (ssize_t)strlen(text)) printf("%s: not written\n", name);
    fsync(fd);
    close(fd);
}

int main(int argc, char** argv) {
    struct stat status;
    halcyon_logfs_handle h = NULL, other = NULL;
    char from[4096], to[4096];
    if (argc != 2) return 2;
    folder = argv[1];
    setvbuf(stdout, NULL, _IONBF, 0);
    const unsigned both = HALCYON_LOGFS_READ | HALCYON_LOGFS_WRITE | HALCYON_LOGFS_CREATE;

    DONE(halcyon_logfs_open(below("one"), both, NULL, &h));
    DONE(halcyon_logfs_pwrite(h, "interface", 9, 0, NULL));
    DONE(halcyon_logfs_sync(h));
    say_by_posix("posix reads", "one");
    write_by_posix("one", " and posix", 9);
    say_by_interface("interface reads", h);
    if (stat(below("one"), &status) == 0)
        printf("posix sees a %s of %ld bytes\n", S_ISREG(status.st_mode) ? "file" : "directory", (long)status.st_size);

    write_by_posix("two", "posix", 0);
    DONE(halcyon_logfs_open(below("two"), both, NULL, &other));
    say_by_interface("interface reads", other);
    DONE(halcyon_logfs_append(other, " and interface", 14, NULL, NULL));
    DONE(halcyon_logfs_close(&other));
    say_by_posix("posix reads", "two");

    const pid_t child = fork();
    if (child == 0) {
        halcyon_logfs_handle own = NULL;
        DONE(halcyon_logfs_open(below("one"), both, NULL, &own));
        DONE(halcyon_logfs_append(own, " and child", 10, NULL, NULL));
        DONE(halcyon_logfs_close(&own));
        _exit(0);
    }
    waitpid(child, NULL, 0);
    say_by_interface("interface reads", h);
    DONE(halcyon_logfs_close(&h));

    snprintf(from, sizeof from, "%s", below("two"));
    snprintf(to, sizeof to, "%s", below("renamed"));
    DONE(halcyon_logfs_rename(from, to));
    say_by_posix("posix reads", "renamed");
    snprintf(from, sizeof from, "%s", below("flat"));
    DONE(halcyon_logfs_flatten(below("one"), from, 0, NULL));
    say_by_posix("posix reads", "flat");
    DONE(halcyon_logfs_remove(to));
    printf("posix sees %s\n", stat(to, &status) == 0 ? "something" : "nothing");
    return 0;
}
