/* A program outside Halcyon's source tree: one variable, one iteration. Reports the first call that fails. */
#include <halcyon/halcyon.h>
#include <mpi.h>
#include <stdio.h>

static int check(int code, const char* call) {
    if (code != HALCYON_OK) fprintf(stderr, "%s: %s\n", call, halcyon_error_message());
    return code;
}

int main(int argc, char** argv) {
    double temperature[4][8];
    halcyon_handle h = NULL;
    int rank = 0, failed = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 4 * 8; i++) (&temperature[0][0])[i] = 100.0 * rank + i;

    failed = check(halcyon_open(argv[1], MPI_COMM_WORLD, &h), "halcyon_open") ||
             check(halcyon_write(h, "temperature", temperature), "halcyon_write") ||
             check(halcyon_end_iteration(h), "halcyon_end_iteration") || check(halcyon_close(&h), "halcyon_close");
    if (failed) MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Finalize();
    return 0;
}
