#include <halcyon/halcyon.h>
#include <mpi.h>
#include <stdio.h>

enum { nx = 64, ny = 32, iterations = 8 };

static void check(int code) {
    if (code == HALCYON_OK) return;
    fprintf(stderr, "%s\n", halcyon_error_message());
    MPI_Abort(MPI_COMM_WORLD, code);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);

    halcyon_handle h;
    check(halcyon_open(argc > 1 ? argv[1] : "halcyon.yaml", MPI_COMM_WORLD, &h));
    for (int t = 0; t < iterations; ++t) {
        void* block;
        check(halcyon_alloc(h, "temperature", 0, &block));
        float(*temperature)[nx] = block;
        for (int j = 0; j < ny; ++j)
            for (int i = 0; i < nx; ++i) temperature[j][i] = 280 + rank + 0.25f * (float)i + 0.5f * (float)j + (float)t;
        check(halcyon_commit(h, "temperature", 0));

        if (rank == 0) printf("iteration %d: warmest %g K\n", t, temperature[ny - 1][nx - 1]);
        check(halcyon_clear(h, "temperature", 0));
        check(halcyon_end_iteration(h));
    }
    check(halcyon_close(&h));
    MPI_Finalize();
}
