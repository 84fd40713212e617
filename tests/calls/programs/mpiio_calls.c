/* Every function of MPI-IO, with sizes and places that mpiio_test.cpp knows: mpiio_calls FILE [blocking-collectives]
   The second argument leaves out collectives that are not blocking: the ROMIO in Open MPI 4 crashes with them. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int data[3][100];

static void check(int code, const char* what) {
    char text[MPI_MAX_ERROR_STRING];
    int length;
    if (code == MPI_SUCCESS) return;
    MPI_Error_string(code, text, &length);
    fprintf(stderr, "%s: %s\n", what, text);
    MPI_Abort(MPI_COMM_WORLD, 1);
}
#define DO(call) check(call, #call)

static void control(MPI_File file) {
    MPI_Offset size, offset;
    MPI_Aint extent;
    MPI_Group group;
    MPI_Info info;
    MPI_Datatype elementary, filetype;
    int flag, access;
    char representation[MPI_MAX_DATAREP_STRING];
    DO(MPI_File_set_size(file, 65536));
    DO(MPI_File_preallocate(file, 131072));
    DO(MPI_File_get_size(file, &size));
    DO(MPI_File_get_amode(file, &access));
    DO(MPI_File_get_group(file, &group));
    DO(MPI_Group_free(&group));
    DO(MPI_File_get_info(file, &info));
    DO(MPI_File_set_info(file, info));
    DO(MPI_Info_free(&info));
    MPI_File_set_atomicity(file, 0); /* some libraries have it not at all */
    DO(MPI_File_get_atomicity(file, &flag));
    DO(MPI_File_get_type_extent(file, MPI_INT, &extent));
    DO(MPI_File_get_byte_offset(file, 5, &offset));
    DO(MPI_File_get_view(file, &offset, &elementary, &filetype, representation));
}

static void blocking(MPI_File file, int rank) {
    MPI_Status status;
    MPI_Offset offset;
    DO(MPI_File_write_at(file, rank * 4096, data, 100, MPI_INT, &status));
    DO(MPI_File_write_at_all(file, rank * 4096 + 1000, data, 10, MPI_INT, MPI_STATUS_IGNORE));
    DO(MPI_File_seek(file, rank * 8192, MPI_SEEK_SET));
    DO(MPI_File_write(file, data, 25, MPI_INT, &status));
    DO(MPI_File_write_all(file, data, 25, MPI_INT, MPI_STATUS_IGNORE));
    DO(MPI_File_get_position(file, &offset));
    DO(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
    DO(MPI_File_write_shared(file, data, 5, MPI_INT, &status));
    DO(MPI_File_write_ordered(file, data, 5, MPI_INT, &status));
    DO(MPI_File_get_position_shared(file, &offset));
    DO(MPI_File_read_at(file, rank * 4096, data, 100, MPI_INT, &status));
    DO(MPI_File_read_at_all(file, rank * 4096 + 1000, data, 10, MPI_INT, MPI_STATUS_IGNORE));
    DO(MPI_File_seek(file, 16, MPI_SEEK_SET));
    DO(MPI_File_read(file, data, 25, MPI_INT, MPI_STATUS_IGNORE));
    DO(MPI_File_read_all(file, data, 25, MPI_INT, &status));
    DO(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
    DO(MPI_File_read_shared(file, data, 5, MPI_INT, &status));
    DO(MPI_File_read_ordered(file, data, 5, MPI_INT, &status));
}

static void started(MPI_File file, int rank) {
    MPI_Status* const volatile ignored = MPI_STATUSES_IGNORE; /* MPICH's is an address that gcc warns of */
    MPI_Request requests[3];
    MPI_Status statuses[3];
    int index, flag, completed, indices[2];
    DO(MPI_File_iwrite_at(file, rank * 4096, data[0], 10, MPI_INT, &requests[0]));
    DO(MPI_Wait(&requests[0], &statuses[0]));
    DO(MPI_File_seek(file, 0, MPI_SEEK_SET));
    DO(MPI_File_iread(file, data[0], 11, MPI_INT, &requests[0]));
    DO(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    DO(MPI_File_iwrite(file, data[0], 12, MPI_INT, &requests[0]));
    for (flag = 0; !flag;) DO(MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE));
    DO(MPI_File_iread_at(file, 40, data[0], 1, MPI_INT, &requests[0]));
    DO(MPI_File_iread_at(file, 80, data[1], 2, MPI_INT, &requests[1]));
    DO(MPI_File_iread_at(file, 120, data[2], 3, MPI_INT, &requests[2]));
    DO(MPI_Waitall(3, requests, statuses));
    DO(MPI_File_iread_at(file, 160, data[0], 4, MPI_INT, &requests[0]));
    requests[1] = MPI_REQUEST_NULL;
    DO(MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE));
    DO(MPI_File_iwrite_shared(file, data[0], 5, MPI_INT, &requests[1]));
    DO(MPI_Waitsome(2, requests, &completed, indices, statuses));
    DO(MPI_File_iread_shared(file, data[0], 6, MPI_INT, &requests[0]));
    for (flag = 0; !flag;) DO(MPI_Testall(2, requests, &flag, ignored));
}

static void started_together(MPI_File file, int rank) {
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Status statuses[2];
    int index, flag, completed, indices[2];
    DO(MPI_File_iwrite_at_all(file, rank * 4096, data[0], 7, MPI_INT, &requests[0]));
    for (flag = 0; !flag;) DO(MPI_Testany(2, requests, &index, &flag, &statuses[0]));
    DO(MPI_File_iread_at_all(file, rank * 4096, data[0], 8, MPI_INT, &requests[1]));
    for (completed = 0; completed < 1;) DO(MPI_Testsome(2, requests, &completed, indices, statuses));
    DO(MPI_File_iwrite_all(file, data[0], 9, MPI_INT, &requests[0]));
    DO(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    DO(MPI_File_iread_all(file, data[0], 10, MPI_INT, &requests[0]));
    DO(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
}

static void split(MPI_File file, int rank) {
    MPI_Status status;
    DO(MPI_File_seek(file, rank * 4096, MPI_SEEK_SET));
    DO(MPI_File_write_all_begin(file, data, 11, MPI_INT));
    DO(MPI_File_write_all_end(file, data, &status));
    DO(MPI_File_read_all_begin(file, data, 12, MPI_INT));
    DO(MPI_File_read_all_end(file, data, MPI_STATUS_IGNORE));
    DO(MPI_File_write_at_all_begin(file, rank * 4096, data, 13, MPI_INT));
    DO(MPI_File_write_at_all_end(file, data, MPI_STATUS_IGNORE));
    DO(MPI_File_read_at_all_begin(file, rank * 4096, data, 14, MPI_INT));
    DO(MPI_File_read_at_all_end(file, data, &status));
    DO(MPI_File_write_ordered_begin(file, data, 15, MPI_INT));
    DO(MPI_File_write_ordered_end(file, data, &status));
    DO(MPI_File_read_ordered_begin(file, data, 16, MPI_INT));
    DO(MPI_File_read_ordered_end(file, data, &status));
}

/* Every second int from byte 1024 on. */
static void through_a_view(MPI_File file) {
    MPI_Datatype single, strided;
    DO(MPI_Type_contiguous(1, MPI_INT, &single));
    DO(MPI_Type_create_resized(single, 0, 8, &strided));
    DO(MPI_Type_commit(&strided));
    DO(MPI_File_set_view(file, 1024, MPI_INT, strided, "native", MPI_INFO_NULL));
    DO(MPI_File_write_at(file, 3, data, 2, MPI_INT, MPI_STATUS_IGNORE));
    DO(MPI_File_seek(file, 5, MPI_SEEK_SET));
    DO(MPI_File_read(file, data, 2, MPI_INT, MPI_STATUS_IGNORE));
    DO(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    DO(MPI_File_read_at(file, 3, data, 2, MPI_INT, MPI_STATUS_IGNORE));
    DO(MPI_Type_free(&single));
    DO(MPI_Type_free(&strided));
}

int main(int count, char** arguments) {
    MPI_File file;
    int rank;
    if (count < 2) return 2;
    MPI_Init(&count, &arguments);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    DO(MPI_File_open(MPI_COMM_WORLD, arguments[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file));
    control(file);
    blocking(file, rank);
    started(file, rank);
    if (count == 2) started_together(file, rank);
    split(file, rank);
    through_a_view(file);
    DO(MPI_File_sync(file));
    DO(MPI_File_close(&file));
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) DO(MPI_File_delete(arguments[1], MPI_INFO_NULL));
    if (MPI_File_open(MPI_COMM_SELF, "/nowhere/at/all", MPI_MODE_RDONLY, MPI_INFO_NULL, &file) == MPI_SUCCESS) return 3;
    MPI_Finalize();
    return 0;
}
