#include "output_times.h"

#include <stdio.h>
#include <string.h>

#include "key_value.h"

static const char* const names[step_count] = {"open", "write", "read", "sync", "close"};

void begin_output(struct output_times* times) {
    memset(times, 0, sizeof *times);
    MPI_Barrier(MPI_COMM_WORLD);
    times->begin = times->last = MPI_Wtime();
}

void end_step(struct output_times* times, enum step step) {
    const double now = MPI_Wtime();
    times->spent[step] += now - times->last;
    times->last = now;
}

void skip_time(struct output_times* times) {
    const double now = MPI_Wtime();
    times->skipped += now - times->last;
    times->last = now;
}

void print_output(const struct output_times* times, const char* done, long bytes_of_rank, long files) {
    const double own = times->last - times->begin - times->skipped;
    double wall = 0, slowest[step_count], sum[step_count];
    long bytes = 0;
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Reduce(&own, &wall, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    MPI_Reduce(times->spent, slowest, step_count, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    MPI_Reduce(times->spent, sum, step_count, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Reduce(&bytes_of_rank, &bytes, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank != 0) return;
    printf("%s %ld bytes, %ld files, %.6f s\n", done, bytes, files, wall);
    for (int step = 0; step < step_count; ++step)
        if (sum[step] > 0) printf("  %s %.6f %.6f\n", names[step], slowest[step], sum[step]);
    fflush(stdout);
}

void check_mpi(int code, const char* what) {
    if (code == MPI_SUCCESS) return;
    char text[MPI_MAX_ERROR_STRING];
    int length = 0;
    MPI_Error_string(code, text, &length);
    stop("%s: %s", what, text);
}

MPI_Info sieving_hint(const char* sieve) {
    MPI_Info info;
    MPI_Info_create(&info);
    if (strcmp(sieve, "disable") == 0 || strcmp(sieve, "enable") == 0)
        MPI_Info_set(info, "romio_ds_write", sieve);
    else if (strcmp(sieve, "default") != 0)
        stop("sieve=%s: expected default, disable or enable", sieve);
    return info;
}
