// outside.c in C++.
#include <mpi.h>

#include <array>
#include <cstdio>
#include <halcyon/halcyon.hpp>

int main(int argc, char** argv) try {
    MPI_Init(&argc, &argv);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    std::array<double, 4 * 8> temperature{};
    for (size_t i = 0; i < temperature.size(); ++i) temperature[i] = 100.0 * rank + static_cast<double>(i);

    halcyon::session h(argv[1], MPI_COMM_WORLD);
    h.write("temperature", temperature);
    h.end_iteration();
    h.close();
    MPI_Finalize();
} catch (const halcyon::error& e) {
    std::fprintf(stderr, "%s\n", e.what());
    MPI_Abort(MPI_COMM_WORLD, static_cast<int>(e.kind()));
}
