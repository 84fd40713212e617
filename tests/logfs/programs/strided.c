// Each rank writes every n-th piece of 47 bytes, by a view, and reads nothing. Arguments: the path that MPI is given,
// and the info object that it is opened with: "null", "other" (with a hint of another name), or what that says about
// romio_ds_write. Prints what the file was opened with.
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#include "checked_mpi.h"

enum { piece = 47, pieces = 200 };

int main(int count, char** arguments) {
    MPI_Init(&count, &arguments);
    int rank = 0, ranks = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const char* const hint = arguments[2];
    MPI_Info info = MPI_INFO_NULL;
    if (strcmp(hint, "null") != 0) {
        MPI_Info_create(&info);
        MPI_Info_set(info, "ind_wr_buffer_size", "4096");
        if (strcmp(hint, "other") != 0) MPI_Info_set(info, "romio_ds_write", hint);
    }
    MPI_File file;
    check(MPI_File_open(MPI_COMM_WORLD, arguments[1], MPI_MODE_CREATE | MPI_MODE_RDWR, info, &file));
    MPI_Info used;
    char value[MPI_MAX_INFO_VAL + 1] = "none";
    int there = 0;
    MPI_File_get_info(file, &used);
    MPI_Info_get(used, "romio_ds_write", MPI_MAX_INFO_VAL, value, &there);
    if (rank == 0) printf("romio_ds_write %s\n", value);
    MPI_Info_free(&used);

    MPI_Datatype view;
    MPI_Type_vector(pieces, piece, piece * ranks, MPI_BYTE, &view);
    MPI_Type_commit(&view);
    check(MPI_File_set_view(file, (MPI_Offset)rank * piece, MPI_BYTE, view, "native", MPI_INFO_NULL));
    char data[pieces * piece];
    memset(data, 'a' + rank, sizeof data);
    check(MPI_File_write(file, data, sizeof data, MPI_BYTE, MPI_STATUS_IGNORE));
    check(MPI_File_sync(file));
    check(MPI_File_close(&file));
    MPI_Type_free(&view);
    if (info != MPI_INFO_NULL) MPI_Info_free(&info);
    MPI_Finalize();
    return 0;
}
