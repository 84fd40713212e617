// Two metals part; rank 0 writes the square element by element, and which line of the code writes an element depends on
// what is in it. See README.md.
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "key_value.h"
#include "mixture.h"

enum { side = 12 };  // cells along an element
enum kind { boundary, first_metal, second_metal, kinds };

static long cells = 192, steps = 96000, output_every = 800, percent = -10, seed = 1;
static const char* directory = "out";

/// The first 64 bytes of a file. Written twice: `complete` is 0 until all elements are there.
struct header {
    char magic[8];
    long step, cells, complete, count[kinds];
    double mean;
};

/// An element as it stands in the file: float values, less their metal's own -1 or +1, which leaves them more digits.
struct element {
    int kind, number;
    double mean;
    float values[side * side];
};

/// Where rank 0 writes, and the element that it works on.
struct target {
    int file;
    char path[4096];
    struct element element;
};

static void check_written(ssize_t written, size_t bytes, const char* path) {
    if (written != (ssize_t)bytes) stop("%s: %s", path, written < 0 ? strerror(errno) : "the device is full");
}

static enum kind kind_of(const double* corner, long n) {
    double lowest = corner[0], highest = corner[0];
    for (long i = 0; i < side; ++i) {
        for (long k = 0; k < side; ++k) {
            lowest = fmin(lowest, corner[i * n + k]);
            highest = fmax(highest, corner[i * n + k]);
        }
    }
    if (lowest > 0.5) return first_metal;
    return highest < -0.5 ? second_metal : boundary;
}

static void fill(struct element* element, const double* corner, long n, double less) {
    double sum = 0;
    for (long i = 0; i < side; ++i) {
        for (long k = 0; k < side; ++k) {
            sum += corner[i * n + k];
            element->values[i * side + k] = (float)(corner[i * n + k] - less);
        }
    }
    element->mean = sum / (side * side);
}

/// One call of write() per branch, as in programs that grew: moved behind the branches, one would do.
static enum kind write_element(struct target* target, const double* corner, int number) {
    struct element* element = &target->element;
    element->number = number;
    element->kind = kind_of(corner, cells);
    if (element->kind == first_metal) {
        fill(element, corner, cells, 1);
        check_written(write(target->file, element, sizeof *element), sizeof *element, target->path);
        return first_metal;
    }
    if (element->kind == second_metal) {
        fill(element, corner, cells, -1);
        check_written(write(target->file, element, sizeof *element), sizeof *element, target->path);
        return second_metal;
    }
    fill(element, corner, cells, 0);
    check_written(write(target->file, element, sizeof *element), sizeof *element, target->path);
    return boundary;
}

static double mean_of(const double* whole) {
    double sum = 0;
    for (long i = 0; i < cells * cells; ++i) sum += whole[i];
    return sum / (double)(cells * cells);
}

static void open_target(struct target* target, const char* name) {
    snprintf(target->path, sizeof target->path, "%s/%s", directory, name);
    target->file = open(target->path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (target->file < 0) stop("%s: %s", target->path, strerror(errno));
}

static void write_snapshot(const double* whole, long step, FILE* history) {
    struct target target = {0};
    char name[64];
    snprintf(name, sizeof name, "alloy.%05ld", step / output_every);
    open_target(&target, name);
    struct header header = {.magic = "alloy 1", .step = step, .cells = cells, .mean = mean_of(whole)};
    check_written(write(target.file, &header, sizeof header), sizeof header, target.path);
    const long across = cells / side;
    for (long i = 0; i < across * across; ++i)
        ++header.count[write_element(&target, whole + i / across * side * cells + i % across * side, (int)i)];
    header.complete = 1;
    check_written(pwrite(target.file, &header, sizeof header, 0), sizeof header, target.path);
    if (fsync(target.file) != 0 || close(target.file) != 0) stop("%s: %s", target.path, strerror(errno));
    fprintf(history, "%8ld %6ld %6ld %6ld %.15g\n", step, header.count[boundary], header.count[first_metal],
            header.count[second_metal], header.mean);
    if (fflush(history) != 0) stop("history.txt: %s", strerror(errno));
}

/// What a run can go on from, written once, by other lines of the code than all before.
static void write_end(const double* whole) {
    struct target target = {0};
    open_target(&target, "alloy.end");
    for (long row = 0; row < cells; ++row) {
        const size_t bytes = (size_t)cells * sizeof *whole;
        check_written(write(target.file, whole + row * cells, bytes), bytes, target.path);
    }
    if (fsync(target.file) != 0 || close(target.file) != 0) stop("%s: %s", target.path, strerror(errno));
}

static FILE* open_history(void) {
    char path[4096];
    make_directory(directory);
    snprintf(path, sizeof path, "%s/history.txt", directory);
    FILE* history = fopen(path, "w");
    if (history == NULL) stop("%s: %s", path, strerror(errno));
    fprintf(history, "#   step boundary first second  mean\n");
    return history;
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    const struct setting known[] = {
        {.key = "cells", .number = &cells, .least = side},
        {.key = "steps", .number = &steps, .least = 1},
        {.key = "output_every", .number = &output_every, .least = 1},
        {.key = "percent", .number = &percent, .least = -50},
        {.key = "seed", .number = &seed, .least = 0},
        {.key = "directory", .text = &directory},
    };
    read_settings(argc, argv, known, sizeof known / sizeof *known);
    if (cells % side != 0) stop("cells=%ld: expected a multiple of %d", cells, side);
    struct mixture mixture = {0};
    start_mixture(&mixture, MPI_COMM_WORLD, cells, seed, (double)percent);
    const int writes = mixture.rank == 0;
    FILE* history = writes ? open_history() : NULL;
    double* whole = writes ? malloc((size_t)(cells * cells) * sizeof *whole) : NULL;
    if (writes && whole == NULL) stop("no memory for %ld cells", cells * cells);
    for (long step = 1; step <= steps; ++step) {
        step_mixture(&mixture);
        if (step % output_every != 0) continue;
        gather_mixture(&mixture, whole);
        if (writes) write_snapshot(whole, step, history);
    }
    gather_mixture(&mixture, whole);
    if (writes) {
        write_end(whole);
        printf("end: %ld steps, mean %.15g\n", steps, mean_of(whole));
        if (fclose(history) != 0) stop("history.txt: %s", strerror(errno));
    }
    free(whole);
    free_mixture(&mixture);
    MPI_Finalize();
    return 0;
}
