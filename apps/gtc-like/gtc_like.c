// Electrons on a ring, written as gyrokinetic codes write theirs: one file per node and iteration, in a loop over the
// particles. See README.md.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "key_value.h"
#include "particles.h"

static long particles = 32768, cells = 128, steps = 6000, output_every = 100, group = 16, ranks_per_file = 0, seed = 1;
static long drift_percent = 20;
static const char* directory = "out";

/// The ranks that share a file. Their first one writes.
struct writers {
    MPI_Comm node;
    int rank, ranks, number;
    char folder[4000];
    int* bytes;
    int* begins;
};

/// A file's first and last 64 bytes.
struct header {
    char magic[8];
    long step, particles, node, group, unused[2];
    double time;
};
struct footer {
    char magic[8];
    long particles, unused[4];
    double momentum, energy;
};

static void open_writers(struct writers* writers) {
    int world = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &world);
    if (ranks_per_file == 0)
        MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, world, MPI_INFO_NULL, &writers->node);
    else
        MPI_Comm_split(MPI_COMM_WORLD, world / (int)ranks_per_file, world, &writers->node);
    MPI_Comm_rank(writers->node, &writers->rank);
    MPI_Comm_size(writers->node, &writers->ranks);
    // Nodes are counted in the order of their first ranks.
    int first = writers->rank == 0, number = 0;
    MPI_Scan(&first, &number, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    writers->number = number - 1;
    if (world == 0) make_directory(directory);
    MPI_Barrier(MPI_COMM_WORLD);
    snprintf(writers->folder, sizeof writers->folder, "%s/node%04d", directory, writers->number);
    if (writers->rank == 0) make_directory(writers->folder);
    writers->bytes = calloc((size_t)writers->ranks, sizeof *writers->bytes);
    writers->begins = calloc((size_t)writers->ranks, sizeof *writers->begins);
    if (writers->bytes == NULL || writers->begins == NULL) stop("no memory");
}

static void close_writers(struct writers* writers) {
    MPI_Comm_free(&writers->node);
    free(writers->bytes);
    free(writers->begins);
}

/// The particles of the node's ranks, in the order of the ranks, on its first one; NULL on the others.
static struct particle* gather(const struct ring* ring, struct writers* writers, long* count) {
    const int own = (int)((size_t)ring->count * sizeof *ring->own);
    MPI_Gather(&own, 1, MPI_INT, writers->bytes, 1, MPI_INT, 0, writers->node);
    int all = 0;
    for (int i = 0; i < writers->ranks; ++i) {
        writers->begins[i] = all;
        all += writers->bytes[i];
    }
    struct particle* gathered = writers->rank == 0 ? malloc((size_t)all + 1) : NULL;
    if (writers->rank == 0 && gathered == NULL) stop("no memory for %d bytes", all);
    MPI_Gatherv(ring->own, own, MPI_BYTE, gathered, writers->bytes, writers->begins, MPI_BYTE, 0, writers->node);
    *count = all / (long)sizeof *gathered;
    return gathered;
}

static void check_written(ssize_t written, size_t bytes, const char* path) {
    if (written != (ssize_t)bytes) stop("%s: %s", path, written < 0 ? strerror(errno) : "the device is full");
}

static void write_file(const struct writers* writers, const struct particle* all, long count, long step, double time) {
    char path[4096];
    snprintf(path, sizeof path, "%s/gtc_%06ld.dat", writers->folder, step / output_every);
    const int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (file < 0) stop("%s: %s", path, strerror(errno));
    const struct header header = {
        .magic = "plasma1", .step = step, .particles = count, .node = writers->number, .group = group, .time = time};
    check_written(write(file, &header, sizeof header), sizeof header, path);
    struct footer footer = {.magic = "plasma1", .particles = count};
    for (long i = 0; i < count; i += group) {
        const long now = count - i < group ? count - i : group;
        check_written(write(file, all + i, (size_t)now * sizeof *all), (size_t)now * sizeof *all, path);
        for (long k = i; k < i + now; ++k) {
            footer.momentum += all[k].velocity;
            footer.energy += all[k].velocity * all[k].velocity / 2;
        }
    }
    check_written(write(file, &footer, sizeof footer), sizeof footer, path);
    if (close(file) != 0) stop("%s: %s", path, strerror(errno));
}

static void output(const struct ring* ring, struct writers* writers, long step) {
    long count = 0;
    struct particle* all = gather(ring, writers, &count);
    if (writers->rank == 0) write_file(writers, all, count, step, (double)step * ring->step);
    free(all);
    double momentum = 0, field = 0;
    measure_ring(ring, &count, &momentum, &field);
    if (ring->rank == 0) printf("step %ld  particles %ld  momentum %.9g  field %.4g\n", step, count, momentum, field);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    const struct setting known[] = {
        {.key = "particles", .number = &particles, .least = 1},
        {.key = "cells", .number = &cells, .least = 2},
        {.key = "steps", .number = &steps, .least = 1},
        {.key = "output_every", .number = &output_every, .least = 1},
        {.key = "group", .number = &group, .least = 1},
        {.key = "ranks_per_file", .number = &ranks_per_file, .least = 0},
        {.key = "drift_percent", .number = &drift_percent, .least = -100},
        {.key = "seed", .number = &seed, .least = 0},
        {.key = "directory", .text = &directory},
    };
    read_settings(argc, argv, known, sizeof known / sizeof *known);
    struct ring ring = {0};
    struct writers writers = {0};
    start_ring(&ring, MPI_COMM_WORLD, particles, cells, seed, (double)drift_percent / 100);
    open_writers(&writers);
    for (long step = 1; step <= steps; ++step) {
        step_ring(&ring);
        if (step % output_every == 0) output(&ring, &writers, step);
    }
    close_writers(&writers);
    free_ring(&ring);
    MPI_Finalize();
    return 0;
}
