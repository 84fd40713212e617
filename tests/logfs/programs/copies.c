// Copies a file, or standard input, to standard output.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int count, char** words) {
    char text[64];
    const int from = count > 1 ? open(words[1], O_RDONLY) : STDIN_FILENO;
    for (ssize_t got = 0; (got = read(from, text, sizeof text)) != 0;) {
        if (got > 0 && write(STDOUT_FILENO, text, (size_t)got) == got) continue;
        fprintf(stderr, "%s: %s\n", words[0], strerror(errno));
        return 1;
    }
    return 0;
}
