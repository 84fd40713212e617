// Messages of the C library, with the file as standard error.
#pragma once

#include <err.h>
#include <error.h>
#include <netdb.h>
#include <signal.h>

#include "stream_cases.h"

static void say_all(void) {
    static char path[4200];
    errno = ENOENT;
    perror("words");
    errno = EDQUOT;
    perror(NULL);
    errno = EDQUOT;
    perror("");
    memset(path, 'p', sizeof path - 1);
    perror(path);
    h_errno = HOST_NOT_FOUND;
    herror("host");
    psignal(SIGUSR1, "words");
    psignal(1000, NULL);
    const siginfo_t sent = {.si_signo = SIGUSR1, .si_code = SI_USER};
    const siginfo_t fault = {.si_signo = SIGSEGV, .si_code = SEGV_MAPERR};
    psiginfo(&sent, "words");
    psiginfo(&fault, NULL);
    errno = ENOENT;
    warn("%d words", 5);
    warnx("%d words", 5);
    error(0, ENOENT, "%d words", 5);
    error_at_line(0, 0, "file", 7, "%d words", 5);
}

// Programs that are built with checks (_FORTIFY_SOURCE) end where a format that they can change has %n.
static void checked(void) {
    const int fd = open(path_of("file"), O_CREAT | O_WRONLY, 0644);
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        char format[] = "%d words%n\n";
        int count = 0;
        _exit(dprintf(fd, format, 5, &count) == 8 && count == 7 ? 0 : 4);
    }
    printf("child %d\n", status_of(child));
    close(fd);
    tell_file("file");
}

static void messages(void) {
    const int flags[] = {O_RDWR, O_WRONLY, O_RDWR | O_APPEND, O_WRONLY | O_APPEND};
    for (int i = 0; i < 12; ++i) {
        unlink(path_of("file"));
        fflush(stdout);
        const pid_t child = fork();
        if (child == 0) {
            const int fd = open(path_of("file"), O_CREAT | flags[i % 4], 0644);
            CHECK(dup2(fd, 2) == 2);
            if (i / 4 == 1) CHECK(setvbuf(stderr, NULL, _IOFBF, 3000) == 0);
            if (i / 4 == 2) fwprintf(stderr, L"wide\n");
            errno = ENOENT;
            perror("first");
            dprintf(fd, "wide %d error %d\n", fwide(stderr, 0), ferror(stderr) != 0);
            say_all();
            fflush(stderr);
            dprintf(fd, "wide %d error %d\n", fwide(stderr, 0), ferror(stderr) != 0);
            _exit(0);
        }
        printf("%d: child %d\n", i, status_of(child));
        tell_file("file");
    }
}
