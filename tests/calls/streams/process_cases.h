// Streams that several threads or processes have, and what becomes of them at the end.
#pragma once

#include <pthread.h>

#include "stream_cases.h"

enum { threads = 4, lines = 2000 };

static void* write_lines(void* stream) {
    for (int i = 0; i < lines; ++i) fprintf(stream, "a line of a thread, and its number: %d\n", i);
    return NULL;
}

static void shared_by_threads(void) {
    FILE* stream = fopen(path_of("file"), "w+");
    setvbuf(stream, NULL, _IOFBF, 700);
    pthread_t all[threads];
    for (int i = 0; i < threads; ++i) CHECK(pthread_create(&all[i], NULL, write_lines, stream) == 0);
    for (int i = 0; i < threads; ++i) pthread_join(all[i], NULL);
    rewind(stream);
    int seen[lines] = {0};
    int number = 0;
    int count = 0;
    for (; fscanf(stream, "a line of a thread, and its number: %d\n", &number) == 1; ++count) ++seen[number];
    for (int i = 0; i < lines; ++i) CHECK(seen[i] == threads);
    printf("%d lines, at the end: %d\n", count, feof(stream) != 0);
    fclose(stream);
}

// What waits in a stream is written by parent and child; the position is one.
static void forked(void) {
    FILE* stream = fopen(path_of("file"), "w+");
    fputs("waits ", stream);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        fputs("child ", stream);
        exit(fclose(stream));
    }
    printf("child %d\n", status_of(child));
    fputs("parent ", stream);
    fflush(stream);
    tell_file("file");
    fflush(stdout);
    child = fork();
    if (child == 0) {
        for (int i = 0; i < 3000; ++i) fprintf(stream, "%d\n", i);
        _exit(fflush(stream));
    }
    printf("child %d\n", status_of(child));
    fputs("behind it\n", stream);
    fclose(stream);
    tell_file("file");
    stream = fopen(path_of("file"), "r");
    char line[100];
    fgets(line, sizeof line, stream);
    fflush(stdout);
    child = fork();
    if (child == 0) {
        fgets(line, sizeof line, stream);
        printf("child reads %s", line);
        exit(0);
    }
    printf("child %d\n", status_of(child));
    fgets(line, sizeof line, stream);
    printf("parent reads %s at %ld\n", line, ftell(stream));
    fclose(stream);
}

static void commands(void) {
    char command[9000];
    FILE* stream = fopen(path_of("file"), "w+");
    fputs("one\ntwo\n", stream);
    fflush(stream);
    snprintf(command, sizeof command, "cat '%s'; echo three >>'%s'", path_of("file"), path_of("file"));
    fflush(stdout);
    printf("system %d\n", system(command));
    fclose(stream);
    snprintf(command, sizeof command, "sort -r '%s'", path_of("file"));
    FILE* pipe = popen(command, "r");
    char line[100];
    while (fgets(line, sizeof line, pipe) != NULL) printf("read %s", line);
    printf("pclose %d\n", pclose(pipe));
    snprintf(command, sizeof command, "cat >'%s'", path_of("piped"));
    pipe = popen(command, "w");
    for (int i = 0; i < 3000; ++i) fprintf(pipe, "%d\n", i);
    printf("pclose %d\n", pclose(pipe));
    tell_file("piped");
    // A command inherits descriptors.
    const int kept = dup(1);
    const int fd = open(path_of("output"), O_CREAT | O_RDWR, 0644);
    dup2(fd, 1);
    puts("before");
    fflush(stdout);
    const int done = system("echo echoed; ls / >/dev/null; printf 'printed %s\\n' by_printf");
    puts("behind");
    fflush(stdout);
    dup2(kept, 1);
    printf("system %d\n", done);
    tell_file("output");
}

static void redirected(void) {
    const int kept = dup(1);
    const int fd = open(path_of("file"), O_CREAT | O_RDWR | O_TRUNC, 0644);
    CHECK(dup2(fd, 1) == 1 && close(fd) == 0);
    for (int i = 0; i < 3000; ++i) printf("%d\n", i);
    dprintf(1, "%s %d %0*d\n", "printed to a descriptor", 7, 100000, 3);
    fflush(stdout);
    CHECK(write(1, "written\n", 8) == 8);
    printf("%s\n", "last");
    fflush(stdout);
    CHECK(dup2(kept, 1) == 1 && close(kept) == 0);
    printf("back\n");
    tell_file("file");
}

// Appended by processes that have the file open in their own ways: all lines are whole.
static void appended(void) {
    put_file("file", "");
    fflush(stdout);
    for (int i = 0; i < 4; ++i) {
        if (fork() != 0) continue;
        FILE* stream = fopen(path_of("file"), "a");
        setvbuf(stream, NULL, _IOLBF, 0);
        for (int j = 0; j < 500; ++j) fprintf(stream, "process %d, line %03d\n", i, j);
        exit(fclose(stream));
    }
    for (int i = 0; i < 4; ++i) CHECK(wait(NULL) > 0);
    FILE* stream = fopen(path_of("file"), "r");
    int next[4] = {0};
    int process = 0;
    int line = 0;
    while (fscanf(stream, "process %d, line %d\n", &process, &line) == 2) CHECK(next[process]++ == line);
    printf("%d %d %d %d, at the end: %d\n", next[0], next[1], next[2], next[3], feof(stream) != 0);
    fclose(stream);
}

// The child lives in this memory; what it does to its descriptors is not done to ours.
static void child_of_vfork(void) {
    FILE* stream = fopen(path_of("file"), "w+");
    FILE* other = fopen("/dev/null", "r+");
    const int out = fileno(stream);
    const int null = fileno(other);
    char* const words[] = {"sh", "-c", "echo by the child", NULL};
    fputs("one\n", stream);
    fflush(stream);
    fflush(stdout);
    const pid_t child = vfork();
    if (child == 0) {
        dup2(out, 1);     // a backend's
        dup2(null, out);  // the kernel's, under a backend's number
        dup2(out, 77);
        close(null);
        execv("/bin/sh", words);
        _exit(127);
    }
    printf("child %d\n", status_of(child));
    fputs("two\n", stream);
    CHECK(fflush(stream) == 0);
    CHECK(write(out, "three\n", 6) == 6);
    CHECK(fputs("lost", other) >= 0 && fflush(other) == 0 && fcntl(77, F_GETFD) < 0);
    printf("and standard output is as it was\n");
    fclose(other);
    fclose(stream);
    tell_file("file");
}

static void put_at_exit(void) {
    printf("by a handler at exit\n");
}
__attribute__((destructor)) static void put_by_destructor(void) {
    printf("by a destructor\n");
}

// What is printed is in the streams until the very end.
static void ending(void) {
    atexit(put_at_exit);
    FILE* stream = fopen(path_of("never closed"), "w");
    fputs("never flushed\n", stream);
    printf("never flushed either\n");
}

// Standard output and error are one, of a file that has no name any more: closing one of them closes nothing. Told to
// descriptor 9.
static void joined(void) {
    CHECK(unlink(path_of("joined")) == 0 && close(2) == 0);
    for (int i = 0; i < 200; ++i) {
        FILE* other = fopen(path_of("other"), "w");
        fputs("other", other);
        CHECK(fclose(other) == 0 && unlink(path_of("other")) == 0);
    }
    char text[20] = "";
    printf("still there\n");
    const int flushed = fflush(stdout);
    const int got = (int)pread(1, text, sizeof text, 0);
    dprintf(9, "%d %d %s", flushed, got, text);
    _exit(0);
}

static void reading(void) {
    char line[100] = "";
    for (int i = 0; i < 3; ++i) printf("%s", fgets(line, sizeof line, stdin) == NULL ? "nothing\n" : line);
    printf("%d %d\n", getchar(), ungetc('u', stdin));
    fflush(stdin);
    fflush(stdout);
    // What this one read ahead it gives back.
    printf("%d\n", system("head -n 1; cat | tail -n 1"));
}
