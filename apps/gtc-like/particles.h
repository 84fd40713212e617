#pragma once

#include <mpi.h>

/// An electron on the ring. `number` stays with it.
struct particle {
    long number;
    double place, velocity;
};

/// What a rank has of the ring: its particles, those of its part [begin, end) of the ring's length.
struct ring {
    int rank, ranks, left, right;
    long particles, cells;  ///< of the whole ring
    double length, begin, end, step;
    long count, room;
    struct particle* own;
    long* charge;  ///< at each grid point, in units of a particle's charge / share_one, all ranks together
    double* field;
};

/// A particle's charge is split between two grid points in this many shares. Sums of whole numbers do not depend on
/// their order: any number of ranks computes the same.
enum { share_one = 1 << 20 };

/// Two streams of electrons against each other, their middle moving with `drift`.
void start_ring(struct ring* ring, MPI_Comm world, long particles, long cells, long seed, double drift);

/// One step of time: deposit charge, solve the field, push, hand over those who left.
void step_ring(struct ring* ring);

/// Of all ranks: number of particles, momentum, and the largest field (which grows with the instability).
void measure_ring(const struct ring* ring, long* count, double* momentum, double* field);

void free_ring(struct ring* ring);
