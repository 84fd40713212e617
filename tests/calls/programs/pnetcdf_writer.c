/* A file of PnetCDF: written in its three ways, read and checked. pnetcdf_writer FILE */
#include <mpi.h>
#include <pnetcdf.h>
#include <stdio.h>

enum { steps = 5, points = 1000 };

static void check(int code, const char* what) {
    if (code == NC_NOERR) return;
    fprintf(stderr, "%s: %s\n", what, ncmpi_strerror(code));
    MPI_Abort(MPI_COMM_WORLD, 1);
}
#define DO(call) check(call, #call)

static int rank, ranks;

static void fill(double* data, int variable, int step) {
    for (int i = 0; i < points; ++i) data[i] = ((variable * steps + step) * ranks + rank) * points + i;
}

static void write_file(const char* path) {
    static double data[points];
    int file, dimensions[2], variables[3], request, status;
    DO(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &file));
    DO(ncmpi_def_dim(file, "step", steps, &dimensions[0]));
    DO(ncmpi_def_dim(file, "point", (MPI_Offset)points * ranks, &dimensions[1]));
    DO(ncmpi_def_var(file, "collective", NC_DOUBLE, 2, dimensions, &variables[0]));
    DO(ncmpi_def_var(file, "queued", NC_DOUBLE, 2, dimensions, &variables[1]));
    DO(ncmpi_def_var(file, "independent", NC_DOUBLE, 2, dimensions, &variables[2]));
    DO(ncmpi_put_att_text(file, NC_GLOBAL, "title", 5, "waves"));
    DO(ncmpi_enddef(file));
    for (int step = 0; step < steps; ++step) {
        const MPI_Offset from[2] = {step, (MPI_Offset)points * rank}, count[2] = {1, points};
        fill(data, 0, step);
        DO(ncmpi_put_vara_double_all(file, variables[0], from, count, data));
        fill(data, 1, step);
        DO(ncmpi_iput_vara_double(file, variables[1], from, count, data, &request));
        DO(ncmpi_wait_all(file, 1, &request, &status));
    }
    DO(ncmpi_begin_indep_data(file));
    for (int step = 0; step < steps; ++step) {
        const MPI_Offset from[2] = {step, (MPI_Offset)points * rank}, count[2] = {1, points};
        fill(data, 2, step);
        DO(ncmpi_put_vara_double(file, variables[2], from, count, data));
    }
    DO(ncmpi_end_indep_data(file));
    DO(ncmpi_close(file));
}

static void read_file(const char* path) {
    static double data[points], expected[points];
    int file;
    DO(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &file));
    for (int variable = 0; variable < 3; ++variable) {
        for (int step = 0; step < steps; ++step) {
            const MPI_Offset from[2] = {step, (MPI_Offset)points * rank}, count[2] = {1, points};
            DO(ncmpi_get_vara_double_all(file, variable, from, count, data));
            fill(expected, variable, step);
            for (int i = 0; i < points; ++i) {
                if (data[i] != expected[i]) MPI_Abort(MPI_COMM_WORLD, 4);
            }
        }
    }
    DO(ncmpi_close(file));
}

int main(int count, char** words) {
    if (count != 2) return 2;
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    write_file(words[1]);
    read_file(words[1]);
    MPI_Finalize();
    return 0;
}
