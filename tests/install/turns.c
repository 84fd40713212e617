/* A program outside Halcyon's source tree that takes turns by itself, without MPI. */
#include <halcyon/io.h>
#include <stdio.h>

int main(void) {
    halcyon_io_handle h = NULL;
    int authorized = 0;
    halcyon_io_status_t status = {.size_bytes = sizeof status};
    const halcyon_io_info info = {.size_bytes = sizeof info, .bytes = 1};
    if (halcyon_io_init(NULL, ".", &h) || halcyon_io_prepare(h, &info) || halcyon_io_inform(h) || halcyon_io_wait(h) ||
        halcyon_io_check(h, &authorized) || halcyon_io_status(h, &status) || halcyon_io_release(h) ||
        halcyon_io_complete(h) || halcyon_io_finalize(&h)) {
        fprintf(stderr, "%s\n", halcyon_io_error_message());
        return 1;
    }
    printf("%s\n", status.reason);
    return authorized ? 0 : 1;
}
