/* A plugin that takes its time: waits until the file that its option `until` names is there (a minute at most, all of
 * its runs together), then adds a line to gated.txt of the run's directory: how many blocks it saw, and the first value
 * of the first of them. */
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "halcyon/action.h"

static int run(void* state, const halcyon_action_context* now) {
    (void)state;
    const char* until = halcyon_action_option(now->host, "until", NULL);
    if (until == NULL) return 1;
    static atomic_int waited_ms;
    while (access(until, F_OK) != 0 && atomic_fetch_add(&waited_ms, 1) < 60000) usleep(1000);
    char path[4096];
    snprintf(path, sizeof path, "%s/gated.txt", now->host->directory);
    FILE* file = fopen(path, "a");
    if (file == NULL) return 2;
    const float first = now->block_count > 0 ? *(const float*)now->blocks[0]->data : 0;
    fprintf(file, "%zu %.9g\n", now->block_count, first);
    return fclose(file) == 0 ? 0 : 3;
}

HALCYON_PLUGIN(gated_action, NULL, run, NULL);
