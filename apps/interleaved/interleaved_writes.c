// Each rank writes every n-th block of one file, on its own, through a view: what MPI-IO makes of it decides its speed.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check(int code, const char* what) {
    if (code == MPI_SUCCESS) return;
    char text[MPI_MAX_ERROR_STRING];
    int length = 0;
    MPI_Error_string(code, text, &length);
    fprintf(stderr, "%s: %s\n", what, text);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static long positive(const char* text, const char* what) {
    char* end = NULL;
    const long value = strtol(text, &end, 10);
    if (*end == '\0' && value > 0) return value;
    fprintf(stderr, "%s: '%s'; expected a whole number above 0\n", what, text);
    MPI_Abort(MPI_COMM_WORLD, 2);
    exit(2);
}

/// The file is a table: a row is one block of each rank. This type shows a rank its own column.
static MPI_Datatype column(long block, int ranks) {
    MPI_Datatype piece;
    MPI_Datatype view;
    check(MPI_Type_contiguous((int)block, MPI_BYTE, &piece), "a block");
    check(MPI_Type_create_resized(piece, 0, (MPI_Aint)block * ranks, &view), "a column of blocks");
    check(MPI_Type_commit(&view), "a column of blocks");
    MPI_Type_free(&piece);
    return view;
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank = 0;
    int ranks = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc < 4) {
        if (rank == 0) fprintf(stderr, "%s FILE BLOCK-BYTES BLOCKS-PER-CALL [CALLS]\n", argv[0]);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    const long block = positive(argv[2], "BLOCK-BYTES");
    const long blocks = positive(argv[3], "BLOCKS-PER-CALL");
    const long calls = argc > 4 ? positive(argv[4], "CALLS") : 1;
    char* data = malloc((size_t)(block * blocks));
    if (data == NULL) {
        MPI_Abort(MPI_COMM_WORLD, 1);
        exit(1);
    }
    memset(data, 'a' + rank % 26, (size_t)(block * blocks));

    MPI_File file;
    const int mode = MPI_MODE_CREATE | MPI_MODE_RDWR;  // data sieving has to read
    check(MPI_File_open(MPI_COMM_WORLD, argv[1], mode, MPI_INFO_NULL, &file), argv[1]);
    MPI_Datatype view = column(block, ranks);
    check(MPI_File_set_view(file, (MPI_Offset)rank * block, MPI_BYTE, view, "native", MPI_INFO_NULL), "view");
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    for (long call = 0; call < calls; ++call)
        check(MPI_File_write(file, data, (int)(block * blocks), MPI_BYTE, MPI_STATUS_IGNORE), "write");
    check(MPI_File_close(&file), "close");
    const double own = MPI_Wtime() - start;
    double longest = 0;
    MPI_Reduce(&own, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("%ld bytes in %.4f s\n", block * blocks * calls * ranks, longest);
    MPI_Type_free(&view);
    free(data);
    MPI_Finalize();
}
