// Writes what the BT benchmark with I/O of the NAS parallel benchmarks writes, without computing it: a cube of five
// values, many times, from a diagonal multi-partition. See README.md.
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "key_value.h"
#include "output_times.h"
#include "partition.h"

enum { values = 5 };  // of a grid point

static long points = 0, writes = 0, sync_data = 1, check_data = 0;
static const char *directory = "out", *class_name = "S", *way = "full", *sieve = "default";

/// Grid points along a side, and how often the cube is written: every fifth of the class' steps.
struct class {
    char name;
    long points, writes;
};
static const struct class classes[] = {{'S', 12, 12},  {'W', 24, 40},  {'A', 64, 40},  {'B', 102, 40},
                                       {'C', 162, 40}, {'D', 408, 50}, {'E', 1020, 50}};

/// One rank's part of the cube, and the file.
struct part {
    int rank, ranks, across;
    struct cell* cells;
    long count;    ///< values
    double* data;  ///< cell by cell, each of them x fastest, five values a point
    MPI_File file;
    char path[4096];
};

static void apply_class(void) {
    for (size_t i = 0; i < sizeof classes / sizeof *classes; ++i) {
        if (strlen(class_name) != 1 || class_name[0] != classes[i].name) continue;
        if (points == 0) points = classes[i].points;
        if (writes == 0) writes = classes[i].writes;
        return;
    }
    stop("class=%s: expected S, W, A, B, C, D or E", class_name);
}

static void read_words(int argc, char** argv) {
    const struct setting known[] = {
        {.key = "points", .number = &points, .least = 0},
        {.key = "writes", .number = &writes, .least = 0},
        {.key = "sync", .number = &sync_data, .least = 0},
        {.key = "check", .number = &check_data, .least = 0},
        {.key = "class", .text = &class_name},
        {.key = "way", .text = &way},
        {.key = "sieve", .text = &sieve},
        {.key = "directory", .text = &directory},
    };
    read_settings(argc, argv, known, sizeof known / sizeof *known);
    apply_class();
    if (strcmp(way, "full") != 0 && strcmp(way, "simple") != 0 && strcmp(way, "own") != 0)
        stop("way=%s: expected full, simple or own", way);
}

static int is_way(const char* name) {
    return strcmp(way, name) == 0;
}

static struct part start_part(void) {
    struct part part = {0};
    MPI_Comm_rank(MPI_COMM_WORLD, &part.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &part.ranks);
    part.across = (int)lround(sqrt(part.ranks));
    if (part.across * part.across != part.ranks) stop("%d ranks: expected a square number", part.ranks);
    if (points < part.across) stop("points=%ld: expected at least %d", points, part.across);
    part.cells = malloc((size_t)part.across * sizeof *part.cells);
    if (part.cells == NULL) stop("no memory");
    cells_of(points, part.across, part.rank, part.cells);
    // Another rank's part, which is read back, may be larger by a slab of points.
    const long most = points / part.across + 1;
    part.data = malloc((size_t)(part.across * most * most * most * values) * sizeof(double));
    if (part.data == NULL) stop("no memory for %ld points", points);
    part.count = values * points_of(part.cells, part.across);
    if (is_way("own"))
        snprintf(part.path, sizeof part.path, "%s/bt-io.%04d", directory, part.rank);
    else
        snprintf(part.path, sizeof part.path, "%s/bt-io", directory);
    return part;
}

/// Of a grid point in the file, in values from the cube's begin.
static long place(long x, long y, long z) {
    return ((z * points + y) * points + x) * values;
}

/// Each value says where it belongs and which write it is of.
static double value_at(long write, long at) {
    return (double)write * 1e10 + (double)at;
}

/// Sets the values of these cells, or counts those in `data` that are not as they should be.
static long visit(const struct part* part, long write, int compare) {
    double* own = part->data;
    long wrong = 0;
    for (int k = 0; k < part->across; ++k) {
        const struct cell* cell = &part->cells[k];
        for (long z = 0; z < cell->size[2]; ++z) {
            for (long y = 0; y < cell->size[1]; ++y) {
                const long row = place(cell->begin[0], cell->begin[1] + y, cell->begin[2] + z);
                for (long i = 0; i < cell->size[0] * values; ++i, ++own) {
                    if (compare)
                        wrong += *own != value_at(write, row + i);
                    else
                        *own = value_at(write, row + i);
                }
            }
        }
    }
    return wrong;
}

/// A rank's cells in the cube, as MPI-IO describes them.
static MPI_Datatype cube_type(const struct part* part) {
    const int n = (int)points, whole[] = {n, n, n, values};
    MPI_Datatype boxes[part->across];
    int lengths[part->across];
    MPI_Aint begins[part->across];
    for (int k = 0; k < part->across; ++k) {
        const struct cell* cell = &part->cells[k];
        const int size[] = {(int)cell->size[2], (int)cell->size[1], (int)cell->size[0], values};
        const int corner[] = {(int)cell->begin[2], (int)cell->begin[1], (int)cell->begin[0], 0};
        check_mpi(MPI_Type_create_subarray(4, whole, size, corner, MPI_ORDER_C, MPI_DOUBLE, &boxes[k]), "a cell");
        lengths[k] = 1;
        begins[k] = 0;
    }
    MPI_Datatype cube;
    check_mpi(MPI_Type_create_struct(part->across, lengths, begins, boxes, &cube), "all cells");
    check_mpi(MPI_Type_commit(&cube), "all cells");
    for (int k = 0; k < part->across; ++k) MPI_Type_free(&boxes[k]);
    return cube;
}

static void open_file(struct part* part, int mode) {
    MPI_Info info = sieving_hint(sieve);
    MPI_Comm who = is_way("own") ? MPI_COMM_SELF : MPI_COMM_WORLD;
    check_mpi(MPI_File_open(who, part->path, mode, info, &part->file), part->path);
    if (is_way("full")) {
        MPI_Datatype cube = cube_type(part);
        check_mpi(MPI_File_set_view(part->file, 0, MPI_DOUBLE, cube, "native", info), "a view of cells");
        MPI_Type_free(&cube);
    }
    MPI_Info_free(&info);
}

typedef int (*row_call)(MPI_File, MPI_Offset, void*, int, MPI_Datatype, MPI_Status*);

static int write_row(MPI_File file, MPI_Offset at, void* row, int count, MPI_Datatype type, MPI_Status* status) {
    return MPI_File_write_at(file, at, row, count, type, status);
}

/// Each row of each cell by a call of its own.
static void move_rows(const struct part* part, long write, row_call move) {
    const MPI_Offset begin = (MPI_Offset)write * points * points * points * values;
    double* own = part->data;
    for (int k = 0; k < part->across; ++k) {
        const struct cell* cell = &part->cells[k];
        const int count = (int)cell->size[0] * values;
        for (long z = 0; z < cell->size[2]; ++z) {
            for (long y = 0; y < cell->size[1]; ++y, own += count) {
                const MPI_Offset at = begin + place(cell->begin[0], cell->begin[1] + y, cell->begin[2] + z);
                check_mpi(move(part->file, at * (MPI_Offset)sizeof *own, own, count, MPI_DOUBLE, MPI_STATUS_IGNORE),
                          part->path);
            }
        }
    }
}

static void write_cube(const struct part* part, long write) {
    const int count = (int)part->count;
    const MPI_Offset at = (MPI_Offset)write * part->count;  // in values of the view, or of the rank's own file
    if (is_way("full"))
        check_mpi(MPI_File_write_at_all(part->file, at, part->data, count, MPI_DOUBLE, MPI_STATUS_IGNORE), part->path);
    else if (is_way("own"))
        check_mpi(MPI_File_write_at(part->file, at * (MPI_Offset)sizeof(double), part->data, count, MPI_DOUBLE,
                                    MPI_STATUS_IGNORE),
                  part->path);
    else
        move_rows(part, write, write_row);
}

static void read_cube(const struct part* part, long write) {
    const int count = (int)part->count;
    const MPI_Offset at = (MPI_Offset)write * part->count;
    if (is_way("full"))
        check_mpi(MPI_File_read_at_all(part->file, at, part->data, count, MPI_DOUBLE, MPI_STATUS_IGNORE), part->path);
    else if (is_way("own"))
        check_mpi(MPI_File_read_at(part->file, at * (MPI_Offset)sizeof(double), part->data, count, MPI_DOUBLE,
                                   MPI_STATUS_IGNORE),
                  part->path);
    else
        move_rows(part, write, MPI_File_read_at);
}

/// Computing the values is no part of the time.
static void write_all(struct part* part) {
    if ((part->rank == 0 || is_way("own")) && unlink(part->path) != 0 && errno != ENOENT)
        stop("%s: %s", part->path, strerror(errno));
    visit(part, 0, 0);
    struct output_times times;
    begin_output(&times);
    open_file(part, MPI_MODE_CREATE | MPI_MODE_RDWR);
    end_step(&times, step_open);
    for (long write = 0; write < writes; ++write) {
        if (check_data && write > 0) {
            visit(part, write, 0);
            skip_time(&times);
        }
        write_cube(part, write);
        end_step(&times, step_write);
    }
    if (sync_data) check_mpi(MPI_File_sync(part->file), part->path);
    end_step(&times, step_sync);
    check_mpi(MPI_File_close(&part->file), part->path);
    end_step(&times, step_close);
    print_output(&times, "wrote", part->count * writes * (long)sizeof(double), is_way("own") ? part->ranks : 1);
}

/// Each rank reads what the next one wrote; of files of its own, what it wrote itself.
static void read_all(struct part* part) {
    if (!is_way("own")) cells_of(points, part->across, (part->rank + 1) % part->ranks, part->cells);
    part->count = values * points_of(part->cells, part->across);
    struct output_times times;
    begin_output(&times);
    open_file(part, MPI_MODE_RDONLY);
    end_step(&times, step_open);
    long wrong = 0;
    for (long write = 0; write < writes; ++write) {
        read_cube(part, write);
        end_step(&times, step_read);
        wrong += visit(part, write, 1);
        skip_time(&times);
    }
    check_mpi(MPI_File_close(&part->file), part->path);
    end_step(&times, step_close);
    print_output(&times, "read", part->count * writes * (long)sizeof(double), is_way("own") ? part->ranks : 1);
    if (wrong > 0) stop("%s: rank %d read %ld values that are wrong", part->path, part->rank, wrong);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    read_words(argc, argv);
    struct part part = start_part();
    make_directory(directory);  // each rank: its node's name for the directory may be its own
    MPI_Barrier(MPI_COMM_WORLD);
    write_all(&part);
    if (check_data) read_all(&part);
    free(part.cells);
    free(part.data);
    MPI_Finalize();
    return 0;
}
