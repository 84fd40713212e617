#include <halcyon/halcyon.h>
#include <mpi.h>
#include <stdio.h>
#include <time.h>

enum { nx = 64 };

static void check(int code) {
    if (code == HALCYON_OK) return;
    fprintf(stderr, "%s\n", halcyon_error_message());
    MPI_Abort(MPI_COMM_WORLD, code);
}

static double parameter(halcyon_handle h, const char* name) {
    double value = 0;
    check(halcyon_get_parameter(h, name, &value));
    return value;
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int left = rank > 0 ? rank - 1 : MPI_PROC_NULL, right = rank < size - 1 ? rank + 1 : MPI_PROC_NULL;

    halcyon_handle h;
    check(halcyon_open(argc > 1 ? argv[1] : "halcyon.yaml", MPI_COMM_WORLD, &h));
    float rod[nx + 2]; /* with a cell of each neighbour */
    for (int i = 0; i < nx + 2; ++i) rod[i] = 280;
    double before = -1;
    for (long t = 0; parameter(h, "finished") < 1; ++t) { /* on all ranks in the same iteration */
        const double kappa = parameter(h, "kappa");
        if (rank == 0 && kappa != before) printf("iteration %ld: kappa = %g\n", t, kappa);
        fflush(stdout);
        before = kappa;

        MPI_Sendrecv(&rod[1], 1, MPI_FLOAT, left, 0, &rod[nx + 1], 1, MPI_FLOAT, right, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        MPI_Sendrecv(&rod[nx], 1, MPI_FLOAT, right, 0, &rod[0], 1, MPI_FLOAT, left, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        if (rank == 0) rod[0] = 380; /* the hot end */
        float next[nx];
        for (int i = 0; i < nx; ++i) next[i] = rod[i + 1] + (float)kappa * (rod[i] - 2 * rod[i + 1] + rod[i + 2]);
        for (int i = 0; i < nx; ++i) rod[i + 1] = next[i];
        nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL); /* a larger rod would take that long */

        check(halcyon_write(h, "temperature", &rod[1]));
        check(halcyon_end_iteration(h));
    }
    check(halcyon_close(&h));
    MPI_Finalize();
}
