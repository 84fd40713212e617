// The same pattern through parallel HDF5: each rank writes its columns of one dataset, in one of HDF5's three ways.
#include <hdf5.h>

#include "interleaved.h"

static hid_t check(hid_t id, const char* what) {
    if (id >= 0) return id;
    fprintf(stderr, "%s failed\n", what);
    MPI_Abort(MPI_COMM_WORLD, 1);
    return id;
}

static hid_t create_parallel(const char* path) {
    const hid_t access = check(H5Pcreate(H5P_FILE_ACCESS), "H5Pcreate");
    check(H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL), "H5Pset_fapl_mpio");
    const hid_t file = check(H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access), path);
    H5Pclose(access);
    return file;
}

/// `pieces`: HDF5 makes one call per piece. `individual`: one call per write, through a view, each rank for itself.
/// `collective`: one call of all ranks.
static hid_t transfer(const char* way) {
    const hid_t list = check(H5Pcreate(H5P_DATASET_XFER), "H5Pcreate");
    if (strcmp(way, "pieces") == 0) return list;
    check(H5Pset_dxpl_mpio(list, H5FD_MPIO_COLLECTIVE), "H5Pset_dxpl_mpio");
    if (strcmp(way, "collective") == 0) return list;
    if (strcmp(way, "individual") != 0) {
        fprintf(stderr, "WAY: '%s'; expected pieces, individual or collective\n", way);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    check(H5Pset_dxpl_mpio_collective_opt(list, H5FD_MPIO_INDIVIDUAL_IO), "H5Pset_dxpl_mpio_collective_opt");
    return list;
}

int main(int argc, char** argv) {
    struct part own = begin(argc, argv, "ROWS-PER-CALL", " [WAY]");
    const hid_t list = transfer(argc > 5 ? argv[5] : "individual");
    const hid_t file = create_parallel(argv[1]);
    const hsize_t rows = (hsize_t)own.rows;
    const hsize_t block = (hsize_t)own.block;
    const hsize_t whole[] = {rows * (hsize_t)own.calls, block * (hsize_t)own.ranks};
    const hsize_t each[] = {rows, block};
    const hid_t space = check(H5Screate_simple(2, whole, NULL), "H5Screate_simple");
    const hid_t memory = check(H5Screate_simple(2, each, NULL), "H5Screate_simple");
    const hid_t set =
        check(H5Dcreate2(file, "columns", H5T_NATIVE_CHAR, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), "H5Dcreate2");
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    for (hsize_t call = 0; call < (hsize_t)own.calls; ++call) {
        const hsize_t corner[] = {call * rows, block * (hsize_t)own.rank};
        check(H5Sselect_hyperslab(space, H5S_SELECT_SET, corner, NULL, each, NULL), "H5Sselect_hyperslab");
        check(H5Dwrite(set, H5T_NATIVE_CHAR, memory, space, list, own.data), "H5Dwrite");
    }
    H5Dclose(set);
    H5Fclose(file);
    const double seconds = MPI_Wtime() - start;
    H5Pclose(list);
    H5Sclose(memory);
    H5Sclose(space);
    end(&own, seconds);
}
