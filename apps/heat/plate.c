// Heat conduction on a plate with insulated edges, explicit in time: what flows out of a cell flows into another, so
// heat is conserved. No sum goes across cells: any number of ranks computes the same.
#include "plate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "key_value.h"

enum { spots = 12 };
static const double conductivity = 0.2;  // times the step of time, by the cell's area; stable below 1/4

static double* cell(const struct plate* plate, double* field, long row, long column) {
    return field + row * (plate->width + 2) + column;
}

/// Spots of every size and warmth, somewhere.
static double warmth(long seed, long n, long row, long column) {
    double sum = 0;
    for (long spot = 0; spot < spots; ++spot) {
        const double x = even_number(seed, 4 * spot) * (double)n, y = even_number(seed, 4 * spot + 1) * (double)n;
        const double radius = (0.02 + 0.08 * even_number(seed, 4 * spot + 2)) * (double)n;
        const double away = hypot((double)column - x, (double)row - y) / radius;
        sum += 100 * even_number(seed, 4 * spot + 3) * exp(-away * away);
    }
    return sum;
}

void start_plate(struct plate* plate, MPI_Comm world, long n, long seed) {
    MPI_Comm_rank(world, &plate->rank);
    MPI_Comm_size(world, &plate->ranks);
    if (n % plate->ranks != 0) stop("cells=%ld: expected a multiple of the %d ranks", n, plate->ranks);
    plate->left = plate->rank == 0 ? MPI_PROC_NULL : plate->rank - 1;
    plate->right = plate->rank + 1 == plate->ranks ? MPI_PROC_NULL : plate->rank + 1;
    plate->n = n;
    plate->width = n / plate->ranks;
    plate->first = plate->rank * plate->width;
    const size_t cells = (size_t)(n * (plate->width + 2));
    plate->now = calloc(cells, sizeof(double));
    plate->next = calloc(cells, sizeof(double));
    plate->column = calloc((size_t)(4 * n), sizeof(double));
    if (plate->now == NULL || plate->next == NULL || plate->column == NULL) stop("no memory for %zu cells", cells);
    for (long row = 0; row < n; ++row) {
        for (long i = 1; i <= plate->width; ++i)
            *cell(plate, plate->now, row, i) = warmth(seed, n, row, plate->first + i - 1);
    }
}

/// The columns of the neighbours; at an edge, the cell itself, so that nothing flows there.
static void exchange(struct plate* plate) {
    const long n = plate->n, width = plate->width;
    double *own_left = plate->column, *own_right = own_left + n, *left = own_right + n, *right = left + n;
    for (long row = 0; row < n; ++row) {
        left[row] = own_left[row] = *cell(plate, plate->now, row, 1);
        right[row] = own_right[row] = *cell(plate, plate->now, row, width);
    }
    MPI_Sendrecv(own_left, (int)n, MPI_DOUBLE, plate->left, 0, right, (int)n, MPI_DOUBLE, plate->right, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(own_right, (int)n, MPI_DOUBLE, plate->right, 1, left, (int)n, MPI_DOUBLE, plate->left, 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (long row = 0; row < n; ++row) {
        *cell(plate, plate->now, row, 0) = left[row];
        *cell(plate, plate->now, row, width + 1) = right[row];
    }
}

void step_plate(struct plate* plate) {
    exchange(plate);
    for (long row = 0; row < plate->n; ++row) {
        const double* here = cell(plate, plate->now, row, 0);
        const double* above = cell(plate, plate->now, row == 0 ? row : row - 1, 0);
        const double* below = cell(plate, plate->now, row + 1 == plate->n ? row : row + 1, 0);
        double* next = cell(plate, plate->next, row, 0);
        for (long i = 1; i <= plate->width; ++i)
            next[i] = here[i] + conductivity * ((here[i - 1] + here[i + 1]) + (above[i] + below[i]) - 4 * here[i]);
    }
    double* before = plate->now;
    plate->now = plate->next;
    plate->next = before;
}

void copy_cells(const struct plate* plate, double* cells) {
    for (long row = 0; row < plate->n; ++row)
        memcpy(cells + row * plate->width, cell(plate, plate->now, row, 1), (size_t)plate->width * sizeof *cells);
}

void free_plate(struct plate* plate) {
    free(plate->now);
    free(plate->next);
    free(plate->column);
}
