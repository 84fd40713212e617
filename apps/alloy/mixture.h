#pragma once

#include <mpi.h>

/// What a rank has of the alloy: its rows, with a row of its neighbours on either side. +1 is one metal, -1 the other.
struct mixture {
    int rank, ranks, above, below;
    long n, rows;  ///< cells along a side of the whole square, and this rank's rows
    double *mix, *potential;
    double* speed;  ///< of each row, along it
};

/// Even but for a small noise: `percent` of the way from an equal mixture to the first metal.
void start_mixture(struct mixture* mixture, MPI_Comm world, long n, long seed, double percent);
void step_mixture(struct mixture* mixture);
extern const double mixture_step;  ///< of time

/// The whole square on rank 0, which gives the room for n * n values; collective.
void gather_mixture(const struct mixture* mixture, double* whole);

void free_mixture(struct mixture* mixture);
