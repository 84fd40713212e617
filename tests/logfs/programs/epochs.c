// Two ranks write the same bytes, one after the other: rank 0 from 0 to 4096, rank 1 from 1024 to 3072. Arguments: the
// file, and what lies between the two: "sync", "close" (and open), or "nothing" but a barrier; "apart": a sync, of
// ranks that opened the file each for itself; "together": a write of all ranks around those bytes.
//
// The clock of files stands still, but for a nanosecond at each look, and that of rank 1 is $BEHIND_S seconds behind.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "checked_mpi.h"

int clock_gettime(clockid_t clock, struct timespec* out) {
    static struct timespec standing;
    const long done = syscall(SYS_clock_gettime, clock, out);
    if (clock != CLOCK_REALTIME) return (int)done;
    if (standing.tv_sec == 0) {
        const char* rank = getenv("OMPI_COMM_WORLD_RANK");
        if (rank == NULL) rank = getenv("PMI_RANK");
        standing = *out;
        standing.tv_nsec = 0;
        if (rank != NULL && strcmp(rank, "1") == 0) standing.tv_sec -= atoi(getenv("BEHIND_S"));
    }
    ++standing.tv_nsec;
    *out = standing;
    return (int)done;
}

int main(int count, char** arguments) {
    MPI_Init(&count, &arguments);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const char* const between = arguments[2];
    const MPI_Comm together = strcmp(between, "apart") == 0 ? MPI_COMM_SELF : MPI_COMM_WORLD;
    const int access = MPI_MODE_CREATE | MPI_MODE_RDWR;
    MPI_File file;
    check(MPI_File_open(together, arguments[1], access, MPI_INFO_NULL, &file));
    MPI_Barrier(MPI_COMM_WORLD);

    char data[4096];
    memset(data, 'a' + rank, sizeof data);
    if (rank == 0) check(MPI_File_write_at(file, 0, data, sizeof data, MPI_BYTE, MPI_STATUS_IGNORE));
    if (strcmp(between, "close") == 0) {
        check(MPI_File_close(&file));
        check(MPI_File_open(together, arguments[1], access, MPI_INFO_NULL, &file));
    } else if (strcmp(between, "together") == 0) {
        // Rank 1 before them, the others behind.
        const MPI_Offset at = rank == 1 ? 512 : 4096 + 64 * rank;
        check(MPI_File_write_at_all(file, at, data, 16, MPI_BYTE, MPI_STATUS_IGNORE));
    } else if (strcmp(between, "nothing") != 0) {
        check(MPI_File_sync(file));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) check(MPI_File_write_at(file, 1024, data, 2048, MPI_BYTE, MPI_STATUS_IGNORE));
    check(MPI_File_close(&file));
    MPI_Finalize();
    return 0;
}
