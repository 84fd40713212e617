// Linked to the posix_spawn of 2002, which runs a script without '#!', and to that of today, which does not.
// Usage: old_spawn, in a directory with such a script
#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>

extern char** environ;
extern int old_spawn(pid_t*, const char*, const void*, const void*, char* const*, char* const*);
__asm__(".symver old_spawn, posix_spawn@GLIBC_2.2.5");

int main(void) {
    char* arguments[] = {"./script", NULL};
    pid_t child;
    int status = 1;
    if (posix_spawn(&child, "./script", NULL, NULL, arguments, environ) != ENOEXEC) return 1;
    if (old_spawn(&child, "./script", NULL, NULL, arguments, environ) != 0) return 2;
    return waitpid(child, &status, 0) == child && status == 0 ? 0 : 3;
}
