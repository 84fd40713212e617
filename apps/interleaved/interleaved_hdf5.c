// The same pattern through parallel HDF5: each rank writes its columns of one dataset, in one of HDF5's three ways.
#include <hdf5.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static hid_t check(hid_t id, const char* what) {
    if (id >= 0) return id;
    fprintf(stderr, "%s failed\n", what);
    MPI_Abort(MPI_COMM_WORLD, 1);
    return id;
}

static hsize_t positive(const char* text, const char* what) {
    char* end = NULL;
    const long value = strtol(text, &end, 10);
    if (*end == '\0' && value > 0) return (hsize_t)value;
    fprintf(stderr, "%s: '%s'; expected a whole number above 0\n", what, text);
    MPI_Abort(MPI_COMM_WORLD, 2);
    exit(2);
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
    MPI_Init(&argc, &argv);
    int rank = 0;
    int ranks = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc < 4) {
        if (rank == 0) fprintf(stderr, "%s FILE BLOCK-BYTES ROWS-PER-CALL [CALLS [WAY]]\n", argv[0]);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    const hsize_t block = positive(argv[2], "BLOCK-BYTES");
    const hsize_t rows = positive(argv[3], "ROWS-PER-CALL");
    const hsize_t calls = argc > 4 ? positive(argv[4], "CALLS") : 1;
    const hid_t list = transfer(argc > 5 ? argv[5] : "individual");
    char* data = malloc(block * rows);
    if (data == NULL) {
        MPI_Abort(MPI_COMM_WORLD, 1);
        exit(1);
    }
    memset(data, 'a' + rank % 26, block * rows);

    const hid_t file = create_parallel(argv[1]);
    const hsize_t whole[] = {rows * calls, block * (hsize_t)ranks};
    const hsize_t own[] = {rows, block};
    const hid_t space = check(H5Screate_simple(2, whole, NULL), "H5Screate_simple");
    const hid_t memory = check(H5Screate_simple(2, own, NULL), "H5Screate_simple");
    const hid_t set =
        check(H5Dcreate2(file, "columns", H5T_NATIVE_CHAR, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), "H5Dcreate2");
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    for (hsize_t call = 0; call < calls; ++call) {
        const hsize_t corner[] = {call * rows, block * (hsize_t)rank};
        check(H5Sselect_hyperslab(space, H5S_SELECT_SET, corner, NULL, own, NULL), "H5Sselect_hyperslab");
        check(H5Dwrite(set, H5T_NATIVE_CHAR, memory, space, list, data), "H5Dwrite");
    }
    H5Dclose(set);
    H5Fclose(file);
    const double mine = MPI_Wtime() - start;
    double longest = 0;
    MPI_Reduce(&mine, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("%llu bytes in %.4f s\n", (unsigned long long)(whole[0] * whole[1]), longest);
    H5Pclose(list);
    H5Sclose(memory);
    H5Sclose(space);
    free(data);
    MPI_Finalize();
}
