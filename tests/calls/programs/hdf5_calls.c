/* The functions of HDF5 that are recorded, with sizes that hdf5_test.cpp knows: hdf5_calls FILE */
#include <hdf5.h>
#include <stdlib.h>
#ifdef H5_HAVE_PARALLEL
#include <mpi.h>
#endif

static double data[64 * 64];

static hid_t file_access(void) {
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_alignment(access, 1024, 4096);
#ifdef H5_HAVE_PARALLEL
    H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
#endif
    return access;
}

static hid_t transfer_properties(void) {
#ifdef H5_HAVE_PARALLEL
    hid_t transfer = H5Pcreate(H5P_DATASET_XFER);
    H5Pset_dxpl_mpio(transfer, H5FD_MPIO_COLLECTIVE);
    return transfer;
#else
    return H5P_DEFAULT;
#endif
}

static void write_chunked(hid_t group, hid_t transfer) {
    const hsize_t size[2] = {64, 64}, chunk[2] = {16, 32}, from[2] = {8, 8}, count[2] = {10, 20};
    hid_t space = H5Screate_simple(2, size, NULL);
    hid_t memory = H5Screate_simple(2, count, NULL);
    hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(creation, 2, chunk);
    hid_t dataset = H5Dcreate2(group, "chunked", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, creation, H5P_DEFAULT);
    H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, transfer, data);
    H5Sselect_hyperslab(space, H5S_SELECT_SET, from, NULL, count, NULL);
    H5Dwrite(dataset, H5T_NATIVE_FLOAT, memory, space, transfer, data);
    H5Dread(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, space, H5P_DEFAULT, data);
    H5Dclose(dataset);
    H5Pclose(creation);
    H5Sclose(memory);
    H5Sclose(space);
}

static void write_attribute(hid_t group) {
    const hsize_t three = 3;
    hid_t space = H5Screate_simple(1, &three, NULL);
    hid_t attribute = H5Acreate2(group, "three", H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT);
    int values[3] = {1, 2, 3};
    H5Awrite(attribute, H5T_NATIVE_INT, values);
    H5Aclose(attribute);
    attribute = H5Aopen(group, "three", H5P_DEFAULT);
    H5Aread(attribute, H5T_NATIVE_INT, values);
    H5Aclose(attribute);
    H5Sclose(space);
}

int main(int count, char** arguments) {
    if (count != 2) return 2;
#ifdef H5_HAVE_PARALLEL
    MPI_Init(&count, &arguments);
#endif
    hid_t access = file_access();
    hid_t transfer = transfer_properties();
    hid_t file = H5Fcreate(arguments[1], H5F_ACC_TRUNC, H5P_DEFAULT, access);
    hid_t group = H5Gcreate2(file, "group", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    write_chunked(group, transfer);
    write_attribute(group);
    H5Gclose(group);
    H5Fflush(file, H5F_SCOPE_GLOBAL);
    H5Fclose(file);

    file = H5Fopen(arguments[1], H5F_ACC_RDONLY, access);
    hid_t dataset = H5Dopen2(file, "group/chunked", H5P_DEFAULT);
    H5Dread(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, transfer, data);
    H5Dclose(dataset);
    H5Fclose(file);
    H5Pclose(access);

    /* HDF5 says on standard error what is wrong; the program goes on. */
    if (H5Fopen("/nowhere/at.all", H5F_ACC_RDONLY, H5P_DEFAULT) >= 0) return 3;
#ifdef H5_HAVE_PARALLEL
    MPI_Finalize();
#endif
    return 0;
}
