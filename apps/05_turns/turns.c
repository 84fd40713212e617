#include <halcyon/io.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { cells = 1 << 17, phases = 4, most_targets = HALCYON_IO_MAX_TARGETS };

static void check(int code) {
    if (code == HALCYON_OK) return;
    fprintf(stderr, "%s\n", halcyon_io_error_message());
    MPI_Abort(MPI_COMM_WORLD, code);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const char* const path = argc > 1 ? argv[1] : "field";
    const char* const config = argc > 2 ? argv[2] : NULL;
    uint32_t targets[most_targets]; /* storage targets of the file */
    uint64_t target_count = 0;
    for (int i = 3; i < argc && target_count < most_targets; ++i)
        targets[target_count++] = (uint32_t)strtoul(argv[i], NULL, 10);

    halcyon_io_handle h;
    check(halcyon_io_init(config, path, &h));
    MPI_File file;
    if (MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file) != MPI_SUCCESS) {
        fprintf(stderr, "%s: cannot be opened\n", path);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    static double field[cells];
    for (int phase = 0; phase < phases; ++phase) {
        for (int i = 0; i < cells; ++i) field[i] = 100 * phase + 10 * rank + 1e-6 * i; /* the simulation computes */

        /* Every rank says what it is about to write. The first one waits for the job's turn, the others join it. */
        const halcyon_io_info info = {
            .size_bytes = sizeof info, .bytes = sizeof field, .targets = targets, .target_count = target_count};
        check(halcyon_io_prepare(h, &info));
        check(halcyon_io_inform(h));
        if (rank == 0) check(halcyon_io_wait(h));
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank != 0) check(halcyon_io_join(h));

        const MPI_Offset size = sizeof field;
        int ranks;
        MPI_Comm_size(MPI_COMM_WORLD, &ranks);
        MPI_File_write_at_all(file, size * (phase * ranks + rank), field, cells, MPI_DOUBLE, MPI_STATUS_IGNORE);

        if (rank != 0) check(halcyon_io_release(h));
        MPI_Barrier(MPI_COMM_WORLD); /* the one that waited gives the turn back last */
        if (rank == 0) check(halcyon_io_release(h));
        check(halcyon_io_complete(h));
    }
    MPI_File_close(&file);

    halcyon_io_status_t status = {.size_bytes = sizeof status};
    check(halcyon_io_status(h, &status));
    const char* const names[] = {"coordinated", "silent", "uncoordinated"};
    printf("rank %d: %s, waited %.3f s, %d phases out of turn\n", rank, names[status.coordination], status.waited_s,
           (int)(status.steps_unasked + status.steps_starving));
    check(halcyon_io_finalize(&h));
    MPI_Finalize();
}
