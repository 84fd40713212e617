#pragma once

// What both programs do alike: their first arguments, each rank's data, and the time they tell.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static long positive(const char* text, const char* what) {
    char* end = NULL;
    const long value = strtol(text, &end, 10);
    if (*end == '\0' && value > 0) return value;
    fprintf(stderr, "%s: '%s'; expected a whole number above 0\n", what, text);
    MPI_Abort(MPI_COMM_WORLD, 2);
    exit(2);
}

/// One rank's part: `calls` calls, each of `rows` blocks of `block` bytes, all from `data`.
struct part {
    int rank, ranks;
    long block, rows, calls;
    char* data;
};

/// Starts MPI. Arguments: FILE BLOCK-BYTES ROWS [CALLS [others]]; `rows` and `others` are their names in the usage.
static struct part begin(int argc, char** argv, const char* rows, const char* others) {
    struct part own = {.calls = 1};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &own.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &own.ranks);
    if (argc < 4) {
        if (own.rank == 0) fprintf(stderr, "%s FILE BLOCK-BYTES %s [CALLS%s]\n", argv[0], rows, others);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    own.block = positive(argv[2], "BLOCK-BYTES");
    own.rows = positive(argv[3], rows);
    if (argc > 4) own.calls = positive(argv[4], "CALLS");
    own.data = malloc((size_t)(own.block * own.rows));
    if (own.data == NULL) {
        MPI_Abort(MPI_COMM_WORLD, 1);
        exit(1);
    }
    memset(own.data, 'a' + own.rank % 26, (size_t)(own.block * own.rows));
    return own;
}

/// Tells how long the slowest rank took, by what each took, and ends MPI.
static void end(struct part* own, double seconds) {
    double longest = 0;
    MPI_Reduce(&seconds, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (own->rank == 0) printf("%ld bytes in %.4f s\n", own->block * own->rows * own->calls * own->ranks, longest);
    free(own->data);
    MPI_Finalize();
}
