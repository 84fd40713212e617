/* A plugin as a user would write one: for each event a line `event iteration rank block-count left-out sum` in sums.txt
 * of the run's directory. With the option fail_at=N it fails in iteration N instead. With raise=NAME it raises that
 * event, and returns 100 plus what it was told when that is not 0. */
#include <stdio.h>
#include <stdlib.h>

#include "halcyon/action.h"

static int run(void* state, const halcyon_action_context* now) {
    (void)state;
    const char* fail_at = halcyon_action_option(now->host, "fail_at", "");
    if (*fail_at != '\0' && atol(fail_at) == now->iteration) return 7;
    double sum = 0;
    for (size_t b = 0; b < now->block_count; ++b) {
        const halcyon_action_block* block = now->blocks[b];
        if (strcmp(block->type, "float32") != 0) return 2;
        int64_t count = 1;
        for (int32_t d = 0; d < block->dimensions; ++d) count *= block->extent[d];
        if (count * (int64_t)sizeof(float) != block->bytes) return 3;
        for (int64_t i = 0; i < count; ++i) sum += ((const float*)block->data)[i];
    }
    char path[4096];
    snprintf(path, sizeof path, "%s/sums.txt", now->host->directory);
    FILE* file = fopen(path, "a");
    if (file == NULL) return 4;
    fprintf(file, "%s %ld %d %zu %zu %.17g\n", now->event, (long)now->iteration, now->rank, now->block_count,
            now->blocks_left_out, sum);
    if (fclose(file) != 0) return 5;
    const char* raise = halcyon_action_option(now->host, "raise", "");
    if (*raise == '\0') return 0;
    const int told = now->raise_job(now, raise);
    return told == 0 ? 0 : 100 + told;
}

HALCYON_PLUGIN(write_sums, NULL, run, NULL);
