/* A program outside Halcyon's source tree that writes a log container by itself, and makes a plain file of it. */
#include <halcyon/logfs.h>
#include <stdio.h>

static int check(int code, const char* call) {
    if (code != HALCYON_OK) fprintf(stderr, "%s: %s\n", call, halcyon_logfs_error_message());
    return code;
}

int main(int argc, char** argv) {
    halcyon_logfs_handle h = NULL;
    return argc != 3 ||
           check(halcyon_logfs_open(argv[1], HALCYON_LOGFS_WRITE | HALCYON_LOGFS_CREATE, NULL, &h), "open") ||
           check(halcyon_logfs_pwrite(h, "hello, world", 12, 0, NULL), "pwrite") ||
           check(halcyon_logfs_close(&h), "close") ||
           check(halcyon_logfs_flatten(argv[1], argv[2], 0, NULL), "flatten");
}
