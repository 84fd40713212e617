/* Writes collectively until somebody has made a file: collective FILE DONE STEPS [BUFFER-BYTES]
 *
 * In each step, all ranks together write one of eight regions of FILE, in pieces of 4 KiB that are interleaved among
 * the ranks, so that aggregators exchange them. Piece p of FILE holds the byte p mod 251. At least STEPS steps.
 * Two aggregators on each node, each with a buffer of BUFFER-BYTES. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { piece = 4096, pieces = 128, regions = 8, most_steps = 100000 };

static void check(int result, const char* what) {
    if (result == MPI_SUCCESS) return;
    fprintf(stderr, "%s failed\n", what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

int main(int argc, char** argv) {
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const int least_steps = atoi(argv[3]);
    MPI_Info hints;
    MPI_Info_create(&hints);
    MPI_Info_set(hints, "cb_nodes", "2");
    MPI_Info_set(hints, "cb_config_list", "*:2");
    if (argc > 4) MPI_Info_set(hints, "cb_buffer_size", argv[4]);
    MPI_File file;
    check(MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_WRONLY, hints, &file), "open");
    MPI_Datatype every_nth;
    MPI_Type_vector(pieces, piece, ranks * piece, MPI_BYTE, &every_nth);
    MPI_Type_commit(&every_nth);
    char* const data = malloc((size_t)pieces * piece);
    for (int step = 0, goes_on = 1; goes_on && step < most_steps; ++step) {
        const MPI_Offset region = step % regions;
        const MPI_Offset first = region * pieces * ranks + rank;
        for (int i = 0; i < pieces; ++i)
            memset(data + (size_t)i * piece, (int)((first + (MPI_Offset)i * ranks) % 251), piece);
        check(MPI_File_set_view(file, first * piece, MPI_BYTE, every_nth, "native", MPI_INFO_NULL), "set_view");
        check(MPI_File_write_at_all(file, 0, data, pieces * piece, MPI_BYTE, MPI_STATUS_IGNORE), "write_at_all");
        if (rank == 0) goes_on = step + 1 < least_steps || access(argv[2], F_OK) != 0;
        MPI_Bcast(&goes_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    check(MPI_File_close(&file), "close");
    free(data);
    MPI_Type_free(&every_nth);
    MPI_Info_free(&hints);
    MPI_Finalize();
    return 0;
}
