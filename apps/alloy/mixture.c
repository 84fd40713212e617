// Two metals that part (Cahn & Hilliard 1958) while they are stirred: ∂c/∂t + u(y) ∂c/∂x = ∇²(c³ - c - g ∇²c), on a
// periodic square with cells of size 1. No sum goes across cells, so any number of ranks computes the same.
#include "mixture.h"

#include <math.h>
#include <stdlib.h>

#include "key_value.h"

const double mixture_step = 0.025;  // of time; stable below 1 / (8 + 32 g), here 0.042
static const double gradient = 0.5, stirring = 0.2;

void start_mixture(struct mixture* mixture, MPI_Comm world, long n, long seed, double percent) {
    MPI_Comm_rank(world, &mixture->rank);
    MPI_Comm_size(world, &mixture->ranks);
    if (n % mixture->ranks != 0) stop("cells=%ld: expected a multiple of the %d ranks", n, mixture->ranks);
    mixture->above = (mixture->rank + mixture->ranks - 1) % mixture->ranks;
    mixture->below = (mixture->rank + 1) % mixture->ranks;
    mixture->n = n;
    mixture->rows = n / mixture->ranks;
    const size_t cells = (size_t)((mixture->rows + 2) * n);
    mixture->mix = calloc(cells, sizeof(double));
    mixture->potential = calloc(cells, sizeof(double));
    mixture->speed = calloc((size_t)mixture->rows, sizeof(double));
    if (mixture->mix == NULL || mixture->potential == NULL || mixture->speed == NULL)
        stop("no memory for %zu cells", cells);
    for (long row = 0; row < mixture->rows; ++row) {
        const double place = (double)(mixture->rank * mixture->rows + row) / (double)n;
        mixture->speed[row] = stirring * sin(2 * 3.14159265358979323846 * place);
    }
    for (long i = 0; i < mixture->rows * n; ++i) {
        const double noise = even_number(seed, mixture->rank * mixture->rows * n + i) - 0.5;
        mixture->mix[n + i] = percent / 100 + 0.2 * noise;
    }
}

/// The rows of the neighbours.
static void exchange(const struct mixture* mixture, double* field) {
    const long n = mixture->n, last = mixture->rows * n;
    MPI_Sendrecv(field + n, (int)n, MPI_DOUBLE, mixture->above, 0, field + last + n, (int)n, MPI_DOUBLE, mixture->below,
                 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(field + last, (int)n, MPI_DOUBLE, mixture->below, 1, field, (int)n, MPI_DOUBLE, mixture->above, 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/// Of the five-point stencil.
static double curvature(const double* field, long n, long row, long column) {
    const double* here = field + row * n;
    const double left = here[column == 0 ? n - 1 : column - 1], right = here[column + 1 == n ? 0 : column + 1];
    return left + right + here[column - n] + here[column + n] - 4 * here[column];
}

void step_mixture(struct mixture* mixture) {
    const long n = mixture->n;
    exchange(mixture, mixture->mix);
    for (long row = 1; row <= mixture->rows; ++row) {
        for (long column = 0; column < n; ++column) {
            const double c = mixture->mix[row * n + column];
            mixture->potential[row * n + column] = c * c * c - c - gradient * curvature(mixture->mix, n, row, column);
        }
    }
    exchange(mixture, mixture->potential);
    for (long row = 1; row <= mixture->rows; ++row) {
        double* mix = mixture->mix + row * n;
        const double first = mix[0];
        double left = mix[n - 1];
        const double speed = mixture->speed[row - 1] * mixture_step / 2;
        for (long column = 0; column < n; ++column) {
            const double here = mix[column], right = column + 1 == n ? first : mix[column + 1];
            mix[column] += mixture_step * curvature(mixture->potential, n, row, column) - speed * (right - left);
            left = here;
        }
    }
}

void gather_mixture(const struct mixture* mixture, double* whole) {
    const int cells = (int)(mixture->rows * mixture->n);
    MPI_Gather(mixture->mix + mixture->n, cells, MPI_DOUBLE, whole, cells, MPI_DOUBLE, 0, MPI_COMM_WORLD);
}

void free_mixture(struct mixture* mixture) {
    free(mixture->mix);
    free(mixture->potential);
    free(mixture->speed);
}
