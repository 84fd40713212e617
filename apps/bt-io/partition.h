#pragma once

/// A box of the cube, in grid points: where it begins and how far it reaches, x first.
struct cell {
    long begin[3], size[3];
};

/// The diagonal multi-partition of a cube of `points`³ among `across`² ranks: rank `rank` has `across` cells, no two of
/// which share a slab in any direction, so that all ranks have work whichever way a sweep goes (Naik 1995). They come
/// in the order of their slabs in z, `cells` has room for `across`.
void cells_of(long points, int across, int rank, struct cell* cells);

/// Grid points of these cells.
long points_of(const struct cell* cells, int count);
