// Ranks write two pieces of each stripe of a file in rounds: an odd one each for itself, and then, all together, the
// even ones, with the odd ones as holes between them. So a library that buffers for others (ROMIO) reads the odd pieces,
// and writes them back. Rounds go on until the first ones are old, for as long as what was told of them may count as
// new. In the end, every rank reads the file. Arguments: the file; how the even pieces are written.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "checked_mpi.h"

enum { piece = 4000 };

static void fill(char* out, int slot, int round) {
    for (int i = 0; i < piece; ++i) out[i] = (char)('A' + (slot * 7 + round * 11 + i) % 26);
}

static void write_even(MPI_File file, const char* how, MPI_Offset at, const char* data) {
    MPI_Request request;
    MPI_Status status;
    if (strcmp(how, "at") == 0) {
        check(MPI_File_write_at_all(file, at, data, piece, MPI_CHAR, &status));
    } else if (strcmp(how, "next") == 0) {
        check(MPI_File_seek(file, at, MPI_SEEK_SET));
        check(MPI_File_write_all(file, data, piece, MPI_CHAR, &status));
    } else if (strcmp(how, "begun") == 0) {
        check(MPI_File_write_at_all_begin(file, at, data, piece, MPI_CHAR));
        check(MPI_File_write_at_all_end(file, data, &status));
    } else if (strcmp(how, "started") == 0) {
        check(MPI_File_iwrite_at_all(file, at, data, piece, MPI_CHAR, &request));
        check(MPI_Wait(&request, &status));
    } else {
        check(MPI_File_write_at(file, at, data, piece, MPI_CHAR, &status));
        MPI_Offset size;
        check(MPI_File_get_size(file, &size));
        check(MPI_File_preallocate(file, size));
    }
}

int main(int count, char** arguments) {
    MPI_Init(&count, &arguments);
    int rank = 0, ranks = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_File file;
    check(MPI_File_open(MPI_COMM_WORLD, arguments[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file));
    check(MPI_File_set_size(file, (MPI_Offset)2 * ranks * piece));

    // Backwards, so that ROMIO takes the pieces for interleaved.
    const int even = 2 * (ranks - 1 - rank), odd = even + 1;
    static char data[piece], expected[piece];
    const double long_ago = 0.1;
    const double begin = MPI_Wtime();
    int round = 0, is_over = 0;
    for (; !is_over; ++round) {
        fill(data, odd, round);
        check(MPI_File_write_at(file, (MPI_Offset)odd * piece, data, piece, MPI_CHAR, MPI_STATUS_IGNORE));
        is_over = round > 2 && MPI_Wtime() - begin > 2 * long_ago;
        MPI_Bcast(&is_over, 1, MPI_INT, 0, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
        fill(data, even, round);
        write_even(file, arguments[2], (MPI_Offset)even * piece, data);
        const double end = MPI_Wtime();
        while (round < 2 && MPI_Wtime() - end < long_ago / 2) continue;
        MPI_Barrier(MPI_COMM_WORLD);
    }
    check(MPI_File_close(&file));

    check(MPI_File_open(MPI_COMM_WORLD, arguments[1], MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
    int wrong = 0;
    for (int slot = 0; slot < 2 * ranks; ++slot) {
        check(MPI_File_read_at(file, (MPI_Offset)slot * piece, data, piece, MPI_CHAR, MPI_STATUS_IGNORE));
        fill(expected, slot, round - 1);
        wrong += memcmp(expected, data, piece) != 0;
    }
    check(MPI_File_close(&file));
    if (wrong > 0) fprintf(stderr, "rank %d: %d pieces of %d are wrong after %d rounds\n", rank, wrong, 2 * ranks, round);
    MPI_Finalize();
    return wrong > 0;
}
