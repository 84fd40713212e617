// Writes what the FLASH I/O benchmark writes: checkpoint and plot files of an adaptive mesh, each variable a dataset
// over the blocks of all ranks, through parallel HDF5. See README.md.
#include <errno.h>
#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "key_value.h"
#include "output_times.h"

static long blocks = 80, side = 16, guard = 0, variables = 24, plotted = 4, files = 1, sync_data = 1, check_data = 0;
static const char *directory = "out", *way = "collective", *sieve = "default";

/// What a rank has: its blocks, perhaps with guard cells around each of them, which nobody writes.
struct mesh {
    int rank, ranks;
    double* cells;  ///< block by block, z, y, x
    float* floats;  ///< the same without guard cells, for plots
    hid_t access, transfer, alone;
};

static hid_t check_hdf5(hid_t id, const char* what) {
    if (id < 0) stop("%s failed", what);
    return id;
}

static void read_words(int argc, char** argv) {
    const struct setting known[] = {
        {.key = "blocks", .number = &blocks, .least = 1},
        {.key = "side", .number = &side, .least = 1},
        {.key = "guard", .number = &guard, .least = 0},
        {.key = "variables", .number = &variables, .least = 1},
        {.key = "plotted", .number = &plotted, .least = 0},
        {.key = "files", .number = &files, .least = 1},
        {.key = "sync", .number = &sync_data, .least = 0},
        {.key = "check", .number = &check_data, .least = 0},
        {.key = "way", .text = &way},
        {.key = "sieve", .text = &sieve},
        {.key = "directory", .text = &directory},
    };
    read_settings(argc, argv, known, sizeof known / sizeof *known);
    if (plotted > variables) stop("plotted=%ld: expected at most %ld, the variables", plotted, variables);
    if (strcmp(way, "collective") != 0 && strcmp(way, "independent") != 0)
        stop("way=%s: expected collective or independent", way);
}

/// A cell's value: no two cells of all ranks have the same, and each variable adds its number.
static double value_at(long rank, long block, long cell) {
    return (double)((rank * blocks + block) * side * side * side + cell);
}

static long cells_of_block(void) {
    return side * side * side;
}

/// The interior cell `cell` in an array with guard cells.
static long guarded(long block, long cell) {
    const long wide = side + 2 * guard;
    const long x = cell % side, y = cell / side % side, z = cell / side / side;
    return ((block * wide + z + guard) * wide + y + guard) * wide + x + guard;
}

static struct mesh start_mesh(void) {
    struct mesh mesh = {0};
    MPI_Comm_rank(MPI_COMM_WORLD, &mesh.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &mesh.ranks);
    const long wide = side + 2 * guard;
    mesh.cells = malloc((size_t)(blocks * wide * wide * wide) * sizeof *mesh.cells);
    mesh.floats = malloc((size_t)(blocks * cells_of_block()) * sizeof *mesh.floats);
    if (mesh.cells == NULL || mesh.floats == NULL) stop("no memory for %ld blocks", blocks);
    for (long i = 0; i < blocks * wide * wide * wide; ++i) mesh.cells[i] = -1;
    for (long block = 0; block < blocks; ++block) {
        for (long cell = 0; cell < cells_of_block(); ++cell) {
            mesh.cells[guarded(block, cell)] = value_at(mesh.rank, block, cell);
            mesh.floats[block * cells_of_block() + cell] = (float)value_at(mesh.rank, block, cell);
        }
    }
    MPI_Info info = sieving_hint(sieve);
    mesh.access = check_hdf5(H5Pcreate(H5P_FILE_ACCESS), "H5Pcreate");
    check_hdf5(H5Pset_fapl_mpio(mesh.access, MPI_COMM_WORLD, info), "H5Pset_fapl_mpio");
    MPI_Info_free(&info);
    mesh.transfer = check_hdf5(H5Pcreate(H5P_DATASET_XFER), "H5Pcreate");
    mesh.alone = check_hdf5(H5Pcreate(H5P_DATASET_XFER), "H5Pcreate");
    const int collective = strcmp(way, "collective") == 0;
    check_hdf5(H5Pset_dxpl_mpio(mesh.transfer, collective ? H5FD_MPIO_COLLECTIVE : H5FD_MPIO_INDEPENDENT),
               "H5Pset_dxpl_mpio");
    return mesh;
}

static void end_mesh(struct mesh* mesh) {
    H5Pclose(mesh->access);
    H5Pclose(mesh->transfer);
    H5Pclose(mesh->alone);
    free(mesh->cells);
    free(mesh->floats);
}

/// A dataset over the blocks of all ranks, the first dimension of `each`; every rank writes its own blocks. `inside`:
/// what of `data` that is. Bytes of this rank.
static long write_blocks(const struct mesh* mesh, hid_t file, const char* name, hid_t stored, hid_t held, int rank,
                         const hsize_t* each, hid_t inside, const void* data) {
    hsize_t whole[4], corner[4] = {0};
    memcpy(whole, each, (size_t)rank * sizeof *whole);
    whole[0] *= (hsize_t)mesh->ranks;
    corner[0] = each[0] * (hsize_t)mesh->rank;
    const hid_t space = check_hdf5(H5Screate_simple(rank, whole, NULL), "H5Screate_simple");
    const hid_t set = check_hdf5(H5Dcreate2(file, name, stored, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), name);
    check_hdf5(H5Sselect_hyperslab(space, H5S_SELECT_SET, corner, NULL, each, NULL), "H5Sselect_hyperslab");
    check_hdf5(H5Dwrite(set, held, inside, space, mesh->transfer, data), name);
    H5Dclose(set);
    H5Sclose(space);
    hsize_t count = 1;
    for (int i = 0; i < rank; ++i) count *= each[i];
    return (long)(count * H5Tget_size(stored));
}

/// What FLASH says of each block: how fine it is, what is beside it, where it lies. `each`: numbers of a block, in up
/// to two dimensions.
static long describe(const struct mesh* mesh, hid_t file, const char* name, hid_t type, hsize_t first, hsize_t second) {
    const hsize_t each[] = {(hsize_t)blocks, first, second};
    const int rank = second > 1 ? 3 : first > 1 ? 2 : 1;
    const size_t count = (size_t)((hsize_t)blocks * first * second);
    double* const reals = malloc(count * sizeof *reals);
    if (reals == NULL) stop("no memory for %ld blocks", blocks);
    for (size_t i = 0; i < count; ++i) reals[i] = (double)((size_t)mesh->rank * count + i);
    const hid_t inside = check_hdf5(H5Screate_simple(rank, each, NULL), "H5Screate_simple");
    const long bytes = write_blocks(mesh, file, name, type, H5T_NATIVE_DOUBLE, rank, each, inside, reals);
    H5Sclose(inside);
    free(reals);
    return bytes;
}

/// Rank 0 alone writes a short list: names of variables, time and step.
static long write_list(const struct mesh* mesh, hid_t file, const char* name, hid_t type, hsize_t count,
                       const void* data) {
    const hid_t space = check_hdf5(H5Screate_simple(1, &count, NULL), "H5Screate_simple");
    const hid_t set = check_hdf5(H5Dcreate2(file, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), name);
    if (mesh->rank == 0) check_hdf5(H5Dwrite(set, type, H5S_ALL, H5S_ALL, mesh->alone, data), name);
    H5Dclose(set);
    H5Sclose(space);
    return mesh->rank == 0 ? (long)(count * H5Tget_size(type)) : 0;
}

static void name_of(long variable, char* name) {
    snprintf(name, 8, "v%03ld", variable % 1000);
}

static long write_lists(const struct mesh* mesh, hid_t file, long count, long number) {
    char* const names = calloc((size_t)count + 2, 4);
    if (names == NULL) stop("no memory");
    for (long i = 0; i < count; ++i) {
        char name[8];
        name_of(i, name);
        memcpy(names + 4 * i, name, 4);
    }
    const hid_t text = check_hdf5(H5Tcopy(H5T_C_S1), "H5Tcopy");
    check_hdf5(H5Tset_size(text, 4), "H5Tset_size");
    const double reals[] = {0.1 * (double)number, 0.01};
    const int wholes[] = {(int)number, (int)(blocks * mesh->ranks), (int)side};
    const long bytes = write_list(mesh, file, "unknown names", text, (hsize_t)count, names) +
                       write_list(mesh, file, "real scalars", H5T_NATIVE_DOUBLE, 2, reals) +
                       write_list(mesh, file, "integer scalars", H5T_NATIVE_INT, 3, wholes);
    H5Tclose(text);
    free(names);
    return bytes;
}

static long write_tree(const struct mesh* mesh, hid_t file) {
    return describe(mesh, file, "refine level", H5T_NATIVE_INT, 1, 1) +
           describe(mesh, file, "node type", H5T_NATIVE_INT, 1, 1) +
           describe(mesh, file, "gid", H5T_NATIVE_INT, 15, 1) +
           describe(mesh, file, "coordinates", H5T_NATIVE_DOUBLE, 3, 1) +
           describe(mesh, file, "block size", H5T_NATIVE_DOUBLE, 3, 1) +
           describe(mesh, file, "bounding box", H5T_NATIVE_DOUBLE, 3, 2);
}

/// Only what is inside the guard cells.
static hid_t interior(int with_guard) {
    const long wide = with_guard ? side + 2 * guard : side;
    const hsize_t all[] = {(hsize_t)blocks, (hsize_t)wide, (hsize_t)wide, (hsize_t)wide};
    const hsize_t begin = with_guard ? (hsize_t)guard : 0;
    const hsize_t corner[] = {0, begin, begin, begin};
    const hsize_t count[] = {(hsize_t)blocks, (hsize_t)side, (hsize_t)side, (hsize_t)side};
    const hid_t inside = check_hdf5(H5Screate_simple(4, all, NULL), "H5Screate_simple");
    check_hdf5(H5Sselect_hyperslab(inside, H5S_SELECT_SET, corner, NULL, count, NULL), "H5Sselect_hyperslab");
    return inside;
}

/// The first cell of each block tells the variables apart; the rest is as it was, which saves computing it.
static void become(const struct mesh* mesh, long variable) {
    for (long block = 0; block < blocks; ++block) {
        const double value = value_at(mesh->rank, block, 0) + (double)variable;
        mesh->cells[guarded(block, 0)] = value;
        mesh->floats[block * cells_of_block()] = (float)value;
    }
}

static void file_path(char* path, size_t room, const char* kind, long number) {
    snprintf(path, room, "%s/flash.%s.%04ld.h5", directory, kind, number);
}

/// One file: tree, lists, and `count` variables. Bytes of this rank.
static long write_file(const struct mesh* mesh, const char* kind, long number, long count, struct output_times* times) {
    char path[4096];
    file_path(path, sizeof path, kind, number);
    const int is_plot = strcmp(kind, "plt") == 0;
    const hid_t type = is_plot ? H5T_NATIVE_FLOAT : H5T_NATIVE_DOUBLE;
    const hid_t file = check_hdf5(H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, mesh->access), path);
    end_step(times, step_open);
    long bytes = write_tree(mesh, file) + write_lists(mesh, file, count, number);
    const hid_t inside = interior(!is_plot);
    const hsize_t each[] = {(hsize_t)blocks, (hsize_t)side, (hsize_t)side, (hsize_t)side};
    for (long variable = 0; variable < count; ++variable) {
        char name[8];
        name_of(variable, name);
        become(mesh, variable);
        const void* data = is_plot ? (const void*)mesh->floats : mesh->cells;
        bytes += write_blocks(mesh, file, name, type, type, 4, each, inside, data);
    }
    H5Sclose(inside);
    end_step(times, step_write);
    if (sync_data) check_hdf5(H5Fflush(file, H5F_SCOPE_GLOBAL), path);  // through MPI_File_sync
    end_step(times, step_sync);
    check_hdf5(H5Fclose(file), path);
    end_step(times, step_close);
    return bytes;
}

static void write_all(const struct mesh* mesh) {
    struct output_times times;
    long bytes = 0;
    begin_output(&times);
    for (long number = 0; number < files; ++number) {
        bytes += write_file(mesh, "chk", number, variables, &times);
        if (plotted > 0) bytes += write_file(mesh, "plt", number, plotted, &times);
    }
    print_output(&times, "wrote", bytes, plotted > 0 ? 2 * files : files);
}

/// Each rank reads the next one's blocks of each variable, and compares them. Cells that are wrong.
static long read_checkpoint(const struct mesh* mesh, long number, struct output_times* times) {
    char path[4096];
    file_path(path, sizeof path, "chk", number);
    const int of = (mesh->rank + 1) % mesh->ranks;
    const hsize_t each[] = {(hsize_t)blocks, (hsize_t)side, (hsize_t)side, (hsize_t)side};
    const hsize_t corner[] = {each[0] * (hsize_t)of, 0, 0, 0};
    double* const data = malloc((size_t)(blocks * cells_of_block()) * sizeof *data);
    if (data == NULL) stop("no memory for %ld blocks", blocks);
    const hid_t inside = check_hdf5(H5Screate_simple(4, each, NULL), "H5Screate_simple");
    const hid_t file = check_hdf5(H5Fopen(path, H5F_ACC_RDONLY, mesh->access), path);
    end_step(times, step_open);
    long wrong = 0;
    for (long variable = 0; variable < variables; ++variable) {
        char name[8];
        name_of(variable, name);
        const hid_t set = check_hdf5(H5Dopen2(file, name, H5P_DEFAULT), name);
        const hid_t space = check_hdf5(H5Dget_space(set), name);
        check_hdf5(H5Sselect_hyperslab(space, H5S_SELECT_SET, corner, NULL, each, NULL), name);
        check_hdf5(H5Dread(set, H5T_NATIVE_DOUBLE, inside, space, mesh->transfer, data), name);
        H5Sclose(space);
        H5Dclose(set);
        end_step(times, step_read);
        for (long block = 0; block < blocks; ++block)
            for (long cell = 0; cell < cells_of_block(); ++cell)
                wrong += data[block * cells_of_block() + cell] !=
                         value_at(of, block, cell) + (cell == 0 ? (double)variable : 0);
        skip_time(times);
    }
    check_hdf5(H5Fclose(file), path);
    end_step(times, step_close);
    H5Sclose(inside);
    free(data);
    return wrong;
}

static void read_all(const struct mesh* mesh) {
    struct output_times times;
    long wrong = 0;
    begin_output(&times);
    for (long number = 0; number < files; ++number) wrong += read_checkpoint(mesh, number, &times);
    const long bytes = files * variables * blocks * cells_of_block() * (long)sizeof(double);
    print_output(&times, "read", bytes, files);
    if (wrong > 0) stop("rank %d read %ld cells that are wrong", mesh->rank, wrong);
}

static void remove_old(void) {
    for (long number = 0; number < files; ++number) {
        const char* const kinds[] = {"chk", "plt"};
        for (int i = 0; i < 2; ++i) {
            char path[4096];
            file_path(path, sizeof path, kinds[i], number);
            if (unlink(path) != 0 && errno != ENOENT) stop("%s: %s", path, strerror(errno));
        }
    }
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    read_words(argc, argv);
    struct mesh mesh = start_mesh();
    make_directory(directory);  // each rank: its node's name for the directory may be its own
    if (mesh.rank == 0) remove_old();
    MPI_Barrier(MPI_COMM_WORLD);
    write_all(&mesh);
    if (check_data) read_all(&mesh);
    end_mesh(&mesh);
    MPI_Finalize();
    return 0;
}
