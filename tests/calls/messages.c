// Tells the user things by all functions that do so, and ends by one of them. What it writes does not depend on whether
// somebody looks on. Usage: messages err|verrx|error|error_at_line
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <error.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void own_name(void) {
    fputs("own name: ", stderr);
}

static void at_end(void) {
    fprintf(stderr, "%u messages\n", error_message_count);
}

static void last_words(const char* format, ...) {
    va_list values;
    va_start(values, format);
    verrx(4, format, values);
}

int main(int count, char** words) {
    static char many[100000];
    memset(many, 'm', sizeof many - 1);
    atexit(at_end);
    printf("before, ");
    error(0, ENOENT, "%s %d %.2f", "words", 5, 0.25);
    printf("between, ");
    errno = EACCES;
    error(0, 0, "%m, %s %d %d %d %d %.1f", "words", 1, 2, 3, 4, 0.5);
    error(0, EPERM, "%s", many);
    error(0, EPERM, "%.511s", many);
    error(0, EPERM, "%.512s", many);
    error_at_line(0, 0, "file", 7, "at a line");
    error_at_line(0, ENOENT, NULL, 7, "of no file");
    error_one_per_line = 1;
    for (int i = 0; i < 3; ++i) error_at_line(0, 0, "file", 7, "told once");
    printf("not flushed by what is not told, ");
    volatile int status = 9;  // not known to the compiler, which takes the call for the end
    error_at_line(status, 0, "file", 7, "told already");
    error_at_line(0, 0, "file", 8, "told");
    error_print_progname = own_name;
    error(0, ENOENT, "under another name");
    errno = ENOENT;
    warn("no %s", "file");
    warnx("no %s%d%.1f", "reason", 1, 0.5);
    warn(NULL);
    psignal(SIGUSR1, "signal");
    perror("perror");
    if (write(2, "written\n", 8) != 8) return 1;
    if (count > 2) {
        static char buffer[8192];
        setvbuf(stderr, buffer, _IOFBF, sizeof buffer);
        fputs("waits\n", stderr);
        warnx("waits, too");
        error(0, 0, "does not wait");
        fputs("waits again\n", stderr);
    }
    printf("the end\n");
    if (strcmp(words[1], "err") == 0) err(2, "err");
    if (strcmp(words[1], "verrx") == 0) last_words("%s", "verrx");
    if (strcmp(words[1], "error") == 0) error(5, EEXIST, "error %d", 5);
    error_at_line(6, EEXIST, "file", 9, "error_at_line");
    return 0;
}
