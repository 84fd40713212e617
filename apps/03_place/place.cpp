#include <mpi.h>

#include <cstdio>
#include <halcyon/halcyon.hpp>
#include <vector>

int main(int argc, char** argv) try {
    constexpr int nx = 64, ny = 32, iterations = 8;
    MPI_Init(&argc, &argv);
    int rank = 0, size = 0, cut[2] = {0, 0};
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Dims_create(size, 2, cut);
    const int py = cut[0], px = cut[1], columns = nx / px, rows = ny / py;
    const int first_column = rank % px * columns, first_row = rank / px * rows;

    halcyon::set_parameter("px", px);
    halcyon::set_parameter("py", py);
    halcyon::session h(argc > 1 ? argv[1] : "halcyon.yaml", MPI_COMM_WORLD);

    std::vector<float> temperature((rows + 2) * (columns + 2));
    for (int t = 0; t < iterations; ++t) {
        for (int j = -1; j <= rows; ++j)
            for (int i = -1; i <= columns; ++i)
                temperature[(j + 1) * (columns + 2) + i + 1] =
                    static_cast<float>(280 + 0.25 * (first_column + i) + 0.5 * (first_row + j) + t);

        h.write("temperature", temperature);
        h.end_iteration();
    }
    h.close();
    MPI_Finalize();
} catch (const halcyon::error& e) {
    std::fprintf(stderr, "%s\n", e.what());
    MPI_Abort(MPI_COMM_WORLD, static_cast<int>(e.kind()));
}
