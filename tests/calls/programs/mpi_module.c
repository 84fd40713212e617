/* MPI-IO of a module that was loaded for itself alone. */
#include <mpi.h>
#include <stddef.h>

int run(const char* path) {
    MPI_File file;
    int failed;
    MPI_Init(NULL, NULL);
    failed = MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
    if (failed) return failed;
    failed = MPI_File_write_at(file, 3, "module", 6, MPI_CHAR, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
    MPI_Finalize();
    return failed;
}
