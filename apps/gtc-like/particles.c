// A one-dimensional electrostatic particle-in-cell method that conserves momentum: charge goes to the grid with the
// same linear weights with which the field comes back, and the field is a centred difference (Birdsall & Langdon 1985,
// chapters 2 and 8). Units: the plasma frequency, the electron's charge-to-mass ratio and the mean density are 1.
#include "particles.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "key_value.h"

enum { waves = 3 };  // of the fastest growing length that fit on the ring
static const double stream = 1.0, thermal = 0.05, time_step = 0.1;

static void keep(struct ring* ring, struct particle one) {
    if (ring->count == ring->room) {
        ring->room += ring->room / 2 + 1024;
        ring->own = realloc(ring->own, (size_t)ring->room * sizeof *ring->own);
        if (ring->own == NULL) stop("no memory for %ld particles", ring->room);
    }
    ring->own[ring->count++] = one;
}

static double around(const struct ring* ring, double place) {
    if (place >= ring->length) place -= ring->length;
    if (place < 0) place += ring->length;
    return place < ring->length ? place : 0;  // a tiny negative number plus the length rounds to the length
}

void start_ring(struct ring* ring, MPI_Comm world, long particles, long cells, long seed, double drift) {
    MPI_Comm_rank(world, &ring->rank);
    MPI_Comm_size(world, &ring->ranks);
    ring->left = (ring->rank + ring->ranks - 1) % ring->ranks;
    ring->right = (ring->rank + 1) % ring->ranks;
    ring->particles = particles;
    ring->cells = cells;
    // Two cold streams at ±v are most unstable at k v = sqrt(3/8) (Birdsall & Langdon 1985, section 5-6).
    ring->length = waves * 2 * 3.14159265358979323846 * stream / sqrt(3.0 / 8.0);
    ring->begin = ring->length * ring->rank / ring->ranks;
    ring->end = ring->rank + 1 == ring->ranks ? ring->length : ring->length * (ring->rank + 1) / ring->ranks;
    ring->step = time_step;
    ring->charge = calloc((size_t)cells, sizeof *ring->charge);
    ring->field = calloc((size_t)cells, sizeof *ring->field);
    if (ring->charge == NULL || ring->field == NULL) stop("no memory for %ld cells", cells);
    for (long i = 0; i < particles; ++i) {
        const double place = ring->length * even_number(seed, 4 * i);
        if (place < ring->begin || place >= ring->end) continue;
        double heat = -1.5;  // three even numbers: near enough to a normal one, variance 1/4
        for (int k = 1; k <= 3; ++k) heat += even_number(seed, 4 * i + k);
        const double velocity = drift + (i % 2 == 0 ? stream : -stream) + 2 * thermal * heat;
        keep(ring, (struct particle){.number = i, .place = place, .velocity = velocity});
    }
}

/// The grid point to the left of a particle, and the shares of the point to its right.
static long split(const struct ring* ring, double place, long* right) {
    const double cell = place / ring->length * (double)ring->cells;
    const long left = (long)cell < ring->cells ? (long)cell : ring->cells - 1;
    *right = lround((cell - (double)left) * share_one);
    return left;
}

static void deposit(struct ring* ring) {
    memset(ring->charge, 0, (size_t)ring->cells * sizeof *ring->charge);
    for (long i = 0; i < ring->count; ++i) {
        long share = 0;
        const long left = split(ring, ring->own[i].place, &share);
        ring->charge[left] += share_one - share;
        ring->charge[left + 1 == ring->cells ? 0 : left + 1] += share;
    }
    MPI_Allreduce(MPI_IN_PLACE, ring->charge, (int)ring->cells, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
}

/// Gauss' law from cell to cell, for electrons (-) in front of a background (+) that does not move.
static void solve(struct ring* ring) {
    const double width = ring->length / (double)ring->cells;
    const double one = (double)ring->cells / ((double)ring->particles * share_one);  // mean density 1
    double between = 0, mean = 0;
    for (long i = 0; i < ring->cells; ++i) {  // field[i]: between points i and i + 1
        between += (1 - (double)ring->charge[i] * one) * width;
        ring->field[i] = between;
        mean += between / (double)ring->cells;
    }
    double before = ring->field[ring->cells - 1];
    for (long i = 0; i < ring->cells; ++i) {
        const double after = ring->field[i];
        ring->field[i] = (before + after) / 2 - mean;
        before = after;
    }
}

static void push(struct ring* ring) {
    for (long i = 0; i < ring->count; ++i) {
        struct particle* one = &ring->own[i];
        long share = 0;
        const long left = split(ring, one->place, &share);
        const double at_left = ring->field[left], at_right = ring->field[left + 1 == ring->cells ? 0 : left + 1];
        one->velocity -= ring->step * (at_left * (double)(share_one - share) + at_right * (double)share) / share_one;
        one->place = around(ring, one->place + ring->step * one->velocity);
    }
}

/// Sends `count` particles one way and keeps what comes from the other side.
static void hand_over(struct ring* ring, const struct particle* leaving, long count, int to, int from) {
    long arriving = 0;
    MPI_Sendrecv(&count, 1, MPI_LONG, to, 0, &arriving, 1, MPI_LONG, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    struct particle* arrived = malloc((size_t)(arriving + 1) * sizeof *arrived);
    if (arrived == NULL) stop("no memory for %ld particles", arriving);
    const int bytes = (int)((size_t)count * sizeof *leaving), coming = (int)((size_t)arriving * sizeof *arrived);
    MPI_Sendrecv(leaving, bytes, MPI_BYTE, to, 1, arrived, coming, MPI_BYTE, from, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    for (long i = 0; i < arriving; ++i) keep(ring, arrived[i]);
    free(arrived);
}

static void exchange(struct ring* ring) {
    struct particle* to_left = malloc((size_t)(ring->count + 1) * sizeof *to_left);
    struct particle* to_right = malloc((size_t)(ring->count + 1) * sizeof *to_right);
    if (to_left == NULL || to_right == NULL) stop("no memory for %ld particles", ring->count);
    const double part = ring->end - ring->begin;
    const double middle = ring->begin + part / 2;
    long stayed = 0, lefts = 0, rights = 0;
    for (long i = 0; i < ring->count; ++i) {
        const struct particle one = ring->own[i];
        if (one.place >= ring->begin && one.place < ring->end) {
            ring->own[stayed++] = one;
            continue;
        }
        double way = one.place - middle;  // the short way round the ring
        if (way > ring->length / 2) way -= ring->length;
        if (way < -ring->length / 2) way += ring->length;
        if (fabs(way) > 1.5 * part) stop("particle %ld crossed a whole rank in one step: use fewer ranks", one.number);
        if (way < 0)
            to_left[lefts++] = one;
        else
            to_right[rights++] = one;
    }
    ring->count = stayed;
    hand_over(ring, to_left, lefts, ring->left, ring->right);
    hand_over(ring, to_right, rights, ring->right, ring->left);
    free(to_left);
    free(to_right);
}

void step_ring(struct ring* ring) {
    deposit(ring);
    solve(ring);
    push(ring);
    if (ring->ranks > 1) exchange(ring);
}

void measure_ring(const struct ring* ring, long* count, double* momentum, double* field) {
    double sum = 0;
    for (long i = 0; i < ring->count; ++i) sum += ring->own[i].velocity;
    MPI_Allreduce(&sum, momentum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(&ring->count, count, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    *field = 0;
    for (long i = 0; i < ring->cells; ++i) *field = fmax(*field, fabs(ring->field[i]));
}

void free_ring(struct ring* ring) {
    free(ring->own);
    free(ring->charge);
    free(ring->field);
}
