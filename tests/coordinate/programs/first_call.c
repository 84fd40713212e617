/* Takes its turn before it has made any other call: first_call FILE MARK
 *
 * Writes 1 MiB in its turn, gives the turn back, makes MARK.released, and lives until MARK.done exists. */
#include <fcntl.h>
#include <halcyon/io.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { mib = 1 << 20 };
static char data[mib];

int main(int argc, char** argv) {
    halcyon_io_handle h;
    char name[1000];
    struct stat about;
    halcyon_io_status_t status = {.size_bytes = sizeof status};
    if (argc != 3 || halcyon_io_init(NULL, argv[1], &h) || halcyon_io_inform(h) || halcyon_io_wait(h)) return 2;
    const int fd = open(argv[1], O_RDWR | O_CREAT, 0600);
    if (pwrite(fd, data, sizeof data, 0) != mib) return 3;
    if (halcyon_io_release(h) || halcyon_io_status(h, &status)) return 4;
    if (status.coordination != HALCYON_IO_COORDINATED || status.bytes != mib || status.bytes_unasked != 0) return 5;
    snprintf(name, sizeof name, "%s.released", argv[2]);
    close(open(name, O_CREAT | O_WRONLY, 0600));
    snprintf(name, sizeof name, "%s.done", argv[2]);
    while (stat(name, &about) != 0) usleep(1000);
    return halcyon_io_finalize(&h) ? 6 : 0;
}
