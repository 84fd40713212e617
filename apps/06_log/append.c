#include <halcyon/logfs.h>
#include <stdio.h>
#include <stdlib.h>

static void check(int code) {
    if (code == HALCYON_OK) return;
    fprintf(stderr, "%s\n", halcyon_logfs_error_message());
    exit(code);
}

/* What is in the file, to standard output. */
static void print(const char* path) {
    char piece[65536];
    uint64_t bytes = 0;
    halcyon_logfs_handle h;
    check(halcyon_logfs_open(path, HALCYON_LOGFS_READ, NULL, &h));
    for (int64_t at = 0;; at += (int64_t)bytes) {
        check(halcyon_logfs_pread(h, piece, sizeof piece, at, &bytes));
        if (bytes == 0) break;
        fwrite(piece, 1, bytes, stdout);
    }
    check(halcyon_logfs_close(&h));
}

int main(int argc, char** argv) {
    if (argc < 2) {
        fprintf(stderr, "usage: append FILE [LINE…]   without a line: prints the file\n");
        return 2;
    }
    if (argc == 2) {
        print(argv[1]);
        return 0;
    }
    /* Any number of processes may do so at a time: no line is lost or torn. */
    halcyon_logfs_handle h;
    check(halcyon_logfs_open(argv[1], HALCYON_LOGFS_WRITE | HALCYON_LOGFS_CREATE, NULL, &h));
    for (int i = 2; i < argc; ++i) {
        char line[1024];
        const int bytes = snprintf(line, sizeof line, "%.1000s\n", argv[i]);
        check(halcyon_logfs_append(h, line, (uint64_t)bytes, NULL, NULL));
    }
    check(halcyon_logfs_sync(h));
    check(halcyon_logfs_close(&h));
    return 0;
}
