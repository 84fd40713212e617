// A plate cools; all ranks write its snapshots into one file through MPI-IO, in several kinds of access, and read each
// one back. See README.md.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "key_value.h"
#include "plate.h"

enum { header_bytes = 4096 };

static long cells = 384, steps = 40000, output_every = 500, seed = 1;
static const char* directory = "out";

/// At the file's begin, rewritten by rank 0 when a snapshot is whole.
struct header {
    char magic[8];
    long cells, ranks, snapshots, slot_bytes, unused[3];
};

/// What each rank says of its part, behind the cells.
struct part {
    long rank, step;
    double lowest, highest, sum, unused[3];
};

/// The file, and room for a rank's cells.
struct shared {
    MPI_File file;
    char path[4096];
    MPI_Datatype* columns;  ///< of each rank, in a snapshot
    struct header header;
    double *own, *other;
};

static void check(int code, const char* what) {
    if (code == MPI_SUCCESS) return;
    char text[MPI_MAX_ERROR_STRING];
    int length = 0;
    MPI_Error_string(code, text, &length);
    stop("%s: %s", what, text);
}

static MPI_Offset slot(const struct shared* shared, long snapshot) {
    return header_bytes + (MPI_Offset)snapshot * shared->header.slot_bytes;
}

static void write_header(struct shared* shared, const struct plate* plate) {
    if (plate->rank != 0) return;
    check(MPI_File_write_at(shared->file, 0, &shared->header, sizeof shared->header, MPI_BYTE, MPI_STATUS_IGNORE),
          "the header");
}

static void open_shared(struct shared* shared, const struct plate* plate) {
    const long n = plate->n;
    if (plate->rank == 0) make_directory(directory);
    MPI_Barrier(MPI_COMM_WORLD);
    snprintf(shared->path, sizeof shared->path, "%s/heat.dat", directory);
    check(MPI_File_open(MPI_COMM_WORLD, shared->path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &shared->file),
          shared->path);
    check(MPI_File_set_size(shared->file, 0), shared->path);
    shared->header = (struct header){.magic = "heat 1", .cells = n, .ranks = plate->ranks};
    shared->header.slot_bytes = n * n * (long)sizeof(double) + plate->ranks * (long)sizeof(struct part);
    shared->columns = malloc((size_t)plate->ranks * sizeof(MPI_Datatype));
    shared->own = malloc((size_t)(n * plate->width) * sizeof(double));
    shared->other = malloc((size_t)(n * plate->width) * sizeof(double));
    if (shared->columns == NULL || shared->own == NULL || shared->other == NULL) stop("no memory");
    for (int rank = 0; rank < plate->ranks; ++rank) {
        const int whole[] = {(int)n, (int)n}, each[] = {(int)n, (int)plate->width};
        const int corner[] = {0, rank * (int)plate->width};
        check(MPI_Type_create_subarray(2, whole, each, corner, MPI_ORDER_C, MPI_DOUBLE, &shared->columns[rank]),
              "columns");
        check(MPI_Type_commit(&shared->columns[rank]), "columns");
    }
    write_header(shared, plate);
}

static void close_shared(struct shared* shared, const struct plate* plate) {
    check(MPI_File_close(&shared->file), shared->path);
    for (int rank = 0; rank < plate->ranks; ++rank) MPI_Type_free(&shared->columns[rank]);
    free(shared->columns);
    free(shared->own);
    free(shared->other);
}

/// What the file shows of a snapshot: one rank's columns.
static void view_columns(struct shared* shared, long snapshot, int rank) {
    check(MPI_File_set_view(shared->file, slot(shared, snapshot), MPI_DOUBLE, shared->columns[rank], "native",
                            MPI_INFO_NULL),
          "a view of columns");
}

static void view_bytes(struct shared* shared) {
    check(MPI_File_set_view(shared->file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL), "a view of bytes");
}

static MPI_Offset part_place(const struct shared* shared, long snapshot, int rank) {
    return slot(shared, snapshot + 1) - (MPI_Offset)((shared->header.ranks - rank) * (long)sizeof(struct part));
}

static struct part describe(const double* values, long count, int rank, long step) {
    struct part part = {.rank = rank, .step = step, .lowest = values[0], .highest = values[0]};
    for (long i = 0; i < count; ++i) {
        part.lowest = fmin(part.lowest, values[i]);
        part.highest = fmax(part.highest, values[i]);
        part.sum += values[i];
    }
    return part;
}

/// Each rank reads what its neighbour wrote, and what it said of it.
static void read_back(struct shared* shared, const struct plate* plate, long snapshot, long step) {
    const long count = plate->n * plate->width;
    const int rank = (plate->rank + 1) % plate->ranks;
    view_columns(shared, snapshot, rank);
    check(MPI_File_read_all(shared->file, shared->other, (int)count, MPI_DOUBLE, MPI_STATUS_IGNORE), shared->path);
    view_bytes(shared);
    struct part said = {0};
    check(MPI_File_read_at(shared->file, part_place(shared, snapshot, rank), &said, sizeof said, MPI_BYTE,
                           MPI_STATUS_IGNORE),
          shared->path);
    const struct part seen = describe(shared->other, count, rank, step);
    if (said.rank != seen.rank || said.step != seen.step || said.lowest != seen.lowest ||
        said.highest != seen.highest || said.sum != seen.sum)
        stop("%s: snapshot %ld: rank %d's columns are not what it said of them", shared->path, snapshot, rank);
}

static void write_snapshot(struct shared* shared, const struct plate* plate, long step) {
    const long snapshot = shared->header.snapshots, count = plate->n * plate->width;
    copy_cells(plate, shared->own);
    view_columns(shared, snapshot, plate->rank);
    check(MPI_File_write_all(shared->file, shared->own, (int)count, MPI_DOUBLE, MPI_STATUS_IGNORE), shared->path);
    view_bytes(shared);
    const struct part part = describe(shared->own, count, plate->rank, step);
    check(MPI_File_write_at(shared->file, part_place(shared, snapshot, plate->rank), &part, sizeof part, MPI_BYTE,
                            MPI_STATUS_IGNORE),
          shared->path);
    // MPI 4.0, section 14.6.1: others see the data after sync, barrier, sync.
    check(MPI_File_sync(shared->file), shared->path);
    MPI_Barrier(MPI_COMM_WORLD);
    check(MPI_File_sync(shared->file), shared->path);
    read_back(shared, plate, snapshot, step);
    ++shared->header.snapshots;
    write_header(shared, plate);
    double heat = 0;
    MPI_Reduce(&part.sum, &heat, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (plate->rank == 0) printf("step %ld  heat %.15g\n", step, heat);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    const struct setting known[] = {
        {.key = "cells", .number = &cells, .least = 2},
        {.key = "steps", .number = &steps, .least = 1},
        {.key = "output_every", .number = &output_every, .least = 1},
        {.key = "seed", .number = &seed, .least = 0},
        {.key = "directory", .text = &directory},
    };
    read_settings(argc, argv, known, sizeof known / sizeof *known);
    struct plate plate = {0};
    struct shared shared = {0};
    start_plate(&plate, MPI_COMM_WORLD, cells, seed);
    open_shared(&shared, &plate);
    for (long step = 1; step <= steps; ++step) {
        step_plate(&plate);
        if (step % output_every == 0) write_snapshot(&shared, &plate, step);
    }
    close_shared(&shared, &plate);
    free_plate(&plate);
    MPI_Finalize();
    return 0;
}
