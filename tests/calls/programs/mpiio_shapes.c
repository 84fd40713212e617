/* MPI-IO as few programs do it: mpiio_shapes FILE WAY, where WAY is
     threads   MPI_THREAD_MULTIPLE: four threads of each rank write through one file handle, and read through their own
     atomic    in atomic mode, all ranks write and read the same bytes
     large     the functions of MPI-4 with large counts; 77 where the library has none
     killed    the last rank is killed after its writes, while the others wait for it
     aborted   the last rank calls MPI_Abort after its writes, while the others wait for it */
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { threads = 4, calls = 25, bytes = 1000 };

static MPI_File common;
static const char* path;
static int rank, ranks;

static void check(int code, const char* what) {
    if (code == MPI_SUCCESS) return;
    fprintf(stderr, "%s: code %d\n", what, code);
    MPI_Abort(MPI_COMM_WORLD, 1);
}
#define DO(call) check(call, #call)

static void write_blocks(MPI_Offset first) {
    char data[bytes];
    memset(data, 'a' + rank, bytes);
    for (int i = 0; i < calls; ++i) {
        DO(MPI_File_write_at(common, (first + i) * bytes, data, bytes, MPI_BYTE, MPI_STATUS_IGNORE));
    }
}

static void read_blocks(MPI_Offset first) {
    char data[bytes];
    MPI_File own;
    MPI_Status status;
    int moved;
    DO(MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &own));
    for (int i = 0; i < calls; ++i) {
        DO(MPI_File_read_at(own, (first + i) * bytes, data, bytes, MPI_BYTE, &status));
        DO(MPI_Get_count(&status, MPI_BYTE, &moved));
        if (moved != bytes || data[0] != 'a' + rank || data[bytes - 1] != 'a' + rank) MPI_Abort(MPI_COMM_WORLD, 4);
    }
    DO(MPI_File_close(&own));
}

static void* work(void* number) {
    const MPI_Offset first = ((MPI_Offset)rank * threads + (long)number) * calls;
    write_blocks(first);
    read_blocks(first);
    return NULL;
}

static void in_threads(void) {
    pthread_t started[threads];
    for (long i = 0; i < threads; ++i) pthread_create(&started[i], NULL, work, (void*)i);
    for (int i = 0; i < threads; ++i) pthread_join(started[i], NULL);
}

static int atomic_mode(void) {
    char data[bytes];
    /* Open MPI's own MPI-IO has none. */
    if (MPI_File_set_atomicity(common, 1) != MPI_SUCCESS) return 77;
    memset(data, 'a' + rank, bytes);
    for (int i = 0; i < calls; ++i) {
        DO(MPI_File_write_at(common, 0, data, bytes, MPI_BYTE, MPI_STATUS_IGNORE));
        DO(MPI_File_read_at(common, 0, data, bytes, MPI_BYTE, MPI_STATUS_IGNORE));
        for (int j = 1; j < bytes; ++j) {
            if (data[j] != data[0]) MPI_Abort(MPI_COMM_WORLD, 4);
        }
        memset(data, 'a' + rank, bytes);
    }
    return 0;
}

#if MPI_VERSION >= 4
static int large_counts(void) {
    const MPI_Count count = bytes;
    char data[bytes];
    MPI_Request request;
    const MPI_Offset first = (MPI_Offset)rank * 10 * bytes;
    memset(data, 'a' + rank, bytes);
    DO(MPI_File_write_at_c(common, first, data, count, MPI_BYTE, MPI_STATUS_IGNORE));
    DO(MPI_File_write_at_all_c(common, first + bytes, data, count, MPI_BYTE, MPI_STATUS_IGNORE));
    DO(MPI_File_seek(common, first + 2 * bytes, MPI_SEEK_SET));
    DO(MPI_File_write_c(common, data, count, MPI_BYTE, MPI_STATUS_IGNORE));
    DO(MPI_File_write_all_c(common, data, count, MPI_BYTE, MPI_STATUS_IGNORE));
    DO(MPI_File_iwrite_at_c(common, first + 4 * bytes, data, count, MPI_BYTE, &request));
    DO(MPI_Wait(&request, MPI_STATUS_IGNORE));
    DO(MPI_File_write_at_all_begin_c(common, first + 5 * bytes, data, count, MPI_BYTE));
    DO(MPI_File_write_at_all_end(common, data, MPI_STATUS_IGNORE));
    DO(MPI_File_read_at_c(common, first, data, count, MPI_BYTE, MPI_STATUS_IGNORE));
    return 0;
}
#else
static int large_counts(void) {
    return 77;
}
#endif

int main(int count, char** words) {
    int provided, code = 0;
    if (count != 3) return 2;
    const char* way = words[2];
    path = words[1];
    const int wanted = strcmp(way, "threads") == 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;
    MPI_Init_thread(&count, &words, wanted, &provided);
    if (provided < wanted) return 77;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    DO(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &common));
    if (strcmp(way, "threads") == 0) in_threads();
    if (strcmp(way, "atomic") == 0) code = atomic_mode();
    if (strcmp(way, "large") == 0) code = large_counts();
    if (strcmp(way, "killed") == 0 || strcmp(way, "aborted") == 0) {
        write_blocks((MPI_Offset)rank * calls);
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == ranks - 1) {
            if (strcmp(way, "killed") == 0) raise(SIGKILL);
            MPI_Abort(MPI_COMM_WORLD, 7);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    DO(MPI_File_close(&common));
    MPI_Finalize();
    return code;
}
