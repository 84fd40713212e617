// Part of every_function.c: functions of stdio.
#pragma once

#include <grp.h>
#include <gshadow.h>
#include <pwd.h>
#include <shadow.h>

#include "calling.h"

static void reading_streams(void) {
    char data[10000];
    wchar_t wide[1000];
    char* line = NULL;
    size_t room = 0;
    for (int i = 0; i < 10000; ++i) text[i] = i % 50 == 49 ? '\n' : '7';
    EACH("fopen", "fopen64", "_IO_fopen")
    CHECK(fclose(CALL(FILE * (*)(const char*, const char*))(made(name, 9), "r")) == 0);
    EACH("fdopen", "_IO_fdopen") CHECK(fclose(CALL(FILE * (*)(int, const char*))(opened(name, 9), "r")) == 0);
    EACH("freopen", "freopen64") {
        FILE* before = fopen(path_of("before_reopening"), "w");
        fputs("waiting", before);
        CHECK(fclose(CALL(FILE * (*)(const char*, const char*, FILE*))(made(name, 9), "r", before)) == 0);
    }
    EACH("tmpfile", "tmpfile64") CHECK(fclose(CALL(FILE * (*)(void))()) == 0);
    EACH("fread", "fread_unlocked", "_IO_fread") {
        FILE* f = fopen(made(name, 10000), "r");
        CHECK(CALL(size_t(*)(void*, size_t, size_t, FILE*))(data, 7, 10, f) == 10);
        CHECK(CALL(size_t(*)(void*, size_t, size_t, FILE*))(data, 1, 10000, f) == 9930);
        tell(name, "read", 10000);
    }
    EACH("__fread_chk", "__fread_unlocked_chk") {
        CHECK(CALL(size_t(*)(void*, size_t, size_t, size_t, FILE*))(data, 10000, 7, 10,
                                                                    fopen(made(name, 10000), "r")) == 10);
        tell(name, "read", 4096);
    }
    EACH("fgets", "fgets_unlocked", "_IO_fgets") {
        CHECK(CALL(char* (*)(char*, int, FILE*))(data, 100, fopen(made(name, 10000), "r")) != NULL);
        tell(name, "read", 4096);
    }
    EACH("__fgets_chk", "__fgets_unlocked_chk") {
        CHECK(CALL(char* (*)(char*, size_t, int, FILE*))(data, 10000, 100, fopen(made(name, 10000), "r")) != NULL);
        tell(name, "read", 4096);
    }
    EACH("getline") {
        CHECK(CALL(long (*)(char**, size_t*, FILE*))(&line, &room, fopen(made(name, 10000), "r")) == 50);
        tell(name, "read", 4096);
    }
    EACH("getdelim", "__getdelim") {
        CHECK(CALL(long (*)(char**, size_t*, int, FILE*))(&line, &room, '\n', fopen(made(name, 10000), "r")) == 50);
        tell(name, "read", 4096);
    }
    EACH("fgetc", "fgetc_unlocked", "getc", "getc_unlocked", "_IO_getc", "__uflow", "__underflow", "getw") {
        CHECK(CALL(int (*)(FILE*))(fopen(made(name, 10000), "r")) != EOF);
        tell(name, "read", 4096);
    }
    EACH("fgetwc", "getwc", "fgetwc_unlocked", "getwc_unlocked") {
        CHECK(CALL(wint_t(*)(FILE*))(fopen(made(name, 10000), "r")) != WEOF);
        tell(name, "read", 4096);
    }
    EACH("__wuflow", "__wunderflow") {
        FILE* f = fopen(made(name, 10000), "r");
        fwide(f, 1);
        CHECK(CALL(wint_t(*)(FILE*))(f) != WEOF);
        tell(name, "read", 4096);
    }
    EACH("fgetws", "fgetws_unlocked") {
        CHECK(CALL(wchar_t * (*)(wchar_t*, int, FILE*))(wide, 100, fopen(made(name, 10000), "r")) != NULL);
        tell(name, "read", 4096);
    }
    EACH("__fgetws_chk", "__fgetws_unlocked_chk") {
        CHECK(CALL(wchar_t * (*)(wchar_t*, size_t, int, FILE*))(wide, 1000, 100, fopen(made(name, 10000), "r")) !=
              NULL);
        tell(name, "read", 4096);
    }
    EACH("fscanf", "__isoc99_fscanf", "__isoc23_fscanf") {
        CHECK(CALL(int (*)(FILE*, const char*, ...))(fopen(made(name, 10000), "r"), "%99s", data) == 1);
        tell(name, "read", 4096);
    }
    EACH("fwscanf", "__isoc99_fwscanf", "__isoc23_fwscanf") {
        CHECK(CALL(int (*)(FILE*, const wchar_t*, ...))(fopen(made(name, 10000), "r"), L"%99ls", wide) == 1);
        tell(name, "read", 4096);
    }
}

static int scan(const char* name, FILE* f, const void* format, ...) {
    va_list values;
    va_start(values, format);
    const int result = f == NULL ? CALL(int (*)(const void*, va_list))(format, values)
                                 : CALL(int (*)(FILE*, const void*, va_list))(f, format, values);
    va_end(values);
    return result;
}

static void fresh_input(const char* name, int is_wide) {
    const int fd = opened(name, 10000);
    dup2(fd, 0);
    stdin = fdopen(0, "r");
    fwide(stdin, is_wide ? 1 : -1);
}

static void reading_input(void) {
    char data[1000];
    wchar_t wide[1000];
    EACH("vfscanf", "__vfscanf", "__isoc99_vfscanf", "__isoc23_vfscanf") {
        CHECK(scan(name, fopen(made(name, 10000), "r"), "%99s", data) == 1);
        tell(name, "read", 4096);
    }
    EACH("vfwscanf", "__isoc99_vfwscanf", "__isoc23_vfwscanf") {
        CHECK(scan(name, fopen(made(name, 10000), "r"), L"%99ls", wide) == 1);
        tell(name, "read", 4096);
    }
    EACH("gets", "_IO_gets", "__gets_chk") {
        fresh_input(name, 0);
        CHECK(CALL(char* (*)(char*, size_t))(data, sizeof data) != NULL && strlen(data) == 49);
        tell(name, "read", 4096);
    }
    EACH("scanf", "__isoc99_scanf", "vscanf", "__isoc99_vscanf", "getchar", "getchar_unlocked", "wscanf",
         "__isoc99_wscanf", "vwscanf", "__isoc99_vwscanf", "__isoc23_scanf", "__isoc23_vscanf", "__isoc23_wscanf",
         "__isoc23_vwscanf", "getwchar", "getwchar_unlocked") {
        const int is_wide = strstr(name, "ws") != NULL || strstr(name, "wc") != NULL;
        const int listed = strstr(name, "vscanf") || strstr(name, "vwscanf");
        fresh_input(name, is_wide);
        if (strstr(name, "getwchar"))
            CHECK(CALL(wint_t(*)(void))() == L'7');
        else if (strstr(name, "getchar"))
            CHECK(CALL(int (*)(void))() == '7');
        else if (listed)
            CHECK(scan(name, NULL, is_wide ? (void*)L"%99ls" : (void*)"%99s", is_wide ? (void*)wide : (void*)data) ==
                  1);
        else if (is_wide)
            CHECK(CALL(int (*)(const wchar_t*, ...))(L"%99ls", wide) == 1);
        else
            CHECK(CALL(int (*)(const char*, ...))("%99s", data) == 1);
        tell(name, "read", 4096);
    }
}

static int print(const char* name, FILE* f, const void* format, ...) {
    va_list values;
    va_start(values, format);
    const int checked = strstr(name, "_chk") != NULL;
    int result;
    if (f == NULL) {
        result = checked ? CALL(int (*)(int, const void*, va_list))(1, format, values)
                         : CALL(int (*)(const void*, va_list))(format, values);
    } else {
        result = checked ? CALL(int (*)(FILE*, int, const void*, va_list))(f, 1, format, values)
                         : CALL(int (*)(FILE*, const void*, va_list))(f, format, values);
    }
    va_end(values);
    return result;
}

static void writing_streams(void) {
#define CLOSED(f, bytes)            \
    do {                            \
        CHECK(fclose(f) == 0);      \
        tell(name, "write", bytes); \
    } while (0)
    EACH("fwrite", "fwrite_unlocked", "_IO_fwrite") {
        FILE* f = fopen(path_of(name), "w");
        CHECK(CALL(size_t(*)(const void*, size_t, size_t, FILE*))(text, 7, 1000, f) == 1000);
        CLOSED(f, 7000);
    }
    EACH("fputs", "fputs_unlocked", "_IO_fputs") {
        FILE* f = fopen(path_of(name), "w");
        CHECK(CALL(int (*)(const char*, FILE*))("words", f) >= 0);
        CLOSED(f, 5);
    }
    EACH("fputc", "fputc_unlocked", "putc", "putc_unlocked", "_IO_putc", "putw") {
        FILE* f = fopen(path_of(name), "w");
        for (int i = 0; i < 5000; ++i) CALL(int (*)(int, FILE*))('a', f);
        CLOSED(f, strcmp(name, "putw") == 0 ? 20000 : 5000);
    }
    EACH("__overflow") {
        FILE* f = fopen(path_of(name), "w");
        CHECK(CALL(int (*)(FILE*, int))(f, 'x') == 'x');
        CLOSED(f, 1);
    }
    EACH("fputwc", "putwc", "fputwc_unlocked", "putwc_unlocked") {
        FILE* f = fopen(path_of(name), "w");
        CHECK(CALL(wint_t(*)(wchar_t, FILE*))(L'\u20ac', f) != WEOF);
        CLOSED(f, 3);
    }
    EACH("__woverflow") {
        FILE* f = fopen(path_of(name), "w");
        fwide(f, 1);
        CHECK(CALL(wint_t(*)(FILE*, wint_t))(f, L'x') != WEOF);
        CLOSED(f, 1);
    }
    EACH("fputws", "fputws_unlocked") {
        FILE* f = fopen(path_of(name), "w");
        CHECK(CALL(int (*)(const wchar_t*, FILE*))(L"\u20ac\u20ac", f) >= 0);
        CLOSED(f, 6);
    }
    EACH("fprintf", "_IO_fprintf") {
        FILE* f = fopen(path_of(name), "w");
        CHECK(CALL(int (*)(FILE*, const char*, ...))(f, "%d %s", 5, "words") == 7);
        CLOSED(f, 7);
    }
    EACH("__fprintf_chk") {
        FILE* f = fopen(path_of(name), "w");
        CHECK(CALL(int (*)(FILE*, int, const char*, ...))(f, 1, "%d %s", 5, "words") == 7);
        CLOSED(f, 7);
    }
    EACH("vfprintf", "_IO_vfprintf", "__vfprintf_chk") {
        FILE* f = fopen(path_of(name), "w");
        CHECK(print(name, f, "%d %s", 5, "words") == 7);
        CLOSED(f, 7);
    }
    EACH("fwprintf") {
        FILE* f = fopen(path_of(name), "w");
        CHECK(CALL(int (*)(FILE*, const wchar_t*, ...))(f, L"%d %s", 5, "words") == 7);
        CLOSED(f, 7);
    }
    EACH("__fwprintf_chk") {
        FILE* f = fopen(path_of(name), "w");
        CHECK(CALL(int (*)(FILE*, int, const wchar_t*, ...))(f, 1, L"%d %s", 5, "words") == 7);
        CLOSED(f, 7);
    }
    EACH("vfwprintf", "__vfwprintf_chk") {
        FILE* f = fopen(path_of(name), "w");
        CHECK(print(name, f, L"%d %s", 5, "words") == 7);
        CLOSED(f, 7);
    }
    EACH("fclose", "_IO_fclose", "fflush", "fflush_unlocked", "_IO_fflush", "fcloseall") {
        FILE* f = fopen(path_of(name), "w");
        fputs("some words", f);
        if (strcmp(name, "fcloseall") == 0)
            fflush(f);  // the last test of all calls it
        else
            CHECK(CALL(int (*)(FILE*))(f) == 0);
        tell(name, "write", 10);
    }
    EACH("fseek", "fseeko", "fseeko64", "rewind", "fsetpos", "fsetpos64", "_IO_fsetpos", "_IO_fsetpos64") {
        FILE* f = fopen(path_of(name), "w+");
        fpos_t begin;
        fgetpos(f, &begin);
        fputs("some words", f);
        if (name[0] == 'r')
            CALL(void (*)(FILE*))(f);
        else if (strstr(name, "seek"))
            CHECK(CALL(int (*)(FILE*, long, int))(f, 0, SEEK_SET) == 0);
        else
            CHECK(CALL(int (*)(FILE*, const fpos_t*))(f, &begin) == 0);
        tell(name, "write", 10);
        CHECK(fgetc(f) == 's');
        tell(name, "read", 10);
    }
    struct passwd user = {"u", "x", 1, 2, "n", "/", "s"};
    struct group group = {"g", "x", 3, NULL};
    struct spwd shadow = {"u", "x", 1, 2, 3, 4, 5, 6, 7};
    struct sgrp shadow_group = {"g", "x", NULL, NULL};
    EACH("putpwent", "putgrent", "putspent", "putsgent") {
        const void* entry = strcmp(name, "putpwent") == 0   ? (void*)&user
                            : strcmp(name, "putgrent") == 0 ? (void*)&group
                            : strcmp(name, "putspent") == 0 ? (void*)&shadow
                                                            : (void*)&shadow_group;
        FILE* f = fopen(path_of(name), "w");
        CHECK(CALL(int (*)(const void*, FILE*))(entry, f) == 0);
        const long bytes = ftell(f);
        CHECK(bytes > 5);
        CLOSED(f, bytes);
    }
    EACH("setvbuf", "_IO_setvbuf", "setbuf", "setbuffer", "_IO_setbuffer", "setlinebuf") {
        FILE* f = fopen(path_of(name), "w");
        if (strstr(name, "setvbuf"))
            CALL(int (*)(FILE*, char*, int, size_t))(f, NULL, _IONBF, 0);
        else if (strcmp(name, "setlinebuf") == 0)
            CALL(void (*)(FILE*))(f);
        else
            CALL(void (*)(FILE*, char*, size_t))(f, NULL, 0);
        fputs("words", f);
        fputs("more\n", f);
        CLOSED(f, 10);
    }
}

static FILE* usual_output;

static void fresh_output(const char* name, int is_wide) {
    dup2(opened(name, 0), 1);
    stdout = fdopen(1, "w");
    fwide(stdout, is_wide ? 1 : -1);
}

static void writing_output(void) {
    usual_output = stdout;
    EACH("printf", "_IO_printf", "__printf_chk", "vprintf", "__vprintf_chk", "wprintf", "__wprintf_chk", "vwprintf",
         "__vwprintf_chk", "puts", "_IO_puts", "putchar", "putchar_unlocked", "putwchar", "putwchar_unlocked") {
        const int is_wide = strstr(name, "wp") != NULL || strstr(name, "wc") != NULL;
        const int checked = strstr(name, "_chk") != NULL;
        const void* format = is_wide ? (void*)L"%d words" : (void*)"%d words";
        fresh_output(name, is_wide);
        int bytes = 7;
        if (strstr(name, "puts"))
            bytes = CALL(int (*)(const char*))("words") >= 0 ? 6 : 0;
        else if (strstr(name, "putwc"))
            bytes = CALL(wint_t(*)(wchar_t))(L'x') == L'x';
        else if (strstr(name, "putc"))
            bytes = CALL(int (*)(int))('x') == 'x';
        else if (strchr(name, 'v'))
            CHECK(print(name, NULL, format, 5) == 7);
        else if (checked)
            CHECK(CALL(int (*)(int, const void*, ...))(1, format, 5) == 7);
        else
            CHECK(CALL(int (*)(const void*, ...))(format, 5) == 7);
        CHECK(fflush(stdout) == 0);
        tell(name, "write", bytes);
    }
}

static void warn_in_list(const char* name, int status, const char* format, ...) {
    va_list values;
    va_start(values, format);
    if (strstr(name, "err"))
        CALL(void (*)(int, const char*, va_list))(status, format, values);
    else
        CALL(void (*)(const char*, va_list))(format, values);
    va_end(values);
}

static void say(const char* name) {
    siginfo_t signal = {.si_signo = SIGUSR1};
    errno = ENOENT;
    if (strcmp(name, "perror") == 0 || strcmp(name, "herror") == 0)
        CALL(void (*)(const char*))("words");
    else if (strcmp(name, "psignal") == 0)
        CALL(void (*)(int, const char*))(SIGUSR1, "words");
    else if (strcmp(name, "psiginfo") == 0)
        CALL(void (*)(siginfo_t*, const char*))(&signal, "words");
    else if (strcmp(name, "error") == 0)
        CALL(void (*)(int, int, const char*, ...))(3, ENOENT, "%d %s %.1f", 5, "words", 0.5);
    else if (strcmp(name, "error_at_line") == 0)
        CALL(void (*)(int, int, const char*, unsigned, const char*, ...))(3, 0, "file", 7, "%d words", 5);
    else if (name[0] == 'v')
        warn_in_list(name, 3, "%d words", 5);
    else if (strstr(name, "err"))
        CALL(void (*)(int, const char*, ...))(3, "%d %s %.1f", 5, "words", 0.5);
    else
        CALL(void (*)(const char*, ...))("%d %s %.1f", 5, "words", 0.5);
}

// Each in a process of its own, with its file as standard error; what waits for standard output is not lost either.
static void writing_messages(void) {
    EACH("perror", "herror", "psignal", "psiginfo", "warn", "warnx", "vwarn", "vwarnx", "err", "errx", "verr", "verrx",
         "error", "error_at_line") {
        const int ends = strstr(name, "err") != NULL && strcmp(name, "perror") != 0 && strcmp(name, "herror") != 0;
        const int fd = opened(name, 0);
        const pid_t child = fork();
        if (child == 0) {
            dup2(fd, 2);
            say(name);
            write(2, "after", 5);
            _exit(0);
        }
        int status = 0;
        CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == (ends ? 3 : 0));
        struct stat now;
        CHECK(fstat(fd, &now) == 0 && now.st_size > 5);
        tell(name, "write", now.st_size);
    }
}
