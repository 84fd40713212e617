// How streams are opened, opened anew, and what their modes and buffers do.
#pragma once

#include <locale.h>

#include "stream_cases.h"

static void open_and_tell(const char* name, const char* mode) {
    FILE* stream = fopen(path_of(name), mode);
    printf("fopen %s %s: %s\n", name, mode, stream == NULL ? strerrorname_np(errno) : "open");
    if (stream == NULL) return;
    printf("number %d flags %o closes %d at %ld\n", fileno(stream),
           fcntl(fileno(stream), F_GETFL) & (O_ACCMODE | O_APPEND), fcntl(fileno(stream), F_GETFD), ftell(stream));
    tell("fputs", fputs("text\n", stream) < 0 ? -1 : 0);
    tell("fflush", fflush(stream));
    rewind(stream);
    char line[100] = "";
    printf("fgets %s", fgets(line, sizeof line, stream) == NULL ? "nothing\n" : line);
    printf("eof %d error %d\n", feof(stream) != 0, ferror(stream) != 0);
    tell("fclose", fclose(stream));
    tell_file(name);
}

static void modes(void) {
    const char* const all[] = {"r", "w",    "a",  "r+",  "w+",  "a+",  "rb",     "wx",    "w+x",          "q",
                               "",  "r+be", "we", "ab+", "rme", "rce", "w+bcxe", "r+xbx", "w,ccs=no such"};
    for (size_t i = 0; i < sizeof all / sizeof *all; ++i) {
        open_and_tell("there is none", all[i]);
        unlink(path_of("there is none"));
        put_file("there is one", "one\ntwo\n");
        open_and_tell("there is one", all[i]);
    }
    FILE* folder = fopen(directory, "r");
    printf("folder %d\n", folder != NULL);
    if (folder != NULL) {
        const int got = fgetc(folder);
        printf("fgetc %d %s\n", got, strerrorname_np(errno));
        fclose(folder);
    }
    folder = fopen(directory, "w");
    printf("folder to write: %s\n", folder == NULL ? strerrorname_np(errno) : "open");
}

static void descriptors(void) {
    put_file("file", "one\ntwo\nthree\n");
    const int flags[] = {O_RDONLY, O_WRONLY, O_RDWR, O_RDWR | O_APPEND};
    const char* const all[] = {"r", "w", "a", "r+", "w+", "a+", "wx", "q"};
    for (size_t i = 0; i < 4; ++i) {
        for (size_t j = 0; j < 8; ++j) {
            const int fd = open(path_of("file"), flags[i]);
            CHECK(lseek(fd, 4, SEEK_SET) == 4);
            FILE* stream = fdopen(fd, all[j]);
            printf("fdopen %zu %s %s\n", i, all[j], stream == NULL ? strerrorname_np(errno) : "open");
            if (stream == NULL) {
                close(fd);
                continue;
            }
            printf("number %d at %ld, appends %d\n", fileno(stream) == fd, ftell(stream),
                   (fcntl(fd, F_GETFL) & O_APPEND) != 0);
            tell("fputs", fputs("TWO", stream) < 0 ? -1 : 0);
            tell("fclose", fclose(stream));
            tell_file("file");
        }
    }
    printf("closed %d\n", fdopen(77, "r") != NULL);
}

static void conversions(void) {
    CHECK(setlocale(LC_ALL, "C.UTF-8") != NULL);
    const char* const all[] = {"w,ccs=UTF-8", "w,ccs=ISO-8859-1", "w,ccs=UTF-16LE", "w,ccs=utf8", "we,ccs=UTF-8,x"};
    for (size_t i = 0; i < sizeof all / sizeof *all; ++i) {
        FILE* stream = fopen(path_of("file"), all[i]);
        printf("%s: %s\n", all[i], stream == NULL ? strerrorname_np(errno) : "open");
        if (stream == NULL) continue;
        printf("wide %d %d\n", fwide(stream, 0) > 0, fputws(L"äßé wide\n", stream) >= 0);
        tell("fwprintf", fwprintf(stream, L"%d %ls\n", 7, L"more"));
        tell("fclose", fclose(stream));
        tell_file("file");
        char mode[64] = "r";
        strcat(mode, strchr(all[i], ','));
        stream = fopen(path_of("file"), mode);
        if (stream == NULL) continue;
        wchar_t line[100];
        while (fgetws(line, 100, stream) != NULL) printf("%zu %llx\n", wcslen(line), hash(line, wcslen(line) * 4));
        fclose(stream);
    }
}

static void mapped(void) {
    FILE* stream = fopen(path_of("file"), "w");
    for (int i = 0; i < 5000; ++i) fprintf(stream, "line %d\n", i);
    fclose(stream);
    stream = fopen(path_of("file"), "rm");
    char line[100];
    unsigned long long seen = 0;
    int lines = 0;
    for (; fgets(line, sizeof line, stream) != NULL; ++lines) seen += hash(line, strlen(line));
    printf("%d %llx\n", lines, seen);
    tell("fseek", fseek(stream, -10, SEEK_END));
    while ((lines = getc_unlocked(stream)) != EOF) putchar(lines);
    tell("fclose", fclose(stream));
}

static void characters(void) {
    FILE* stream = fopen(path_of("file"), "w+");
    for (int i = 0; i < 1000000; ++i) CHECK(putc_unlocked(i * 7 % 251, stream) == i * 7 % 251);
    tell("fseek", fseek(stream, 0, SEEK_SET));
    long sum = 0;
    int count = 0;
    for (int got = 0; (got = getc_unlocked(stream)) != EOF; ++count) sum += (long)got * (count % 13);
    printf("%d %ld\n", count, sum);
    tell("fclose", fclose(stream));
    tell_file("file");
}

static void reopen_and_tell(const char* name, const char* mode, FILE* stream) {
    const int before = fileno(stream);
    FILE* again = freopen(name, mode, stream);
    printf("freopen %s: %s\n", mode, again == NULL ? strerrorname_np(errno) : again == stream ? "open" : "another");
    if (again == NULL) {
        printf("number is free: %d\n", fcntl(before, F_GETFD) < 0);
        return;
    }
    printf("number %d at %ld wide %d\n", fileno(again) == before, ftell(again), fwide(again, 0));
    fputs("reopened ", again);
    fflush(again);
}

static void reopening(void) {
    put_file("other", "other file\n");
    const char* const outside = "/tmp/halcyon-no-such-folder/file";
    const char* const all[] = {"r", "w", "a", "r+", "w+", "a+", "wx", "q", "re"};
    for (size_t i = 0; i < sizeof all / sizeof *all; ++i) {
        for (int way = 0; way < 6; ++way) {
            put_file("file", "the file\n");
            FILE* stream = fopen(way == 4 ? "/dev/null" : path_of("file"), "r+");
            printf("%s, way %d\n", all[i], way);
            CHECK(fputs("before ", stream) >= 0);
            if (way == 5) CHECK(unlink(path_of("file")) == 0);
            reopen_and_tell(way == 0   ? path_of("other")
                            : way == 1 ? "/dev/null"
                            : way == 2 ? outside
                            : way == 4 ? path_of("file")
                                       : NULL,
                            all[i], stream);
            if (fileno(stream) >= 0) tell("fclose", fclose(stream));
            tell_file("file");
            tell_file("other");
        }
    }
    // A stream that was closed so is opened again.
    FILE* stream = fopen(path_of("file"), "w");
    fputs("words", stream);
    fclose(stream);
    CHECK(freopen(path_of("file"), "r", stdin) == stdin && fileno(stdin) == 0);
    char word[10];
    CHECK(scanf("%9s", word) == 1);
    printf("%s\n", word);
}

static void buffers(void) {
    const int kinds[] = {_IOFBF, _IOLBF, _IONBF};
    static char room[512];
    for (int i = 0; i < 6; ++i) {
        FILE* stream = fopen(path_of("file"), "w+");
        tell("setvbuf", setvbuf(stream, i < 3 ? NULL : room, kinds[i % 3], sizeof room));
        for (int j = 0; j < 40; ++j) {
            fprintf(stream, "%d%c", j, j % 7 == 0 ? '\n' : ' ');
            if (j % 10 == 0) tell_file("file");
        }
        tell("fseek", fseek(stream, 5, SEEK_SET));
        printf("%d %d\n", fgetc(stream), ungetc('u', stream));
        tell("ftell", ftell(stream));
        tell("fclose", fclose(stream));
        tell_file("file");
    }
}
