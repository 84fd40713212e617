// Each rank writes every n-th block of one file through a view, on its own or together with the others: what MPI-IO
// makes of it decides its speed.
#include <halcyon/io.h>

#include "interleaved.h"

static void check(int code, const char* what) {
    if (code == MPI_SUCCESS) return;
    char text[MPI_MAX_ERROR_STRING];
    int length = 0;
    MPI_Error_string(code, text, &length);
    fprintf(stderr, "%s: %s\n", what, text);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/// The file is a table: a row is one block of each rank. This type shows a rank its own column.
static MPI_Datatype column(long block, int ranks) {
    MPI_Datatype piece;
    MPI_Datatype view;
    check(MPI_Type_contiguous((int)block, MPI_BYTE, &piece), "a block");
    check(MPI_Type_create_resized(piece, 0, (MPI_Aint)block * ranks, &view), "a column of blocks");
    check(MPI_Type_commit(&view), "a column of blocks");
    MPI_Type_free(&piece);
    return view;
}

typedef int (*writing)(MPI_File, const void*, int, MPI_Datatype, MPI_Status*);

static writing write_as(const char* way) {
    if (strcmp(way, "collective") == 0) return MPI_File_write_all;
    if (strcmp(way, "individual") != 0) {
        fprintf(stderr, "WAY: '%s'; expected individual or collective\n", way);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    return MPI_File_write;
}

/// Tells whoever gives turns at the file system how much this rank writes in all of its calls: one phase, whatever
/// pauses are between them.
static halcyon_io_handle tell(const struct part* own, const char* path) {
    halcyon_io_handle turns;
    const halcyon_io_info info = {.size_bytes = sizeof info, .bytes = own->block * own->rows * own->calls};
    if (halcyon_io_init(NULL, path, &turns) == HALCYON_OK && halcyon_io_prepare(turns, &info) == HALCYON_OK &&
        halcyon_io_inform(turns) == HALCYON_OK)
        return turns;
    fprintf(stderr, "%s\n", halcyon_io_error_message());
    MPI_Abort(MPI_COMM_WORLD, 1);
    return NULL;
}

int main(int argc, char** argv) {
    struct part own = begin(argc, argv, "BLOCKS-PER-CALL", " [WAY [told]]");
    const int tells = argc > 6;
    if (tells && strcmp(argv[6], "told") != 0) {
        fprintf(stderr, "'%s'; expected told, or nothing\n", argv[6]);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    const writing write_blocks = write_as(argc > 5 ? argv[5] : "individual");
    MPI_File file;
    const int mode = MPI_MODE_CREATE | MPI_MODE_RDWR;  // data sieving has to read
    check(MPI_File_open(MPI_COMM_WORLD, argv[1], mode, MPI_INFO_NULL, &file), argv[1]);
    MPI_Datatype view = column(own.block, own.ranks);
    check(MPI_File_set_view(file, (MPI_Offset)own.rank * own.block, MPI_BYTE, view, "native", MPI_INFO_NULL), "view");
    MPI_Barrier(MPI_COMM_WORLD);
    halcyon_io_handle turns = tells ? tell(&own, argv[1]) : NULL;
    const double start = MPI_Wtime();
    for (long call = 0; call < own.calls; ++call)
        check(write_blocks(file, own.data, (int)(own.block * own.rows), MPI_BYTE, MPI_STATUS_IGNORE), "write");
    check(MPI_File_close(&file), "close");
    const double seconds = MPI_Wtime() - start;
    if (tells) halcyon_io_finalize(&turns);  // the phase is over
    MPI_Type_free(&view);
    end(&own, seconds);
}
