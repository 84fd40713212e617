/* HDF5 of a module that was loaded for itself alone. A dataspace of one library means nothing to another one: every
   call here must reach the library that this module was linked with. */
#include <hdf5.h>

int run(const char* path) {
    const hsize_t size = 10;
    int data[10] = {0};
    int failed = 0;
    hid_t space = H5Screate_simple(1, &size, NULL);
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    hid_t dataset = H5Dcreate2(file, "ten", H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    failed |= H5Dwrite(dataset, H5T_NATIVE_INT, space, space, H5P_DEFAULT, data) < 0;
    failed |= H5Dclose(dataset) < 0;
    failed |= H5Sclose(space) < 0;
    failed |= H5Fclose(file) < 0;
    return failed;
}
