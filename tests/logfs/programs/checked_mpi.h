#pragma once

#include <mpi.h>
#include <stdio.h>

/// Ends the job where a call of MPI has failed, and says why.
static void check(int result) {
    if (result == MPI_SUCCESS) return;
    char text[MPI_MAX_ERROR_STRING];
    int length = 0;
    MPI_Error_string(result, text, &length);
    fprintf(stderr, "%s\n", text);
    MPI_Abort(MPI_COMM_WORLD, 1);
}
