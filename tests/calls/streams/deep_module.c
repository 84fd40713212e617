// A library that is opened for itself: its calls go to the C library, past whatever stands in front of it.
#include <stdio.h>
#include <unistd.h>

int put_deeply(FILE* stream, int fd) {
    FILE* own = fdopen(dup(fd), "a");
    int fine = own != NULL && fprintf(own, "by a stream of the module\n") > 0 && fclose(own) == 0;
    fine = fine && fputs("by the module\n", stream) >= 0 && fflush(stream) == 0;
    fine = fine && printf("printed by the module\n") > 0 && fflush(stdout) == 0;
    char line[100];
    fine = fine && fseek(stream, 0, SEEK_SET) == 0 && fgets(line, sizeof line, stream) != NULL;
    fine = fine && fprintf(stderr, "read %s", line) > 0;
    return fine && fseek(stream, 0, SEEK_END) == 0;
}

// What no stream does fails, and does no harm.
int write_deeply(int fd) {
    char byte = 0;
    return write(fd, "lost", 4) == -1 && read(fd, &byte, 1) == -1;
}
