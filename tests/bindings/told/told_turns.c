/* One of two jobs that take turns: told_turns CONFIG PATH MARKS holds
 *                                  told_turns CONFIG PATH MARKS asks OTHER
 *                                  told_turns CONFIG PATH MARKS beside
 *
 * holds: takes its turn on two storage targets for 500 s of writing by its own account, makes MARKS.held, and gives the
 * turn back when MARKS.asked is there.
 * beside: waits for MARKS.held, takes its turn on other targets, and makes MARKS.asked while it has it.
 * asks: waits for MARKS.held, asks for its turn, and makes MARKS.asked when it has been told of the job OTHER; then it
 * takes its turn. Each tells what halcyon_io_status should have said. fortran_told_turns.f90 does the same. */
#include <fcntl.h>
#include <halcyon/io.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { most_looks = 60000 };
static int failures = 0;

static void check(int holds, const char* what) {
    if (holds) return;
    ++failures;
    printf("does not hold in C: %s\n", what);
}

static void succeed(int code) {
    check(code == HALCYON_OK, halcyon_io_error_message());
}

static const char* mark(const char* marks, const char* ending) {
    static char name[1000];
    snprintf(name, sizeof name, "%s.%s", marks, ending);
    return name;
}

static void make(const char* name) {
    close(open(name, O_CREAT | O_WRONLY, 0600));
}

static void await(const char* name) {
    struct stat about;
    int looks = 0;
    while (stat(name, &about) != 0 && ++looks < most_looks) usleep(1000);
    check(looks < most_looks, "the other job is as far in time");
}

static halcyon_io_status_t status_of(halcyon_io_handle h) {
    halcyon_io_status_t now = {.size_bytes = sizeof now};
    succeed(halcyon_io_status(h, &now));
    return now;
}

static void check_own_turn(halcyon_io_handle h) {
    const halcyon_io_status_t now = status_of(h);
    check(now.stage == HALCYON_IO_HOLDING && now.our_turn == 1, "it has the turn");
    check(now.coordination == HALCYON_IO_COORDINATED, "somebody gives turns");
    check(now.expected_wait_s == 0, "who has the turn waits for none");
    check(strcmp(now.holders, "") == 0 && now.load == 0, "of its own turn nobody else is told");
    check(now.steps_unasked == 0 && now.steps_starving == 0, "it was asked for");
}

static void hold(halcyon_io_handle h, const char* marks) {
    const uint32_t targets[] = {0x80000007U, 3}; /* copied: these are gone when they are told */
    const halcyon_io_info info = {
        .size_bytes = sizeof info, .bytes = 1 << 30, .alone_s = 500, .targets = targets, .target_count = 2};
    succeed(halcyon_io_prepare(h, &info));
    succeed(halcyon_io_inform(h));
    succeed(halcyon_io_wait(h));
    check_own_turn(h);
    make(mark(marks, "held"));
    await(mark(marks, "asked"));
    succeed(halcyon_io_release(h));
    succeed(halcyon_io_complete(h));
}

static void move_beside(halcyon_io_handle h, const char* marks) {
    const uint32_t targets[] = {7, 4, 7};
    const halcyon_io_info info = {.size_bytes = sizeof info, .targets = targets, .target_count = 3};
    await(mark(marks, "held"));
    succeed(halcyon_io_prepare(h, &info));
    succeed(halcyon_io_inform(h));
    succeed(halcyon_io_wait(h));
    check_own_turn(h);
    make(mark(marks, "asked"));
    succeed(halcyon_io_release(h));
    succeed(halcyon_io_complete(h));
}

static void ask(halcyon_io_handle h, const char* marks, const char* other) {
    await(mark(marks, "held"));
    halcyon_io_status_t now = status_of(h);
    for (int looks = 0; now.coordination != HALCYON_IO_COORDINATED && looks < most_looks; ++looks) {
        usleep(1000);
        now = status_of(h);
    }
    check(now.stage == HALCYON_IO_IDLE && now.our_turn == 0, "without a phase there is no turn");
    check(now.expected_wait_s == -1 && now.load == 0 && now.holders[0] == 0, "nothing is known before it asks");
    succeed(halcyon_io_inform(h));
    for (int looks = 0; looks < most_looks; ++looks) {
        now = status_of(h);
        if (now.holders[0] != '\0') break;
        usleep(1000);
    }
    check(strcmp(now.holders, other) == 0, "the other job has the turn");
    check(now.load == 2, "two jobs are in a phase");
    check(now.expected_wait_s > 400 && now.expected_wait_s <= 500, "the wait is what the other one still needs");
    check(now.stage == HALCYON_IO_ASKING && now.our_turn == 0 && now.others_move == 1, "it has to wait");
    check(now.coordination == HALCYON_IO_COORDINATED, "somebody gives turns");
    make(mark(marks, "asked"));
    succeed(halcyon_io_wait(h));
    check_own_turn(h);
    check(status_of(h).waited_s > 0, "it has waited");
    succeed(halcyon_io_release(h));
}

int main(int argc, char** argv) {
    halcyon_io_handle h;
    if (argc < 5 || (strcmp(argv[4], "asks") == 0 && argc < 6)) return 2;
    succeed(halcyon_io_init(argv[1], argv[2], &h));
    if (strcmp(argv[4], "asks") == 0)
        ask(h, argv[3], argv[5]);
    else if (strcmp(argv[4], "beside") == 0)
        move_beside(h, argv[3]);
    else
        hold(h, argv[3]);
    succeed(halcyon_io_finalize(&h));
    return failures > 0 ? 1 : 0;
}
