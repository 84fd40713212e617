#include <mpi.h>

#include <cinttypes>
#include <cstdio>
#include <halcyon/halcyon.hpp>
#include <vector>

int main(int argc, char** argv) try {
    constexpr int nx = 256, ny = 256, iterations = 50;
    MPI_Init(&argc, &argv);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);

    halcyon::session h(argc > 1 ? argv[1] : "halcyon.yaml", MPI_COMM_WORLD);
    std::vector<float> field(ny * nx);
    for (int t = 0; t < iterations; ++t) {
        for (int j = 0; j < ny; ++j)
            for (int i = 0; i < nx; ++i) field[j * nx + i] = static_cast<float>(280 + rank + 0.25 * i + 0.5 * j + t);

        h.write("temperature", field);
        h.write("pressure", field);
        h.write("picture", field);
        h.end_iteration();
    }
    const halcyon_stats_t stats = h.stats();
    std::printf("rank %d: waited %.3f s for room, spilled %" PRIu64 " blocks, skipped %" PRIu64 "\n", rank,
                1e-9 * static_cast<double>(stats.blocked_ns), stats.spilled_blocks, stats.skipped_blocks);
    h.close();
    MPI_Finalize();
} catch (const halcyon::error& e) {
    std::fprintf(stderr, "%s\n", e.what());
    MPI_Abort(MPI_COMM_WORLD, static_cast<int>(e.kind()));
}
