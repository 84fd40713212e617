#include <halcyon/halcyon.h>
#include <inttypes.h>
#include <mpi.h>
#include <stdio.h>

enum { nx = 256, ny = 256, iterations = 50 };

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
    static float field[ny][nx];
    for (int t = 0; t < iterations; ++t) {
        for (int j = 0; j < ny; ++j)
            for (int i = 0; i < nx; ++i) field[j][i] = 280 + rank + 0.25f * (float)i + 0.5f * (float)j + (float)t;

        check(halcyon_write(h, "temperature", field));
        check(halcyon_write(h, "pressure", field));
        check(halcyon_write(h, "picture", field));
        check(halcyon_end_iteration(h));
    }
    halcyon_stats_t stats = {.size_bytes = sizeof stats};
    check(halcyon_stats(h, &stats));
    printf("rank %d: waited %.3f s for room, spilled %" PRIu64 " blocks, skipped %" PRIu64 "\n", rank,
           1e-9 * (double)stats.blocked_ns, stats.spilled_blocks, stats.skipped_blocks);
    check(halcyon_close(&h));
    MPI_Finalize();
}
