// What the C library does inside, on a container `logged` and a plain file `plain` of the working directory: a line for
// each, with what it says of both.
#define _GNU_SOURCE
#include <aio.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <ftw.h>
#include <glob.h>
#include <mntent.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void say(const char* what, long result) {
    printf("%s %ld %s\n", what, result, result < 0 ? strerrorname_np(errno) : "-");
}

static void asynchronous(void) {
    char text[16];
    const int fd = open("logged", O_RDWR);
    struct aiocb request = {.aio_fildes = fd, .aio_buf = text, .aio_nbytes = sizeof text};
    struct aiocb* all[1] = {&request};
    say("aio_read", aio_read(&request));
    say("aio_write", aio_write(&request));
    say("aio_fsync", aio_fsync(O_SYNC, &request));
    request.aio_lio_opcode = LIO_READ;
    say("lio_listio", lio_listio(LIO_WAIT, all, 1, NULL));
    close(fd);
}

static void lock(void) {
    const int fd = open("logged", O_RDWR);
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    say("F_OFD_SETLK", fcntl(fd, F_OFD_SETLK, &whole));
    say("F_OFD_GETLK", fcntl(fd, F_OFD_GETLK, &whole));
    close(fd);
}

/// cat, with a file that the child opens before it becomes that.
static void spawn(const char* what, const char* name, int flags, int fd) {
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, fd, name, flags, 0644);
    if (fd == STDOUT_FILENO) posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/proc/self/comm", O_RDONLY, 0);
    pid_t child = 0;
    char* words[] = {"cat", NULL};
    fflush(stdout);
    const int failed = posix_spawnp(&child, "cat", &actions, NULL, words, environ);
    int status = 0;
    if (failed == 0) waitpid(child, &status, 0);
    errno = failed != 0 ? failed : EIO;
    say(what, failed != 0 || status != 0 ? -1 : 0);
    posix_spawn_file_actions_destroy(&actions);
}

static int walked(const char* path, const struct stat* found, int type, struct FTW* at) {
    (void)found;
    if (at->level == 1) printf("nftw %s %s\n", path, type == FTW_F ? "file" : type == FTW_D ? "directory" : "other");
    return 0;
}

static void list(void) {
    nftw(".", walked, 8, FTW_PHYS);
    char* places[] = {".", NULL};
    FTS* tree = fts_open(places, FTS_PHYSICAL, NULL);
    for (FTSENT* each = NULL; (each = fts_read(tree)) != NULL;)
        if (each->fts_level == 1 && each->fts_info != FTS_DP)
            printf("fts %s %s\n", each->fts_path, each->fts_info == FTS_F ? "file" : "directory");
    fts_close(tree);
    struct dirent** names = NULL;
    const int count = scandir(".", &names, NULL, alphasort);
    for (int i = 0; i < count; ++i) {
        const unsigned char type = names[i]->d_type;
        if (names[i]->d_name[0] != '.')
            printf("scandir %s %s\n", names[i]->d_name, type == DT_DIR ? "directory" : "file");
        free(names[i]);
    }
    free(names);
    glob_t found;
    if (glob("*[gn]*d", GLOB_MARK, NULL, &found) == 0) {
        for (size_t i = 0; i < found.gl_pathc; ++i) printf("glob %s\n", found.gl_pathv[i]);
        globfree(&found);
    }
    char whole[4096];
    printf("realpath %s\n", strrchr(realpath("logged", whole), '/'));
}

static void make_others(void) {
    say("mkfifo", mkfifo("pipe", 0644));
    say("mknod", mknod("device", S_IFIFO | 0644, 0));
    const int fd = open(".", O_TMPFILE | O_RDWR, 0644);
    char name[64];
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    say("linkat", linkat(AT_FDCWD, name, AT_FDCWD, "named", AT_SYMLINK_FOLLOW));
    say("link", link("logged", "linked"));
    close(fd);
}

int main(int count, char** words) {
    if (count != 2 || chdir(words[1]) != 0) return 2;
    asynchronous();
    lock();
    spawn("spawn,logged", "logged", O_RDONLY, STDIN_FILENO);
    spawn("spawn,plain", "plain", O_RDONLY, STDIN_FILENO);
    spawn("spawn,into logged", "logged", O_WRONLY, STDOUT_FILENO);
    spawn("spawn,into new", "new", O_WRONLY | O_CREAT, STDOUT_FILENO);
    list();
    make_others();
    FILE* table = setmntent("logged", "r");
    errno = 0;
    const char* const found = table != NULL && getmntent(table) != NULL ? "found one" : "none";
    printf("setmntent %s %s\n", found, strerrorname_np(errno));
    return 0;
}
