// Closes and replaces descriptors by system calls, behind the C library's back, and goes on by its functions: each file
// gets its own bytes.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int failures = 0;

static void expect(int holds, const char* what) {
    if (holds) return;
    ++failures;
    printf("%s\n", what);
}

static int file(const char* name) {
    return open(name, O_CREAT | O_RDWR, 0644);
}

static void put(int fd, const char* text) {
    expect(write(fd, text, strlen(text)) == (ssize_t)strlen(text), text);
}

static void expect_text(const char* name, const char* text) {
    char found[100] = "";
    const int fd = open(name, O_RDONLY);
    expect(fd >= 0 && read(fd, found, sizeof found - 1) >= 0 && strcmp(found, text) == 0, name);
    close(fd);
}

int main(int count, char** words) {
    if (count > 2) {  // another program now
        put(5, "another program ");
        return 0;
    }
    if (count < 2 || chdir(words[1]) != 0) return 2;

    int fd = file("closed");
    put(fd, "before ");
    syscall(SYS_close, fd);
    expect(syscall(SYS_openat, AT_FDCWD, "../outside", O_CREAT | O_RDWR, 0644) == fd, "another number");
    put(fd, "outside ");
    close(fd);

    fd = file("first");
    const int second = file("second");
    put(fd, "first ");
    syscall(SYS_dup3, second, fd, 0);
    put(fd, "second ");
    put(second, "second too ");
    close(second);
    close(fd);

    fd = file("duplicated");
    const int same = (int)syscall(SYS_dup, fd);
    put(fd, "one ");
    put(same, "position ");
    close(fd);
    put(same, "for both ");
    close(same);

    fd = file("appended");
    put(fd, "begin ");
    syscall(SYS_fcntl, fd, F_SETFL, O_APPEND);
    lseek(fd, 0, SEEK_SET);
    put(fd, "end ");
    close(fd);

    fd = file("forked");
    put(fd, "parent ");
    const long child = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    if (child == 0) {
        put(fd, "child ");
        _exit(0);
    }
    waitpid((int)child, NULL, 0);
    put(fd, "parent again ");
    close(fd);

    fd = file("executed");
    put(fd, "before ");
    fflush(stdout);
    if (fork() == 0) {
        char* again[] = {words[0], words[1], "again", NULL};
        dup2(fd, 5);
        put(fd, "a child ");
        syscall(SYS_execve, "/proc/self/exe", again, environ);
        _exit(3);
    }
    int status = 0;
    wait(&status);
    expect(status == 0, "the other program failed");
    put(fd, "after ");
    close(fd);

    expect_text("closed", "before ");
    expect_text("../outside", "outside ");
    expect_text("first", "first ");
    expect_text("second", "second second too ");
    expect_text("duplicated", "one position for both ");
    expect_text("appended", "begin end ");
    expect_text("forked", "parent child parent again ");
    expect_text("executed", "before a child another program after ");
    printf("failed %d\n", failures);
    return 0;
}
