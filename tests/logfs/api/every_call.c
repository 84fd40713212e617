/* Each function of logfs.h, from a program of C99 that is one of C++, too. */
#include <halcyon/logfs.h>
#include <stdio.h>
#include <string.h>

static int failures = 0;

static void done(int code, const char* call) {
    if (code == HALCYON_OK) return;
    fprintf(stderr, "%s: %s\n", call, halcyon_logfs_error_message());
    failures++;
}

static void expect(int is, const char* what) {
    if (is) return;
    fprintf(stderr, "not so: %s\n", what);
    failures++;
}

#define DONE(call) done(call, #call)
#define EXPECT(what) expect(what, #what)

int main(int argc, char** argv) {
    char path[50], other[100], flat[100];
    char text[8] = "";
    halcyon_logfs_options options;
    halcyon_logfs_status_t status;
    halcyon_logfs_flattened_t made;
    halcyon_logfs_handle h = NULL;
    uint64_t count = 0;
    int64_t at = 0;
    int is = 0;

    if (argc != 2) return 2;
    sprintf(path, "every_call_in_%.20s", argv[1]);
    sprintf(other, "%s.renamed", path);
    sprintf(flat, "%s.flat", path);
    halcyon_logfs_remove(path); /* of a run that was killed */
    halcyon_logfs_remove(other);
    memset(&options, 0, sizeof options);
    memset(&status, 0, sizeof status);
    memset(&made, 0, sizeof made);
    options.size_bytes = sizeof options;
    status.size_bytes = sizeof status;
    made.size_bytes = sizeof made;

    DONE(halcyon_logfs_open(path, HALCYON_LOGFS_READ | HALCYON_LOGFS_WRITE | HALCYON_LOGFS_CREATE, &options, &h));
    DONE(halcyon_logfs_pwrite(h, "hello", 5, 0, &count));
    EXPECT(count == 5);
    DONE(halcyon_logfs_append(h, "!?", 2, &at, &count));
    EXPECT(at == 5 && count == 2);
    DONE(halcyon_logfs_truncate(h, 6));
    DONE(halcyon_logfs_erase(h, 1, 2));
    DONE(halcyon_logfs_size(h, &at));
    EXPECT(at == 6);
    DONE(halcyon_logfs_pread(h, text, sizeof text, 0, &count));
    EXPECT(count == 6 && memcmp(text, "h\0\0lo!", 6) == 0);
    DONE(halcyon_logfs_status(h, &status));
    EXPECT(status.bytes == 6 && status.is_plfs == 0);
    DONE(halcyon_logfs_propose_epoch(h, &at));
    DONE(halcyon_logfs_raise_epoch(h, at));
    DONE(halcyon_logfs_settle(h));
    DONE(halcyon_logfs_refresh(h));
    DONE(halcyon_logfs_sync(h));
    DONE(halcyon_logfs_close(&h));
    EXPECT(h == NULL);

    DONE(halcyon_logfs_is_container(path, &is));
    EXPECT(is == 1);
    DONE(halcyon_logfs_status_of(path, &status));
    EXPECT(status.bytes == 6);
    DONE(halcyon_logfs_rename(path, other));
    DONE(halcyon_logfs_flatten(other, flat, 0, &made));
    EXPECT(made.bytes == 6 && made.conflict_bytes == 0);
    DONE(halcyon_logfs_remove(other));
    DONE(halcyon_logfs_is_container(other, &is));
    EXPECT(is == 0);
    remove(flat);
    EXPECT(halcyon_logfs_error_message()[0] != '\0'); /* of the removals above, where there was nothing */
    EXPECT(halcyon_logfs_error_number() != 0);
    return failures == 0 ? 0 : 1;
}
