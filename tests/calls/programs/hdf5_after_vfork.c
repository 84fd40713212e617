/* The first call after a child in the same memory is one of HDF5: hdf5_after_vfork FILE */
#include <hdf5.h>
#include <unistd.h>

int main(int count, char** arguments) {
    if (count != 2) return 2;
    const hid_t file = H5Fcreate(arguments[1], H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    for (int i = 0; i < 3; ++i) {
        if (vfork() == 0) _exit(0);
        H5Fflush(file, H5F_SCOPE_LOCAL);
    }
    return H5Fclose(file) < 0;
}
