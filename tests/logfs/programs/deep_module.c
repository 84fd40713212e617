// A library that is opened with RTLD_DEEPBIND: its calls are the C library's own.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char* why(long result) {
    return result < 0 ? strerror(errno) : "no error";
}

void read_and_write(int fd, const char* name) {
    char text[16] = "deep";
    long moved = read(fd, text, sizeof text);
    printf("read %ld %s\n", moved, why(moved));
    moved = pread(fd, text, sizeof text, 0);
    printf("pread %ld %s\n", moved, why(moved));
    moved = write(fd, text, 4);
    printf("write %ld %s\n", moved, why(moved));
    const int opened = open(name, O_RDONLY);
    moved = opened < 0 ? -1 : read(opened, text, sizeof text);
    printf("open %ld %s\n", moved, why(moved));
    moved = open(name, O_WRONLY | O_TRUNC);
    printf("truncate %ld %s\n", moved, why(moved));
    FILE* stream = fopen(name, "r");
    moved = stream == NULL || fgets(text, sizeof text, stream) == NULL ? -1 : 0;
    printf("fopen %ld %s\n", moved, why(moved));
    if (stream != NULL) fclose(stream);
    stream = fopen(name, "w");
    printf("fopen,w %ld %s\n", stream == NULL ? -1L : 0L, why(stream == NULL ? -1 : 0));
}
