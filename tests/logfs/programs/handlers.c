// Writes lines to a file while a timer's signals interrupt it. Each handler counts up the number in the first line, by
// pread and pwrite, and every tenth one jumps out of what it interrupted. Then the file is what both have written.
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

enum { line_bytes = 8, signals = 500, every = 10 };

static int file;
static sigjmp_buf before_write;
static volatile sig_atomic_t handled, failed;

static void put_number(char* text, int number) {
    for (int at = line_bytes - 2; at >= 0; --at, number /= 10) text[at] = (char)('0' + number % 10);
    text[line_bytes - 1] = '\n';
}

static int number_in(const char* text) {
    int number = 0;
    for (int at = 0; at < line_bytes - 1; ++at) number = 10 * number + text[at] - '0';
    return number;
}

static void count(int signal) {
    (void)signal;
    char text[line_bytes];
    if (pread(file, text, line_bytes, 0) != line_bytes) ++failed;
    put_number(text, number_in(text) + 1);
    if (pwrite(file, text, line_bytes, 0) != line_bytes) ++failed;
    ++handled;
    if (handled % every == 0) siglongjmp(before_write, 1);
}

int main(int argc, char** arguments) {
    if (argc != 2) return 2;
    file = open(arguments[1], O_CREAT | O_RDWR | O_TRUNC, 0644);
    char text[line_bytes];
    put_number(text, 0);
    if (file < 0 || write(file, text, line_bytes) != line_bytes) return 3;
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = count;
    action.sa_flags = SA_RESTART;
    sigaction(SIGALRM, &action, NULL);
    const struct itimerval often = {{0, 300}, {0, 300}};
    setitimer(ITIMER_REAL, &often, NULL);
    static volatile int lines = 0;
    sigsetjmp(before_write, 1);
    while (handled < signals) {
        put_number(text, lines + 1);
        if (pwrite(file, text, line_bytes, (off_t)line_bytes * (lines + 1)) != line_bytes) return 4;
        ++lines;
    }
    const struct itimerval never = {{0, 0}, {0, 0}};
    setitimer(ITIMER_REAL, &never, NULL);
    const int counted = handled;
    int wrong = 0;
    for (int line = 0; line <= lines; ++line) {
        if (pread(file, text, line_bytes, (off_t)line_bytes * line) != line_bytes) return 5;
        if (number_in(text) != (line == 0 ? counted : line)) ++wrong;
    }
    printf("failed %d wrong %d\n", (int)failed, wrong);
    fflush(stdout);
    _exit(failed == 0 && wrong == 0 ? 0 : 1);
}
