/* Clears its environment, and does I/O only then: cleared FILE. */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char** argv) {
    if (argc != 2 || clearenv() != 0) return 2;
    const int fd = open(argv[1], O_CREAT | O_WRONLY, 0644);
    return fd >= 0 && write(fd, "text", 4) == 4 ? 0 : 1;
}
