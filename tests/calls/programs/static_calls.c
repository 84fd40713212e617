/* Some I/O of a program that is linked statically: static_calls FILE */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

int main(int count, char** arguments) {
    char text[50];
    int file = count == 2 ? open(arguments[1], O_CREAT | O_RDWR | O_TRUNC, 0600) : -1;
    if (file < 0 || write(file, "0123456789", 10) != 10 || pwrite(file, "abc", 3, 100) != 3) return 1;
    close(file);
    FILE* stream = fopen(arguments[1], "a");
    fprintf(stream, "appended %d\n", 5);
    fclose(stream);
    stream = fopen(arguments[1], "r");
    if (fread(text, 1, sizeof text, stream) != sizeof text) return 2;
    fclose(stream);
    return 0;
}
