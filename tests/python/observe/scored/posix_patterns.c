// One program, many ways to do I/O: each has exactly one fault, or none. Usage: posix_patterns WAY
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ways.h"

enum { KIB = 1024, MIB = 1024 * 1024 };
static char data[MIB];

static void check(int good, const char* what) {
    if (good) return;
    fprintf(stderr, "%s: %s\n", what, strerror(errno));
    exit(1);
}

static int opened(const char* name, int flags) {
    const int file = open(name, flags, 0644);
    check(file >= 0, name);
    return file;
}

static void write_at(int file, size_t bytes, long offset) {
    check(pwrite(file, data, bytes, offset) == (ssize_t)bytes, "pwrite");
}

static void read_at(int file, size_t bytes, long offset) {
    check(pread(file, data, bytes, offset) == (ssize_t)bytes, "pread");
}

/// A file of so many MiB, written as it should be. `behind`: bytes of a header before them.
static int written(const char* name, int mib, int flags, int behind) {
    const int file = opened(name, O_RDWR | O_CREAT | flags);
    if (behind) write_at(file, (size_t)behind, 0);
    for (int piece = 0; piece < mib; ++piece) write_at(file, MIB, behind + (long)piece * MIB);
    return file;
}

/// One to read from, which nobody has to write: how long writes take changes what the reads are worth.
static int sparse(const char* name, int mib) {
    const int file = opened(name, O_RDWR | O_CREAT);
    check(ftruncate(file, mib * (long)MIB) == 0, "ftruncate");
    return file;
}

static void large(void) {
    fsync(written("out", 64, 0, 0));
}
static void behind_a_header(void) {
    written("out", 200, 0, 100);
}

static void small(void) {
    const int file = opened("out", O_WRONLY | O_CREAT);
    for (int record = 0; record < 4000; ++record) write_at(file, 1000, record * 1000L);
}

static void random_reads(void) {
    const int file = sparse("table", 32);
    unsigned state = 1;
    for (int read = 0; read < 3000; ++read) {
        state = state * 1664525U + 1013904223U;
        read_at(file, 4 * KIB, (long)(state >> 8) % (32 * 256) * 4 * KIB);
    }
}

static void two_streams(void) {
    const int file = written("table", 256, 0, 0);
    for (int piece = 0; piece < 128; ++piece)
        for (int half = 0; half < 2; ++half) read_at(file, MIB, (half * 128L + piece) * MIB);
}

static void backward(void) {
    const int file = written("table", 128, 0, 0);
    for (int piece = 127; piece >= 0; --piece) read_at(file, MIB, piece * (long)MIB);
}

static void waits_for_the_device(void) {
    const int file = opened("log", O_WRONLY | O_CREAT | O_DSYNC);
    for (int record = 0; record < 60; ++record) write_at(file, 128 * KIB, record * 128L * KIB);
}

static void syncs_each(void) {
    const int file = opened("log", O_WRONLY | O_CREAT);
    for (int record = 0; record < 60; ++record) {
        write_at(file, 128 * KIB, record * 128L * KIB);
        check(fdatasync(file) == 0, "fdatasync");
    }
}

static void asks_again(void) {
    close(written("out", 2, 0, 0));
    struct stat status;
    for (int turn = 0; turn < 3000; ++turn) {
        const int file = opened("out", O_RDONLY);
        check(stat("out", &status) == 0, "stat");
        close(file);
    }
}

static void reads_again(void) {
    const int file = sparse("table", 16);
    for (int turn = 0; turn < 4; ++turn)
        for (int piece = 0; piece < 16; ++piece) read_at(file, MIB, piece * (long)MIB);
}

/// The reads are most of its time, even on a machine where the system makes writers wait.
static void updates(void) {
    const int file = sparse("table", 512);
    for (int record = 0; record < 512; ++record) {
        read_at(file, MIB, record * (long)MIB);
        write_at(file, 64 * KIB, record * (long)MIB);
    }
}

static void computes(void) {
    volatile double sum = 0;
    const int log = opened("log", O_WRONLY | O_CREAT);
    for (int step = 0; step < 20; ++step) {
        for (int term = 1; term < 5000000; ++term) sum += 1.0 / term;
        write_at(log, 80, step * 80L);
    }
}

static const struct way ways[] = {
    {"large", large},
    {"behind_a_header", behind_a_header},
    {"small", small},
    {"random_reads", random_reads},
    {"two_streams", two_streams},
    {"backward", backward},
    {"waits_for_the_device", waits_for_the_device},
    {"syncs_each", syncs_each},
    {"asks_again", asks_again},
    {"reads_again", reads_again},
    {"updates", updates},
    {"computes", computes},
};

int main(int argc, char** argv) {
    memset(data, 'x', sizeof data);
    if (run_way(ways, sizeof ways / sizeof *ways, argc, argv)) return 0;
    fprintf(stderr, "%s WAY\n", argv[0]);
    return 2;
}
