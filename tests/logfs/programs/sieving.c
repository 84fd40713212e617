// Each rank writes every n-th piece of 47 bytes, by a view, in rounds that overlap with those of no other rank; then
// all rewrite a third of theirs, and read back what the next rank wrote. Arguments: the file; "sieve" forces data
// sieving; a number of pieces.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "checked_mpi.h"

enum { piece = 47 };

static void fill(char* out, int rank, int number, int round) {
    for (int i = 0; i < piece; ++i) out[i] = (char)('A' + (rank * 7 + number * 3 + round * 11 + i) % 26);
}

int main(int count, char** arguments) {
    MPI_Init(&count, &arguments);
    int rank = 0, ranks = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const char* const path = arguments[1];
    const char* const how = arguments[2];
    const int pieces = atoi(arguments[3]);

    MPI_Info info = MPI_INFO_NULL;
    if (strcmp(how, "sieve") == 0) {
        MPI_Info_create(&info);
        MPI_Info_set(info, "romio_ds_write", "enable");
        MPI_Info_set(info, "romio_cb_write", "disable");
        MPI_Info_set(info, "ind_wr_buffer_size", "4096");
    }
    MPI_File file;
    check(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, info, &file));
    MPI_Datatype view;
    MPI_Type_vector(pieces, piece, piece * ranks, MPI_CHAR, &view);
    MPI_Type_commit(&view);
    check(MPI_File_set_view(file, (MPI_Offset)rank * piece, MPI_CHAR, view, "native", info));

    char* const data = malloc((size_t)pieces * piece);
    for (int i = 0; i < pieces; ++i) fill(data + i * piece, rank, i, 0);
    check(MPI_File_write_at(file, 0, data, pieces * piece, MPI_CHAR, MPI_STATUS_IGNORE));
    const int third = pieces / 3;
    for (int i = 0; i < third; ++i) fill(data + (third + i) * piece, rank, third + i, 1);
    check(MPI_File_write_at(file, (MPI_Offset)third * piece, data + third * piece, third * piece, MPI_CHAR,
                            MPI_STATUS_IGNORE));
    check(MPI_File_sync(file));
    MPI_Barrier(MPI_COMM_WORLD);
    check(MPI_File_sync(file));

    const int next = (rank + 1) % ranks;
    check(MPI_File_set_view(file, (MPI_Offset)next * piece, MPI_CHAR, view, "native", info));
    char* const read = calloc((size_t)pieces, piece);
    check(MPI_File_read_at(file, 0, read, pieces * piece, MPI_CHAR, MPI_STATUS_IGNORE));
    int wrong = 0;
    for (int i = 0; i < pieces; ++i) {
        char expected[piece];
        fill(expected, next, i, i >= third && i < 2 * third);
        wrong += memcmp(expected, read + i * piece, piece) != 0;
    }
    if (wrong > 0) fprintf(stderr, "rank %d: %d pieces of rank %d are wrong\n", rank, wrong, next);
    check(MPI_File_close(&file));
    MPI_Type_free(&view);
    if (info != MPI_INFO_NULL) MPI_Info_free(&info);
    free(data);
    free(read);
    MPI_Finalize();
    return wrong > 0;
}
