/* Each rank writes its rows of one dataset through parallel HDF5, then reads and checks those of the next rank:
   hdf5_rows FILE independent|collective */
#include <hdf5.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

enum { rows = 8, columns = 1000, calls = 5 };
static int data[rows][columns];

static void transfer_rows(hid_t dataset, hid_t properties, int owner, int owners, int call, int writes) {
    const hsize_t own[2] = {rows, columns};
    const hsize_t from[2] = {(hsize_t)((call * owners + owner) * rows), 0};
    hid_t space = H5Dget_space(dataset);
    hid_t memory = H5Screate_simple(2, own, NULL);
    H5Sselect_hyperslab(space, H5S_SELECT_SET, from, NULL, own, NULL);
    const herr_t done = writes ? H5Dwrite(dataset, H5T_NATIVE_INT, memory, space, properties, data)
                               : H5Dread(dataset, H5T_NATIVE_INT, memory, space, properties, data);
    if (done < 0) MPI_Abort(MPI_COMM_WORLD, 3);
    H5Sclose(memory);
    H5Sclose(space);
}

int main(int count, char** words) {
    int rank, ranks;
    if (count != 3) return 2;
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
    hid_t properties = H5Pcreate(H5P_DATASET_XFER);
    const int together = strcmp(words[2], "collective") == 0;
    H5Pset_dxpl_mpio(properties, together ? H5FD_MPIO_COLLECTIVE : H5FD_MPIO_INDEPENDENT);

    const hsize_t whole[2] = {(hsize_t)(rows * calls * ranks), columns};
    hid_t file = H5Fcreate(words[1], H5F_ACC_TRUNC, H5P_DEFAULT, access);
    hid_t space = H5Screate_simple(2, whole, NULL);
    hid_t dataset = H5Dcreate2(file, "rows", H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    for (int call = 0; call < calls; ++call) {
        for (int i = 0; i < rows * columns; ++i) data[0][i] = (call * ranks + rank) * rows * columns + i;
        transfer_rows(dataset, properties, rank, ranks, call, 1);
    }
    H5Dclose(dataset);
    H5Sclose(space);
    H5Fclose(file);

    file = H5Fopen(words[1], H5F_ACC_RDONLY, access);
    dataset = H5Dopen2(file, "rows", H5P_DEFAULT);
    const int other = (rank + 1) % ranks;
    for (int call = 0; call < calls; ++call) {
        transfer_rows(dataset, properties, other, ranks, call, 0);
        for (int i = 0; i < rows * columns; ++i) {
            if (data[0][i] != (call * ranks + other) * rows * columns + i) MPI_Abort(MPI_COMM_WORLD, 4);
        }
    }
    H5Dclose(dataset);
    H5Fclose(file);
    H5Pclose(properties);
    H5Pclose(access);
    MPI_Finalize();
    return 0;
}
