// Each rank writes its pieces in no order, and all of them open the file for reading together, by one call of MPI.
// Arguments: the file; the folder where the node's merged indexes are; pieces of a rank. Says how many ranks do not use
// such an index, but have merged their own.
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "checked_mpi.h"

enum { piece = 16, stride = 32 };

static void write_pieces(const char* path, int rank, int ranks, int pieces) {
    int* const order = malloc((size_t)pieces * sizeof *order);
    for (int i = 0; i < pieces; ++i) order[i] = i;
    srand((unsigned)rank + 1);
    for (int i = pieces - 1; i > 0; --i) {
        const int other = rand() % (i + 1);
        const int moved = order[i];
        order[i] = order[other];
        order[other] = moved;
    }
    const int file = open(path, O_WRONLY | O_CREAT, 0644);
    for (int i = 0; i < pieces; ++i) {
        const int place = order[i] * ranks + rank;
        char data[piece + 1];
        snprintf(data, sizeof data, "%016d", place);
        if (pwrite(file, data, piece, (off_t)place * stride) != piece) MPI_Abort(MPI_COMM_WORLD, 2);
    }
    close(file);
}

/// Whether the process has a file of the folder mapped.
static int uses(const char* folder) {
    FILE* const maps = fopen("/proc/self/maps", "r");
    char line[4096];
    int found = 0;
    while (fgets(line, sizeof line, maps) != NULL) found |= strstr(line, folder) != NULL;
    fclose(maps);
    return found;
}

int main(int count, char** arguments) {
    MPI_Init(&count, &arguments);
    int rank = 0, ranks = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const int pieces = atoi(arguments[3]);
    write_pieces(arguments[1], rank, ranks, pieces);
    MPI_Barrier(MPI_COMM_WORLD);

    MPI_File file;
    check(MPI_File_open(MPI_COMM_WORLD, arguments[1], MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
    int wrong = 0;
    for (int place = 0; place < pieces * ranks; place += pieces / 10 + 1) {
        char data[piece], expected[piece + 1];
        snprintf(expected, sizeof expected, "%016d", place);
        check(MPI_File_read_at(file, (MPI_Offset)place * stride, data, piece, MPI_CHAR, MPI_STATUS_IGNORE));
        wrong |= memcmp(data, expected, piece) != 0;
    }
    const int merged = !uses(arguments[2]);
    int all_merged = 0;
    MPI_Reduce(&merged, &all_merged, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("merged by %d\n", all_merged);
    check(MPI_File_close(&file));
    MPI_Finalize();
    return wrong;
}
