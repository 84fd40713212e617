// As posix_patterns.c, for several ranks. Usage: mpi_patterns WAY
#define _GNU_SOURCE
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ways.h"

enum { KIB = 1024, MIB = 1024 * 1024 };
static int rank, ranks;
static char* data;

static void check(int good, const char* what) {
    if (good) return;
    fprintf(stderr, "rank %d: %s failed\n", rank, what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static MPI_File shared(const char* name) {
    MPI_File file;
    const int mode = MPI_MODE_CREATE | MPI_MODE_RDWR;
    check(MPI_File_open(MPI_COMM_WORLD, name, mode, MPI_INFO_NULL, &file) == MPI_SUCCESS, name);
    return file;
}

static void write_all(MPI_File file, MPI_Offset offset, int bytes) {
    check(MPI_File_write_at_all(file, offset, data, bytes, MPI_BYTE, MPI_STATUS_IGNORE) == MPI_SUCCESS, "write_at_all");
}

static void write_own(int file, size_t bytes, long offset) {
    check(pwrite(file, data, bytes, offset) == (ssize_t)bytes, "pwrite");
}

/// A file for each rank.
static int own_file(int flags) {
    char name[32];
    snprintf(name, sizeof name, "out.%d", rank);
    const int file = open(name, O_RDWR | O_CREAT | flags, 0644);
    check(file >= 0, name);
    return file;
}

/// Whole rows of 4 MiB for each rank, all ranks together. `late_us`: how long the last rank is busy before each.
static void rows(int steps, useconds_t late_us) {
    MPI_File file = shared("out");
    for (int step = 0; step < steps; ++step) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (late_us && rank == ranks - 1) usleep(late_us);
        write_all(file, ((MPI_Offset)step * ranks + rank) * 4 * MIB, 4 * MIB);
    }
    MPI_File_close(&file);
}

static void collective(void) {
    rows(8, 0);
}
static void late_rank(void) {
    rows(8, 300000);
}

static void computes(void) {
    volatile double sum = 0;
    for (int term = 1; term < 100000000; ++term) sum += 1.0 / term;
    write_own(own_file(0), MIB, 0);
}

static void rank_0_writes(void) {
    if (rank == 0) {
        const int file = own_file(0);
        for (int piece = 0; piece < 64; ++piece) write_own(file, MIB, piece * (long)MIB);
    }
}

/// A file to read from, which nobody has to write: how long writes take changes what the reads are worth.
static int sparse(const char* name, long bytes) {
    const int file = open(name, O_RDWR | O_CREAT, 0644);
    check(file >= 0 && ftruncate(file, bytes) == 0, name);
    return file;
}

static void all_read_the_same(void) {
    const int file = sparse("table", 16L * MIB);
    for (int piece = 0; piece < 128; ++piece) check(pread(file, data, MIB, piece % 16 * (long)MIB) == MIB, "pread");
}

/// Of a shared file, this rank sees pieces of `bytes` in turn with the others and `empty` further ones.
static MPI_File seen_in_pieces(int bytes, int empty) {
    MPI_File file = shared("out");
    MPI_Datatype piece, view;
    MPI_Type_contiguous(bytes, MPI_BYTE, &piece);
    MPI_Type_create_resized(piece, 0, (MPI_Aint)bytes * (ranks + empty), &view);
    MPI_Type_commit(&view);
    MPI_File_set_view(file, (MPI_Offset)bytes * rank, MPI_BYTE, view, "native", MPI_INFO_NULL);
    return file;
}

/// Independent writes.
static void write_each(MPI_File file, int calls, int count, MPI_Datatype memory) {
    for (int call = 0; call < calls; ++call)
        check(MPI_File_write(file, data, count, memory, MPI_STATUS_IGNORE) == MPI_SUCCESS, "write");
}

/// Each rank writes every n-th piece of 64 bytes, on its own.
static void interleaved(void) {
    MPI_File file = seen_in_pieces(64, 0);
    write_each(file, 4, 64 * 2048, MPI_BYTE);
    MPI_File_close(&file);
}

/// Each rank writes pieces of 16 KiB, and nobody what lies between them.
static void leaves_holes(void) {
    MPI_File file = seen_in_pieces(16 * KIB, ranks);
    write_each(file, 8, 2 * MIB, MPI_BYTE);
    MPI_File_close(&file);
}

/// Collective writes of pieces so small that sorting them out takes longer than writing them.
static void exchanges_small_pieces(void) {
    MPI_File file = seen_in_pieces(16, 0);
    for (int call = 0; call < 8; ++call)
        check(MPI_File_write_all(file, data, 4 * MIB, MPI_BYTE, MPI_STATUS_IGNORE) == MPI_SUCCESS, "write_all");
    MPI_File_close(&file);
}

/// Every second number of an array, which MPI-IO has to gather: a file of its own for each rank.
static void gathers_from_memory(void) {
    char name[32];
    snprintf(name, sizeof name, "out.%d", rank);
    MPI_File file;
    const int mode = MPI_MODE_CREATE | MPI_MODE_WRONLY;
    check(MPI_File_open(MPI_COMM_SELF, name, mode, MPI_INFO_NULL, &file) == MPI_SUCCESS, name);
    MPI_Datatype memory;
    MPI_Type_vector(4 * MIB / 8, 1, 2, MPI_INT, &memory);
    MPI_Type_commit(&memory);
    write_each(file, 16, 1, memory);
    MPI_File_close(&file);
}

/// Ranks take turns in a shared file, 1 MiB each. `behind`: bytes of a header before them.
static void turns(int file, ssize_t (*move)(int, MPI_Offset), long behind) {
    for (int piece = 0; piece < 128; ++piece)
        check(move(file, behind + ((MPI_Offset)piece * ranks + rank) * MIB) == MIB, "turn");
}

static ssize_t write_piece(int file, MPI_Offset offset) {
    return pwrite(file, data, MIB, offset);
}
static ssize_t read_piece(int file, MPI_Offset offset) {
    return pread(file, data, MIB, offset);
}

static void writes_behind_a_header(void) {
    turns(open("out", O_WRONLY | O_CREAT, 0644), write_piece, 100);
}

static void reads_behind_a_header(void) {
    turns(sparse("table", 128L * ranks * MIB + 100), read_piece, 100);
}

static void opens_each_step(void) {
    for (int step = 0; step < 40; ++step) {
        MPI_File file = shared("out");
        write_all(file, ((MPI_Offset)step * ranks + rank) * 64 * KIB, 64 * KIB);
        MPI_File_close(&file);
    }
}

/// Six phases apart, in which the last rank may have more to write, or other flags.
static void phases(int more, int flags) {
    const int last = rank == ranks - 1;
    const int file = own_file(last ? flags : 0);
    for (int phase = 0; phase < 6; ++phase) {
        MPI_Barrier(MPI_COMM_WORLD);
        usleep(300000);
        for (int piece = 0; piece < 8 * (last ? more : 1); ++piece) write_own(file, MIB, piece * (long)MIB);
    }
}

static void more_to_write(void) {
    phases(8, 0);
}
static void last_waits_for_the_device(void) {
    phases(1, O_DSYNC);
}

static const struct way ways[] = {
    {"collective", collective},
    {"late_rank", late_rank},
    {"computes", computes},
    {"rank_0_writes", rank_0_writes},
    {"all_read_the_same", all_read_the_same},
    {"interleaved", interleaved},
    {"leaves_holes", leaves_holes},
    {"exchanges_small_pieces", exchanges_small_pieces},
    {"gathers_from_memory", gathers_from_memory},
    {"writes_behind_a_header", writes_behind_a_header},
    {"reads_behind_a_header", reads_behind_a_header},
    {"opens_each_step", opens_each_step},
    {"more_to_write", more_to_write},
    {"last_waits_for_the_device", last_waits_for_the_device},
};

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    data = calloc(4, MIB);
    check(run_way(ways, sizeof ways / sizeof *ways, argc, argv), "usage: mpi_patterns WAY;");
    free(data);
    MPI_Finalize();
    return 0;
}
