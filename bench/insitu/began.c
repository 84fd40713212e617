/* A plugin that says when it begins: into the file that its option `file` names, for the clock that runs. */
#include <fcntl.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "halcyon/action.h"

/* As bench/insitu/dispatch.cpp has it. */
struct beginning {
    _Atomic int64_t at_ns;
    _Atomic uint64_t runs;
};

static int init(const halcyon_action_host* host, void** state) {
    const int file = open(halcyon_action_option(host, "file", ""), O_RDWR | O_CLOEXEC);
    if (file < 0) return host->fail(host, "the option `file` names none");
    *state = mmap(NULL, sizeof(struct beginning), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    return *state == MAP_FAILED ? host->fail(host, "the file cannot be mapped") : 0;
}

static int run(void* state, const halcyon_action_context* now) {
    (void)now;
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    struct beginning* said = state;
    atomic_store_explicit(&said->at_ns, (int64_t)t.tv_sec * 1000000000 + t.tv_nsec, memory_order_relaxed);
    atomic_fetch_add_explicit(&said->runs, 1, memory_order_release);
    return 0;
}

HALCYON_PLUGIN(began, init, run, NULL);
