#pragma once

#include <mpi.h>

/// What a rank has of the plate: n rows of `width` cells, with a column of its neighbours on either side.
struct plate {
    int rank, ranks, left, right;
    long n, width, first;  ///< cells along a side of the whole plate; this rank's columns begin at `first`
    double *now, *next, *column;
};

/// Cold, with warm spots.
void start_plate(struct plate* plate, MPI_Comm world, long n, long seed);
void step_plate(struct plate* plate);

/// This rank's cells without the neighbours' columns, row by row.
void copy_cells(const struct plate* plate, double* cells);

void free_plate(struct plate* plate);
