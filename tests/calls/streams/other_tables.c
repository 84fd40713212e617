// Preloaded behind the library under test: a C library whose streams have other functions than are known.
#include <stdio.h>
#include <sys/types.h>

ssize_t _IO_file_read(FILE* stream, void* data, ssize_t bytes) {
    (void)stream;
    (void)data;
    return bytes - bytes - 1;
}
