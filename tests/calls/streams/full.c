// Streams where no room is left. Usage: full <file> [print]; prints what came of it. With `print`, standard output is
// the file: 2 MiB are printed, and then a line that waits, and nothing is asked.
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char block[30000];

static void tell(const char* what, long result, int fails) {
    printf("%s %ld %s\n", what, result, fails ? strerrorname_np(errno) : "");
}

int main(int count, char** words) {
    memset(block, 'b', sizeof block);
    if (count > 2) {
        for (int i = 0; i < 70; ++i) fwrite(block, 1, sizeof block, stdout);
        printf("last words\n");
        return 0;
    }
    FILE* stream = fopen(words[1], "w");
    size_t put = sizeof block;
    long whole = 0;
    for (; whole < 100 && put == sizeof block; ++whole) put = fwrite(block, 1, sizeof block, stream);
    tell("fwrite", (long)put, 1);
    printf("blocks %ld error %d\n", whole, ferror(stream) != 0);
    tell("ftell", ftell(stream), 0);
    clearerr(stream);
    fputs("waits in the buffer", stream);
    long result = fflush(stream);
    tell("fflush", result, 1);
    printf("error %d\n", ferror(stream) != 0);
    tell("ftruncate", ftruncate(fileno(stream), 500000), 0);
    fseek(stream, 0, SEEK_END);
    fputs("now there is room", stream);
    tell("fflush", fflush(stream), 0);
    for (put = 1; put == 1;) put = fwrite(block, sizeof block, 1, stream);
    fputs("waits in the buffer", stream);
    result = fclose(stream);
    tell("fclose", result, 1);
    return 0;
}
