/* Preloaded: fsync waits as long as the file that GATED_SYNC names is there (a minute at most). */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

int fsync(int fd) {
    const char* closed = getenv("GATED_SYNC");
    for (int waited_ms = 0; closed != NULL && access(closed, F_OK) == 0 && waited_ms < 60000; ++waited_ms) usleep(1000);
    int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
    return real(fd);
}
