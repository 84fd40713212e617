#include <mpi.h>

#include <cstdio>
#include <halcyon/halcyon.hpp>
#include <vector>

int main(int argc, char** argv) try {
    constexpr int nx = 64, ny = 32, iterations = 8;
    MPI_Init(&argc, &argv);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);

    halcyon::session h(argc > 1 ? argv[1] : "halcyon.yaml", MPI_COMM_WORLD);
    std::vector<float> temperature(ny * nx);
    for (int t = 0; t < iterations; ++t) {
        for (int j = 0; j < ny; ++j)
            for (int i = 0; i < nx; ++i)
                temperature[j * nx + i] = static_cast<float>(280 + rank + 0.25 * i + 0.5 * j + t);

        h.write("temperature", temperature);
        h.end_iteration();
    }
    h.close();
    MPI_Finalize();
} catch (const halcyon::error& e) {
    std::fprintf(stderr, "%s\n", e.what());
    MPI_Abort(MPI_COMM_WORLD, static_cast<int>(e.kind()));
}
