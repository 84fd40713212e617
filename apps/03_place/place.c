#include <halcyon/halcyon.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { nx = 64, ny = 32, iterations = 8 };

static void check(int code) {
    if (code == HALCYON_OK) return;
    fprintf(stderr, "%s\n", halcyon_error_message());
    MPI_Abort(MPI_COMM_WORLD, code);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, size, cut[2] = {0, 0};
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Dims_create(size, 2, cut);
    const int py = cut[0], px = cut[1], columns = nx / px, rows = ny / py;
    const int first_column = rank % px * columns, first_row = rank / px * rows;

    check(halcyon_set_parameter(NULL, "px", px));
    check(halcyon_set_parameter(NULL, "py", py));
    halcyon_handle h;
    check(halcyon_open(argc > 1 ? argv[1] : "halcyon.yaml", MPI_COMM_WORLD, &h));

    float* temperature = malloc(sizeof(float) * (size_t)(rows + 2) * (size_t)(columns + 2));
    for (int t = 0; t < iterations; ++t) {
        for (int j = -1; j <= rows; ++j)
            for (int i = -1; i <= columns; ++i)
                temperature[(j + 1) * (columns + 2) + i + 1] =
                    280 + 0.25f * (float)(first_column + i) + 0.5f * (float)(first_row + j) + (float)t;

        check(halcyon_write(h, "temperature", temperature));
        check(halcyon_end_iteration(h));
    }
    free(temperature);
    check(halcyon_close(&h));
    MPI_Finalize();
}
