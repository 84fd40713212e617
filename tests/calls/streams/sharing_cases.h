// Streams, and descriptors below them, that several threads or processes use at the same moment.
#pragma once

#include "process_cases.h"

enum { writers = 6, lines_of_each = 3000 };

// By processes that share a position, each with what waits in a stream of its own: all lines are whole.
static void written_by_processes(void) {
    FILE* stream = fopen(path_of("file"), "w+");
    fflush(stdout);
    pid_t all[writers];
    for (int i = 0; i < writers; ++i) {
        all[i] = fork();
        if (all[i] != 0) continue;
        setvbuf(stream, NULL, _IOLBF, 0);
        for (int j = 0; j < lines_of_each; ++j) fprintf(stream, "process %d, line %04d\n", i, j);
        _exit(fclose(stream) == 0 ? 0 : 4);
    }
    for (int i = 0; i < writers; ++i) CHECK(status_of(all[i]) == 0);
    rewind(stream);
    int next[writers] = {0};
    int process = 0;
    int line = 0;
    int count = 0;
    for (; fscanf(stream, "process %d, line %d\n", &process, &line) == 2; ++count) CHECK(next[process]++ == line);
    printf("%d lines, at the end: %d\n", count, feof(stream) != 0);
    fclose(stream);
}

// Not by printf, which looks at the stream before it locks it (glibc), and may find it closed.
static void* put_lines(void* nothing) {
    (void)nothing;
    for (int i = 0; i < lines; ++i) {
        char line[100];
        snprintf(line, sizeof line, "a line of a thread, and its number: %d\n", i);
        CHECK(fputs(line, stdout) >= 0);
    }
    return NULL;
}

// Standard output gets one file after the other while threads print: each line is whole, in one of them.
static void reopened_beneath_threads(void) {
    const char* const names[] = {"first", "second", "third"};
    const int kept = dup(1);
    CHECK(freopen(path_of(names[0]), "w", stdout) == stdout);
    pthread_t all[threads];
    for (int i = 0; i < threads; ++i) CHECK(pthread_create(&all[i], NULL, put_lines, NULL) == 0);
    for (int i = 1; i < 300; ++i) CHECK(freopen(path_of(names[i % 3]), "a", stdout) == stdout);
    for (int i = 0; i < threads; ++i) pthread_join(all[i], NULL);
    CHECK(fflush(stdout) == 0 && dup2(kept, 1) == 1 && close(kept) == 0);
    int seen[lines] = {0};
    for (int i = 0; i < 3; ++i) {
        FILE* stream = fopen(path_of(names[i]), "r");
        int number = 0;
        while (stream != NULL && fscanf(stream, "a line of a thread, and its number: %d\n", &number) == 1)
            ++seen[number];
        CHECK(stream == NULL || feof(stream));
        if (stream != NULL) fclose(stream);
    }
    for (int i = 0; i < lines; ++i) CHECK(seen[i] == threads);
    printf("all lines are there\n");
}

static void* read_byte(void* stream) {
    fgetc(stream);
    return NULL;
}

// A thread that waits in a stream of the kernel's, in a process that has files of backends, and is cancelled there:
// it leaves no lock behind.
static void cancelled(void) {
    int ends[2];
    CHECK(pipe(ends) == 0);
    FILE* stream = fdopen(ends[0], "r");
    pthread_t reader;
    void* result = NULL;
    CHECK(pthread_create(&reader, NULL, read_byte, stream) == 0 && pthread_cancel(reader) == 0);
    CHECK(pthread_join(reader, &result) == 0);
    printf("cancelled %d, locked %d\n", result == PTHREAD_CANCELED, ftrylockfile(stream) != 0);
    CHECK(write(ends[1], "x", 1) == 1);
    printf("%c\n", fgetc(stream));
    funlockfile(stream);
    fclose(stream);
}

static pthread_barrier_t all_ready;

enum { first_inherited = 60, inherited_count = 40 };

static void* write_bytes(void* number) {
    pthread_barrier_wait(&all_ready);
    for (int i = (int)(long)number; i < inherited_count; i += threads) CHECK(write(first_inherited + i, "x", 1) == 1);
    return NULL;
}

// Descriptors that a program inherits as duplicates, and that its threads use at once, are one file: closing all but
// one of them closes nothing. The file has no name any more.
static void inherited(void) {
    if (fcntl(first_inherited, F_GETFD) < 0) {
        const int fd = open(path_of("file"), O_CREAT | O_RDWR, 0644);
        for (int i = 0; i < inherited_count; ++i) CHECK(dup2(fd, first_inherited + i) == first_inherited + i);
        CHECK(close(fd) == 0 && unlink(path_of("file")) == 0);
        execl("/proc/self/exe", "stream_cases", directory, "inherited", NULL);
        CHECK(0);
    }
    pthread_t all[threads];
    CHECK(pthread_barrier_init(&all_ready, NULL, threads) == 0);
    for (int i = 0; i < threads; ++i) CHECK(pthread_create(&all[i], NULL, write_bytes, (void*)(long)i) == 0);
    for (int i = 0; i < threads; ++i) pthread_join(all[i], NULL);
    for (int i = 1; i < inherited_count; ++i) CHECK(close(first_inherited + i) == 0);
    for (int i = 0; i < 200; ++i) {
        put_file("other", "other");
        CHECK(unlink(path_of("other")) == 0);
    }
    CHECK(write(first_inherited, "still there", 11) == 11);
    char text[100] = "";
    printf("%d bytes: %s\n", (int)pread(first_inherited, text, sizeof text - 1, 0), text);
}

static void* write_line(void* fd) {
    pthread_barrier_wait(&all_ready);
    CHECK(write((int)(long)fd, "a line of a child's thread\n", 27) == 27);
    return NULL;
}

// Children whose first calls several threads make at once.
static void threads_of_children(void) {
    const int fd = open(path_of("file"), O_CREAT | O_WRONLY | O_APPEND, 0644);
    fflush(stdout);
    for (int i = 0; i < 100; ++i) {
        const pid_t child = fork();
        if (child != 0) {
            CHECK(status_of(child) == 0);
            continue;
        }
        pthread_t all[threads];
        pthread_barrier_init(&all_ready, NULL, threads);
        for (int j = 0; j < threads; ++j) pthread_create(&all[j], NULL, write_line, (void*)(long)fd);
        for (int j = 0; j < threads; ++j) pthread_join(all[j], NULL);
        _exit(0);
    }
    close(fd);
    tell_file("file");
}

// Its standard streams lead nowhere from then on. Told to descriptor 9, whose end is waited for.
static void as_daemon(void) {
    printf("before\n");
    CHECK(fflush(stdout) == 0 && daemon(1, 0) == 0);
    const int put = printf("lost\n");
    dprintf(9, "%d %d\n", put, fflush(stdout));
}
