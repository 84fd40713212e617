/* circumstances waits FOLDER: calls that wait, and the same that do not.
 * circumstances streams FOLDER SEED BUFFER: a thousand calls on a stream, by chance; BUFFER: bytes, 0 for none, -1 for
 * the C library's own. */
#define _GNU_SOURCE
#include <aio.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/uio.h>
#include <unistd.h>

static void wait_for(struct aiocb* request) {
    const struct aiocb* const list[] = {request};
    while (aio_error(request) == EINPROGRESS) aio_suspend(list, 1, NULL);
    aio_return(request);
}

static int waits(void) {
    const int fd = open("file", O_RDWR | O_CREAT, 0600);
    char data[64] = {0};
    struct iovec piece = {data, sizeof data};
    if (pwrite(fd, data, sizeof data, 0) != sizeof data) return 1;
    preadv2(fd, &piece, 1, 0, 0);
    preadv2(fd, &piece, 1, 0, RWF_NOWAIT);
    flock(fd, LOCK_EX);
    flock(fd, LOCK_EX | LOCK_NB);
    lockf(fd, F_LOCK, 8);
    lockf(fd, F_TLOCK, 8);
    lockf(fd, F_TEST, 8);
    struct flock range = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 16, .l_len = 8};
    fcntl(fd, F_SETLKW, &range);
    fcntl(fd, F_SETLK, &range);
    struct aiocb request = {.aio_fildes = fd, .aio_buf = data, .aio_nbytes = sizeof data};
    if (aio_write(&request) != 0) return 1;
    wait_for(&request);
    struct aiocb other = request;
    other.aio_lio_opcode = LIO_WRITE;
    struct aiocb* const list[] = {&other};
    if (lio_listio(LIO_WAIT, list, 1, NULL) != 0) return 1;
    aio_return(&other);
    if (lio_listio(LIO_NOWAIT, list, 1, NULL) != 0) return 1;
    wait_for(&other);
    fsync(fd);
    close(fd);
    return 0;
}

static unsigned chance(unsigned* state, unsigned below) {
    *state = *state * 1664525u + 1013904223u;
    return (*state >> 8) % below;
}

static size_t some_bytes(unsigned* state, size_t most) {
    return chance(state, 4) == 0 ? 1 + chance(state, (unsigned)most) : 1 + chance(state, 200);
}

static int streams(unsigned seed, long buffer) {
    static char data[20000];
    static char line[300];
    memset(data, 'x', sizeof data);
    for (size_t i = 99; i < sizeof data; i += 100) data[i] = '\n';
    FILE* stream = fopen("stream", "w+");
    if (stream == NULL) return 1;
    static char room[65536];
    if (buffer == 0) setvbuf(stream, NULL, _IONBF, 0);
    if (buffer > 0) setvbuf(stream, room, _IOFBF, (size_t)buffer);
    for (int i = 0; i < 1000; ++i) {
        const unsigned what = chance(&seed, 9);
        /* Between writing and reading, the standard wants one of these. */
        if (chance(&seed, 5) == 0) fseek(stream, (long)chance(&seed, 30000), SEEK_SET);
        if (chance(&seed, 20) == 0) fflush(stream);
        const int reads = ftell(stream) % 2;
        if (reads) {
            fseek(stream, 0, SEEK_CUR);
            for (int j = 0; j < 4; ++j) {
                if (what < 5 && fread(data, 1, some_bytes(&seed, sizeof data), stream) == 0) break;
                if (what >= 5 && fgets(line, (int)sizeof line, stream) == NULL) break;
            }
            fseek(stream, 0, SEEK_CUR);
        } else if (what < 6) {
            fwrite(data, 1, some_bytes(&seed, sizeof data), stream);
        } else if (what == 6) {
            fputs("a word", stream);
        } else {
            fprintf(stream, "%d\n", i);
        }
    }
    fwrite(data, 1, 10, stream);
    return fclose(stream) != 0;
}

int main(int count, char** words) {
    if (count < 3 || chdir(words[2]) != 0) return 2;
    if (strcmp(words[1], "waits") == 0) return waits();
    return count < 5 ? 2 : streams((unsigned)atoi(words[3]), atol(words[4]));
}
