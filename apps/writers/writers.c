// N ranks write N files, M files or one file, and read them back: the patterns that file systems treat so differently.
// See README.md.
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "key_value.h"
#include "output_times.h"

static long files = 1, block = 48128, blocks = 1024, blocks_per_call = 16, sync_data = 1, keep = 0, shift = 0;
static const char *directory = "out", *way = "posix", *order = "interleaved", *task = "both", *sieve = "default";

/// The ranks that share a file, and one rank's blocks in it.
struct group {
    MPI_Comm ranks;
    int rank, count;
    char path[4096];
};

static void read_words(int argc, char** argv) {
    const struct setting known[] = {
        {.key = "files", .number = &files, .least = 0},
        {.key = "block", .number = &block, .least = 1},
        {.key = "blocks", .number = &blocks, .least = 1},
        {.key = "blocks_per_call", .number = &blocks_per_call, .least = 1},
        {.key = "sync", .number = &sync_data, .least = 0},
        {.key = "keep", .number = &keep, .least = 0},
        {.key = "shift", .number = &shift, .least = 0},
        {.key = "way", .text = &way},
        {.key = "order", .text = &order},
        {.key = "do", .text = &task},
        {.key = "sieve", .text = &sieve},
        {.key = "directory", .text = &directory},
    };
    read_settings(argc, argv, known, sizeof known / sizeof *known);
    if (strcmp(order, "interleaved") != 0 && strcmp(order, "segmented") != 0)
        stop("order=%s: expected interleaved or segmented", order);
    if (strcmp(task, "both") != 0 && strcmp(task, "write") != 0 && strcmp(task, "read") != 0)
        stop("do=%s: expected write, read or both", task);
    if (strcmp(way, "posix") != 0 && strcmp(way, "view") != 0 && strcmp(way, "collective") != 0)
        stop("way=%s: expected posix, view or collective", way);
    if (strcmp(way, "posix") != 0 && strcmp(order, "interleaved") != 0)
        stop("way=%s: views are of interleaved blocks; expected order=interleaved", way);
    if (blocks % blocks_per_call != 0) stop("blocks=%ld: expected a multiple of %ld", blocks, blocks_per_call);
    if (block > INT_MAX / blocks_per_call) stop("a call of %ld blocks is larger than MPI counts", blocks_per_call);
}

/// Neighbours share a file.
static struct group join_group(int rank, int ranks) {
    if (files == 0) files = ranks;
    if (files > ranks) stop("files=%ld: expected at most one for each of the %d ranks", files, ranks);
    const int file = (int)((long)rank * files / ranks);
    struct group group;
    MPI_Comm_split(MPI_COMM_WORLD, file, rank, &group.ranks);
    MPI_Comm_rank(group.ranks, &group.rank);
    MPI_Comm_size(group.ranks, &group.count);
    snprintf(group.path, sizeof group.path, "%s/writers.%04d", directory, file);
    return group;
}

static off_t place(const struct group* group, int rank, long number) {
    const int is_interleaved = strcmp(order, "interleaved") == 0;
    return block * (is_interleaved ? number * group->count + rank : rank * blocks + number);
}

/// What a rank of the file writes: bytes that differ from those of other ranks, blocks and places.
static void fill(char* data, int rank) {
    for (long number = 0; number < blocks; ++number)
        for (long i = 0; i < block; ++i) data[number * block + i] = (char)(rank * 131 + number * 31 + i * 7 + i / 256);
}

static int open_plain(const struct group* group, int flags) {
    const int file = open(group->path, flags, 0666);
    if (file < 0) stop("%s: %s", group->path, strerror(errno));
    return file;
}

static void check_moved(ssize_t moved, const char* path) {
    if (moved != block) stop("%s: %s", path, moved < 0 ? strerror(errno) : "fewer bytes than expected");
}

static void write_plain(const struct group* group, const char* data, struct output_times* times) {
    const int file = open_plain(group, O_WRONLY | O_CREAT);
    end_step(times, step_open);
    for (long i = 0; i < blocks; ++i)
        check_moved(pwrite(file, data + i * block, (size_t)block, place(group, group->rank, i)), group->path);
    end_step(times, step_write);
    if (sync_data && fsync(file) != 0) stop("%s: %s", group->path, strerror(errno));
    end_step(times, step_sync);
    if (close(file) != 0) stop("%s: %s", group->path, strerror(errno));
    end_step(times, step_close);
}

static void read_plain(const struct group* group, int of, char* data, struct output_times* times) {
    const int file = open_plain(group, O_RDONLY);
    end_step(times, step_open);
    for (long i = 0; i < blocks; ++i)
        check_moved(pread(file, data + i * block, (size_t)block, place(group, of, i)), group->path);
    end_step(times, step_read);
    close(file);
    end_step(times, step_close);
}

/// A file through a view: each of the group's ranks sees its own blocks, or those of rank `of`, as if nothing were
/// between them.
static MPI_File open_view(const struct group* group, int of, int mode) {
    MPI_File file;
    MPI_Info info = sieving_hint(sieve);
    check_mpi(MPI_File_open(group->ranks, group->path, mode, info, &file), group->path);
    MPI_Datatype piece, column;
    check_mpi(MPI_Type_contiguous((int)block, MPI_BYTE, &piece), "a block");
    check_mpi(MPI_Type_create_resized(piece, 0, (MPI_Aint)block * group->count, &column), "a column of blocks");
    check_mpi(MPI_Type_commit(&column), "a column of blocks");
    check_mpi(MPI_File_set_view(file, (MPI_Offset)of * block, MPI_BYTE, column, "native", info), "a view");
    MPI_Type_free(&piece);
    MPI_Type_free(&column);
    MPI_Info_free(&info);
    return file;
}

static void write_view(const struct group* group, const char* data, struct output_times* times) {
    // Data sieving has to read.
    MPI_File file = open_view(group, group->rank, MPI_MODE_CREATE | MPI_MODE_RDWR);
    end_step(times, step_open);
    const int collective = strcmp(way, "collective") == 0;
    const int bytes = (int)(block * blocks_per_call);
    for (long i = 0; i < blocks; i += blocks_per_call) {
        const char* from = data + i * block;
        check_mpi(collective ? MPI_File_write_all(file, from, bytes, MPI_BYTE, MPI_STATUS_IGNORE)
                             : MPI_File_write(file, from, bytes, MPI_BYTE, MPI_STATUS_IGNORE),
                  group->path);
    }
    end_step(times, step_write);
    if (sync_data) check_mpi(MPI_File_sync(file), group->path);
    end_step(times, step_sync);
    check_mpi(MPI_File_close(&file), group->path);
    end_step(times, step_close);
}

static void read_view(const struct group* group, int of, char* data, struct output_times* times) {
    MPI_File file = open_view(group, of, MPI_MODE_RDONLY);
    end_step(times, step_open);
    const int collective = strcmp(way, "collective") == 0;
    const int bytes = (int)(block * blocks_per_call);
    for (long i = 0; i < blocks; i += blocks_per_call) {
        char* to = data + i * block;
        check_mpi(collective ? MPI_File_read_all(file, to, bytes, MPI_BYTE, MPI_STATUS_IGNORE)
                             : MPI_File_read(file, to, bytes, MPI_BYTE, MPI_STATUS_IGNORE),
                  group->path);
    }
    end_step(times, step_read);
    check_mpi(MPI_File_close(&file), group->path);
    end_step(times, step_close);
}

static void write_all(const struct group* group, char* data) {
    fill(data, group->rank);
    if (group->rank == 0 && !keep && unlink(group->path) != 0 && errno != ENOENT)
        stop("%s: %s", group->path, strerror(errno));
    struct output_times times;
    begin_output(&times);
    if (strcmp(way, "posix") == 0)
        write_plain(group, data, &times);
    else
        write_view(group, data, &times);
    print_output(&times, "wrote", block * blocks, files);
}

static void read_all(const struct group* group, char* data) {
    const int of = (int)((group->rank + shift) % group->count);
    char* expected = malloc((size_t)(block * blocks));
    if (expected == NULL) stop("no memory for %ld bytes", block * blocks);
    memset(data, 0, (size_t)(block * blocks));
    struct output_times times;
    begin_output(&times);
    if (strcmp(way, "posix") == 0)
        read_plain(group, of, data, &times);
    else
        read_view(group, of, data, &times);
    print_output(&times, "read", block * blocks, files);
    fill(expected, of);
    if (memcmp(data, expected, (size_t)(block * blocks)) != 0) stop("%s: other bytes than were written", group->path);
    free(expected);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    read_words(argc, argv);
    int rank = 0, ranks = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    make_directory(directory);  // each rank: its node's name for the directory may be its own
    MPI_Barrier(MPI_COMM_WORLD);
    struct group group = join_group(rank, ranks);
    char* data = malloc((size_t)(block * blocks));
    if (data == NULL) stop("no memory for %ld bytes", block * blocks);
    if (strcmp(task, "read") != 0) write_all(&group, data);
    if (strcmp(task, "write") != 0) read_all(&group, data);
    free(data);
    MPI_Comm_free(&group.ranks);
    MPI_Finalize();
    return 0;
}
