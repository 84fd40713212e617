#include "partition.h"

/// The slab `number` of `across`: the first ones are a point thicker where the points do not divide.
static void slab(long points, int across, int number, long* begin, long* size) {
    const long each = points / across, left = points % across;
    *size = each + (number < left);
    *begin = number * each + (number < left ? number : left);
}

void cells_of(long points, int across, int rank, struct cell* cells) {
    const int i = rank % across, j = rank / across;
    for (int k = 0; k < across; ++k) {
        const int at[3] = {(i + k) % across, (j + across - k) % across, k};
        for (int axis = 0; axis < 3; ++axis)
            slab(points, across, at[axis], &cells[k].begin[axis], &cells[k].size[axis]);
    }
}

long points_of(const struct cell* cells, int count) {
    long sum = 0;
    for (int k = 0; k < count; ++k) sum += cells[k].size[0] * cells[k].size[1] * cells[k].size[2];
    return sum;
}
