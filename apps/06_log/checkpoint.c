#include <halcyon/logfs.h>
#include <mpi.h>
#include <stdio.h>
#include <time.h>

enum { cells = 1000, blocks = 50, steps = 3 };

static void check(int code) {
    if (code == HALCYON_OK) return;
    fprintf(stderr, "%s\n", halcyon_logfs_error_message());
    MPI_Abort(MPI_COMM_WORLD, code);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const char* const path = argc > 1 ? argv[1] : "checkpoint";

    /* A number that the ranks of this run have in common, and those of no other. */
    uint64_t group = (uint64_t)time(NULL);
    MPI_Bcast(&group, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    const halcyon_logfs_options options = {
        .size_bytes = sizeof options, .has_rank = 1, .rank = rank, .group = group, .data_checks = 1};
    halcyon_logfs_handle h;
    check(halcyon_logfs_open(path, HALCYON_LOGFS_WRITE | HALCYON_LOGFS_CREATE, &options, &h));

    static double block[cells];
    for (int step = 0; step < steps; ++step) {
        /* Each step writes over the one before: blocks of all ranks in turn, the worst that one file can be given. */
        for (int b = 0; b < blocks; ++b) {
            const int64_t number = (int64_t)b * ranks + rank;
            for (int i = 0; i < cells; ++i) block[i] = step + 1e-6 * (double)(number * cells + i);
            check(halcyon_logfs_pwrite(h, block, sizeof block, number * (int64_t)sizeof block, NULL));
        }
        check(halcyon_logfs_sync(h));
        /* What any rank writes from here on is later, whatever the clock of its node says. */
        int64_t proposed, latest;
        check(halcyon_logfs_propose_epoch(h, &proposed));
        MPI_Allreduce(&proposed, &latest, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
        check(halcyon_logfs_raise_epoch(h, latest));
    }
    check(halcyon_logfs_close(&h));
    MPI_Barrier(MPI_COMM_WORLD);

    if (rank == 0) {
        check(halcyon_logfs_open(path, HALCYON_LOGFS_READ, &options, &h));
        int64_t bytes;
        check(halcyon_logfs_size(h, &bytes));
        uint64_t done;
        check(halcyon_logfs_pread(h, block, sizeof block, bytes - (int64_t)sizeof block, &done));
        printf("%lld bytes, the last value is %.6f\n", (long long)bytes, block[cells - 1]);
        check(halcyon_logfs_close(&h));
    }
    MPI_Finalize();
    return 0;
}
