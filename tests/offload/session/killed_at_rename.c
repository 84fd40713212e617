/* Preloaded: ends its process by SIGKILL at the KILLED_AT-th rename onto a path that ends in KILLED_ONTO. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static atomic_int seen;

int rename(const char* from, const char* onto) {
    const char *end = getenv("KILLED_ONTO"), *at = getenv("KILLED_AT");
    if (end != NULL && at != NULL && strlen(onto) >= strlen(end) &&
        strcmp(onto + strlen(onto) - strlen(end), end) == 0 && atomic_fetch_add(&seen, 1) + 1 == atoi(at))
        raise(SIGKILL);
    int (*real)(const char*, const char*) = (int (*)(const char*, const char*))dlsym(RTLD_NEXT, "rename");
    return real(from, onto);
}
