/* What becomes of requests that are freed, and of a process that MPI_Abort ends: mpi_ends FILE */
#include <mpi.h>

static int data[10];

int main(int count, char** arguments) {
    MPI_File file;
    MPI_Request started, message;
    if (count != 2) return 2;
    MPI_Init(&count, &arguments);
    MPI_File_open(MPI_COMM_SELF, arguments[1], MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                  MPI_INFO_NULL, &file);
    /* No I/O request is started: nothing of these is to be seen. */
    MPI_Irecv(data, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_SELF, &message);
    MPI_Wait(&message, MPI_STATUS_IGNORE);
    /* One is started, but the wait is for another. */
    MPI_File_iwrite_at(file, 0, data, 10, MPI_INT, &started);
    MPI_Irecv(data, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_SELF, &message);
    MPI_Wait(&message, MPI_STATUS_IGNORE);
    MPI_Request_free(&started);
    MPI_Abort(MPI_COMM_SELF, 7);
    return 0;
}
