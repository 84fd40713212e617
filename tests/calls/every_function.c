// Calls every function that is interposed, by each of its names, on a file named after the name, and says in the
// file $TOLD what each must have moved: "<name> read|write|copy <bytes>". Usage: every_function <directory>
#define _GNU_SOURCE
#include <aio.h>
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <utime.h>
#include <wchar.h>

extern char** environ;
static const char* directory;
static char text[10001];

static void tell(const char* name, const char* kind, long bytes) {
    char line[200];
    const int length = snprintf(line, sizeof line, "%s %s %ld\n", name, kind, bytes);
    const int fd = syscall(SYS_open, getenv("TOLD"), O_WRONLY | O_APPEND | O_CREAT, 0600);
    syscall(SYS_write, fd, line, length);
    syscall(SYS_close, fd);
}

static void fail(const char* name, const char* what) {
    char line[300];
    const int length = snprintf(line, sizeof line, "%s: %s: %s\n", name, what, strerror(errno));
    syscall(SYS_write, 2, line, length);
    syscall(SYS_exit_group, 1);
}

static void* function(const char* name) {
    void* found = dlsym(RTLD_DEFAULT, name);
    if (found == NULL) fail(name, "no such function");
    return found;
}

#define CHECK(condition)                          \
    do {                                          \
        if (!(condition)) fail(name, #condition); \
    } while (0)
#define EACH(...) \
    for (const char *const *at = (const char*const[]){__VA_ARGS__, NULL}, *name = *at; (name = *at) != NULL; ++at)
#define CALL(type) ((type)function(name))

static char* path_of(const char* name) {
    static char paths[8][4096];
    static int next;
    char* path = paths[next++ % 8];
    snprintf(path, 4096, "%s/%s", directory, name);
    return path;
}

// Makes a file of so many bytes, by system calls that nobody sees; its path.
static char* made(const char* name, long bytes) {
    char* path = path_of(name);
    const int fd = syscall(SYS_open, path, O_CREAT | O_WRONLY | O_TRUNC, 0600);
    if (fd < 0 || syscall(SYS_write, fd, text, bytes) != bytes) fail(name, "make");
    syscall(SYS_close, fd);
    return path;
}

static int opened(const char* name, long bytes) {
    const int fd = open(made(name, bytes), O_RDWR);
    if (fd < 0) fail(name, "open");
    return fd;
}

static void opening(void) {
    EACH("open", "open64", "__open", "__open64") {
        CHECK(close(CALL(int (*)(const char*, int, ...))(path_of(name), O_CREAT | O_RDWR, 0600)) == 0);
    }
    EACH("__open_2", "__open64_2") CHECK(close(CALL(int (*)(const char*, int))(made(name, 1), O_RDWR)) == 0);
    const int here = open(directory, O_RDONLY | O_DIRECTORY);
    EACH("openat", "openat64") {
        CHECK(close(CALL(int (*)(int, const char*, int, ...))(here, name, O_CREAT | O_RDWR, 0600)) == 0);
    }
    EACH("__openat_2", "__openat64_2") {
        made(name, 1);
        CHECK(close(CALL(int (*)(int, const char*, int))(here, name, O_RDWR)) == 0);
    }
    EACH("openat2") {
        unsigned long long how[3] = {O_CREAT | O_RDWR, 0600, 0};
        CHECK(close(CALL(int (*)(int, const char*, void*, size_t))(here, name, how, sizeof how)) == 0);
    }
    EACH("creat", "creat64") CHECK(close(CALL(int (*)(const char*, unsigned))(path_of(name), 0600)) == 0);
    EACH("mkstemp", "mkstemp64", "mkostemp", "mkostemp64", "mkstemps", "mkstemps64", "mkostemps", "mkostemps64") {
        char place[4096];
        snprintf(place, sizeof place, "%s/%s.XXXXXX%s", directory, name, strchr(name, 'p')[1] == 's' ? ".t" : "");
        const int suffix = 2;
        int fd = -1;
        if (strncmp(name, "mkstemps", 8) == 0)
            fd = CALL(int (*)(char*, int))(place, suffix);
        else if (strncmp(name, "mkostemps", 9) == 0)
            fd = CALL(int (*)(char*, int, int))(place, suffix, O_APPEND);
        else if (strncmp(name, "mkostemp", 8) == 0)
            fd = CALL(int (*)(char*, int))(place, O_APPEND);
        else
            fd = CALL(int (*)(char*))(place);
        CHECK(fd >= 0 && close(fd) == 0);
    }
    EACH("open_by_handle_at") {
        char room[256];
        struct file_handle* handle = (struct file_handle*)room;
        handle->handle_bytes = 128;
        int mount = 0;
        CHECK(name_to_handle_at(AT_FDCWD, made(name, 1), handle, &mount, 0) == 0);
        const int fd = CALL(int (*)(int, struct file_handle*, int))(here, handle, O_RDONLY);
        CHECK(fd >= 0 || errno == EPERM);
        if (fd >= 0) close(fd);
    }
    EACH("close", "__close") CHECK(CALL(int (*)(int))(opened(name, 1)) == 0);
    EACH("close_range") {
        const int fd = opened(name, 1);
        CHECK(CALL(int (*)(unsigned, unsigned, int))(fd, fd, 0) == 0 && fcntl(fd, F_GETFD) < 0);
    }
    EACH("closefrom") {
        const int fd = fcntl(opened(name, 1), F_DUPFD, 500);
        CALL(void (*)(int))(500);
        CHECK(fcntl(fd, F_GETFD) < 0);
    }
    close(here);
}

static void transferring(void) {
    char data[1000];
    EACH("read", "__read", "__read_chk") {
        const int fd = opened(name, 100);
        CHECK(CALL(long (*)(int, void*, size_t, size_t))(fd, data, 70, 1000) == 70);
        CHECK(CALL(long (*)(int, void*, size_t, size_t))(fd, data, 70, 1000) == 30);
        tell(name, "read", 100);
    }
    EACH("write", "__write") {
        CHECK(CALL(long (*)(int, const void*, size_t))(opened(name, 0), data, 70) == 70);
        tell(name, "write", 70);
    }
    EACH("pread", "pread64", "__pread64", "__pread_chk", "__pread64_chk") {
        CHECK(CALL(long (*)(int, void*, size_t, long, size_t))(opened(name, 100), data, 70, 50, 1000) == 50);
        tell(name, "read", 50);
    }
    EACH("pwrite", "pwrite64", "__pwrite64") {
        CHECK(CALL(long (*)(int, const void*, size_t, long))(opened(name, 0), data, 70, 50) == 70);
        tell(name, "write", 70);
    }
    const struct iovec pieces[] = {{data, 30}, {data + 100, 40}};
    EACH("readv", "preadv", "preadv64", "preadv2", "preadv64v2") {
        CHECK(CALL(long (*)(int, const struct iovec*, int, long, int))(opened(name, 100), pieces, 2, 0, 0) == 70);
        tell(name, "read", 70);
    }
    EACH("writev", "pwritev", "pwritev64", "pwritev2", "pwritev64v2") {
        CHECK(CALL(long (*)(int, const struct iovec*, int, long, int))(opened(name, 0), pieces, 2, 0, 0) == 70);
        tell(name, "write", 70);
    }
    EACH("copy_file_range") {
        CHECK(CALL(long (*)(int, long*, int, long*, size_t, unsigned))(opened("from", 90), NULL, opened(name, 0), NULL,
                                                                       80, 0) == 80);
        tell(name, "copy", 80);
    }
    EACH("sendfile", "sendfile64") {
        CHECK(CALL(long (*)(int, int, long*, size_t))(opened(name, 0), opened("from", 90), NULL, 80) == 80);
        tell(name, "copy", 80);
    }
    EACH("splice") {
        int ends[2];
        CHECK(pipe(ends) == 0 && write(ends[1], data, 60) == 60);
        CHECK(CALL(long (*)(int, long*, int, long*, size_t, unsigned))(ends[0], NULL, opened(name, 0), NULL, 80, 0) ==
              60);
        tell(name, "copy", 60);
    }
    EACH("dprintf") {
        CHECK(CALL(int (*)(int, const char*, ...))(opened(name, 0), "%d %s", 5, "words") == 7);
        tell(name, "write", 7);
    }
    EACH("__dprintf_chk") {
        CHECK(CALL(int (*)(int, int, const char*, ...))(opened(name, 0), 1, "%d %s", 5, "words") == 7);
        tell(name, "write", 7);
    }
    EACH("lseek", "lseek64", "__lseek") CHECK(CALL(long (*)(int, long, int))(opened(name, 9), -2, SEEK_END) == 7);
    EACH("fsync", "fdatasync", "syncfs") CHECK(CALL(int (*)(int))(opened(name, 9)) == 0);
    EACH("sync_file_range") CHECK(CALL(int (*)(int, long, long, unsigned))(opened(name, 9), 0, 9, 0) == 0);
    EACH("sync") CALL(void (*)(void))();
    EACH("truncate", "truncate64") CHECK(CALL(int (*)(const char*, long))(made(name, 9), 5) == 0);
    EACH("ftruncate", "ftruncate64") CHECK(CALL(int (*)(int, long))(opened(name, 9), 5) == 0);
    EACH("posix_fallocate", "posix_fallocate64") CHECK(CALL(int (*)(int, long, long))(opened(name, 9), 0, 50) == 0);
    EACH("fallocate", "fallocate64") CHECK(CALL(int (*)(int, int, long, long))(opened(name, 9), 0, 0, 50) == 0);
    EACH("posix_fadvise", "posix_fadvise64") CHECK(CALL(int (*)(int, long, long, int))(opened(name, 9), 0, 9, 4) == 0);
    EACH("readahead") CHECK(CALL(long (*)(int, long, size_t))(opened(name, 9), 0, 9) == 0);
    EACH("fcntl", "fcntl64", "__fcntl") CHECK(CALL(int (*)(int, int, ...))(opened(name, 9), F_GETFL) >= 0);
    EACH("flock") CHECK(CALL(int (*)(int, int))(opened(name, 9), 2) == 0);
    EACH("lockf", "lockf64") CHECK(CALL(int (*)(int, int, long))(opened(name, 9), F_LOCK, 4) == 0);
    EACH("dup") CHECK(CALL(int (*)(int))(opened(name, 9)) > 0);
    EACH("dup2", "__dup2", "dup3") CHECK(CALL(int (*)(int, int, int))(opened(name, 9), 400, 0) == 400);
    EACH("ioctl") {
        int waiting = 0;
        CHECK(CALL(int (*)(int, unsigned long, ...))(opened(name, 9), FIONREAD, &waiting) == 0 && waiting == 9);
    }
}

static int to_descriptor(const char* name, int fd, const char* format, ...) {
    va_list values;
    va_start(values, format);
    const int checked = strstr(name, "_chk") != NULL;
    const int result = checked ? CALL(int (*)(int, int, const char*, va_list))(fd, 1, format, values)
                               : CALL(int (*)(int, const char*, va_list))(fd, format, values);
    va_end(values);
    return result;
}

static void naming(void) {
    char out[4096];
    EACH("vdprintf", "__vdprintf_chk") {
        CHECK(to_descriptor(name, opened(name, 0), "%d %s", 5, "words") == 7);
        tell(name, "write", 7);
    }
    EACH("stat", "stat64", "lstat", "lstat64", "statfs", "statfs64", "__statfs", "statvfs", "statvfs64") {
        CHECK(CALL(int (*)(const char*, void*))(made(name, 1), out) == 0);
    }
    EACH("__xstat", "__xstat64", "__lxstat", "__lxstat64")
    CHECK(CALL(int (*)(int, const char*, void*))(1, made(name, 1), out) == 0);
    EACH("fstat", "fstat64", "fstatfs", "fstatfs64", "fstatvfs", "fstatvfs64")
    CHECK(CALL(int (*)(int, void*))(opened(name, 1), out) == 0);
    EACH("__fxstat", "__fxstat64") CHECK(CALL(int (*)(int, int, void*))(1, opened(name, 1), out) == 0);
    EACH("fstatat", "fstatat64")
    CHECK(CALL(int (*)(int, const char*, void*, int))(AT_FDCWD, made(name, 1), out, 0) == 0);
    EACH("__fxstatat", "__fxstatat64")
    CHECK(CALL(int (*)(int, int, const char*, void*, int))(1, AT_FDCWD, made(name, 1), out, 0) == 0);
    EACH("statx")
    CHECK(CALL(int (*)(int, const char*, int, unsigned, void*))(AT_FDCWD, made(name, 1), 0, 0xfff, out) == 0);
    EACH("access", "eaccess", "euidaccess") CHECK(CALL(int (*)(const char*, int))(made(name, 1), R_OK) == 0);
    EACH("faccessat") CHECK(CALL(int (*)(int, const char*, int, int))(AT_FDCWD, made(name, 1), R_OK, 0) == 0);
    EACH("readlink", "__readlink_chk")
    CHECK(CALL(long (*)(const char*, char*, size_t, size_t))(made(name, 1), out, 100, 4096) < 0);
    EACH("readlinkat", "__readlinkat_chk") {
        CHECK(CALL(long (*)(int, const char*, char*, size_t, size_t))(AT_FDCWD, made(name, 1), out, 100, 4096) < 0);
    }
    EACH("getxattr", "lgetxattr")
    CALL(long (*)(const char*, const char*, void*, size_t))(made(name, 1), "user.a", out, 10);
    EACH("fgetxattr") CALL(long (*)(int, const char*, void*, size_t))(opened(name, 1), "user.a", out, 10);
    EACH("listxattr", "llistxattr") CALL(long (*)(const char*, void*, size_t))(made(name, 1), out, 10);
    EACH("flistxattr") CALL(long (*)(int, void*, size_t))(opened(name, 1), out, 10);
    EACH("setxattr", "lsetxattr")
    CALL(int (*)(const char*, const char*, const void*, size_t, int))(made(name, 1), "user.a", "x", 1, 0);
    EACH("fsetxattr") CALL(int (*)(int, const char*, const void*, size_t, int))(opened(name, 1), "user.a", "x", 1, 0);
    EACH("removexattr", "lremovexattr") CALL(int (*)(const char*, const char*))(made(name, 1), "user.a");
    EACH("fremovexattr") CALL(int (*)(int, const char*))(opened(name, 1), "user.a");
    EACH("unlink", "remove") CHECK(CALL(int (*)(const char*))(made(name, 1)) == 0);
    EACH("unlinkat") CHECK(CALL(int (*)(int, const char*, int))(AT_FDCWD, made(name, 1), 0) == 0);
    EACH("rename", "link")
    CHECK(CALL(int (*)(const char*, const char*))(made(name, 1), path_of("new1")) == 0 && unlink(path_of("new1")) == 0);
    EACH("renameat", "renameat2", "linkat") {
        CHECK(CALL(int (*)(int, const char*, int, const char*, int))(AT_FDCWD, made(name, 1), AT_FDCWD, path_of("new2"),
                                                                     0) == 0);
        unlink(path_of("new2"));
    }
    EACH("symlink") CHECK(CALL(int (*)(const char*, const char*))("target", path_of(name)) == 0);
    EACH("symlinkat") CHECK(CALL(int (*)(const char*, int, const char*))("target", AT_FDCWD, path_of(name)) == 0);
    EACH("mkdir") CHECK(CALL(int (*)(const char*, unsigned))(path_of(name), 0700) == 0);
    EACH("mkdirat") CHECK(CALL(int (*)(int, const char*, unsigned))(AT_FDCWD, path_of(name), 0700) == 0);
    EACH("mkdtemp") {
        snprintf(out, sizeof out, "%s/%s.XXXXXX", directory, name);
        CHECK(CALL(char* (*)(char*))(out) != NULL);
    }
    EACH("rmdir") CHECK(mkdir(path_of(name), 0700) == 0 && CALL(int (*)(const char*))(path_of(name)) == 0);
    dev_t device = 0;
    EACH("mknod") CHECK(CALL(int (*)(const char*, unsigned, dev_t))(path_of(name), S_IFREG | 0600, 0) == 0);
    EACH("__xmknod")
    CHECK(CALL(int (*)(int, const char*, unsigned, dev_t*))(0, path_of(name), S_IFREG | 0600, &device) == 0);
    EACH("mknodat")
    CHECK(CALL(int (*)(int, const char*, unsigned, dev_t))(AT_FDCWD, path_of(name), S_IFREG | 0600, 0) == 0);
    EACH("__xmknodat")
    CHECK(CALL(int (*)(int, int, const char*, unsigned, dev_t*))(0, AT_FDCWD, path_of(name), S_IFREG | 0600, &device) ==
          0);
    EACH("mkfifo") CHECK(CALL(int (*)(const char*, unsigned))(path_of(name), 0600) == 0);
    EACH("mkfifoat") CHECK(CALL(int (*)(int, const char*, unsigned))(AT_FDCWD, path_of(name), 0600) == 0);
    EACH("chmod", "lchmod") CHECK(CALL(int (*)(const char*, unsigned))(made(name, 1), 0600) == 0);
    EACH("fchmod") CHECK(CALL(int (*)(int, unsigned))(opened(name, 1), 0600) == 0);
    EACH("fchmodat") CHECK(CALL(int (*)(int, const char*, unsigned, int))(AT_FDCWD, made(name, 1), 0600, 0) == 0);
    EACH("chown", "lchown") CHECK(CALL(int (*)(const char*, unsigned, unsigned))(made(name, 1), -1, -1) == 0);
    EACH("fchown") CHECK(CALL(int (*)(int, unsigned, unsigned))(opened(name, 1), -1, -1) == 0);
    EACH("fchownat")
    CHECK(CALL(int (*)(int, const char*, unsigned, unsigned, int))(AT_FDCWD, made(name, 1), -1, -1, 0) == 0);
    EACH("utime", "utimes", "lutimes") CHECK(CALL(int (*)(const char*, const void*))(made(name, 1), NULL) == 0);
    EACH("utimensat", "futimesat")
    CHECK(CALL(int (*)(int, const char*, const void*, int))(AT_FDCWD, made(name, 1), NULL, 0) == 0);
    EACH("futimens", "futimes") CHECK(CALL(int (*)(int, const void*))(opened(name, 1), NULL) == 0);
    EACH("chdir") CHECK(mkdir(path_of(name), 0700) == 0 && CALL(int (*)(const char*))(path_of(name)) == 0);
    EACH("fchdir") {
        mkdir(path_of(name), 0700);
        CHECK(CALL(int (*)(int))(open(path_of(name), O_RDONLY)) == 0);
    }
    EACH("opendir", "readdir", "readdir64", "readdir_r", "readdir64_r", "closedir", "fdopendir", "getdents64") {
        mkdir(path_of(name), 0700);
        const int fd = open(path_of(name), O_RDONLY);
        DIR* listed = name[0] == 'f'   ? CALL(DIR * (*)(int))(fd)
                      : name[0] == 'o' ? CALL(DIR * (*)(const char*))(path_of(name))
                                       : opendir(path_of(name));
        struct dirent entry, *found = NULL;
        CHECK(listed != NULL);
        if (strstr(name, "_r") != NULL)
            CHECK(CALL(int (*)(DIR*, struct dirent*, struct dirent**))(listed, &entry, &found) == 0);
        else if (name[0] == 'r')
            CHECK(CALL(struct dirent * (*)(DIR*))(listed) != NULL);
        if (name[0] == 'g') CHECK(CALL(long (*)(int, void*, size_t))(fd, out, sizeof out) > 0);
        if (name[0] == 'c') CHECK(CALL(int (*)(DIR*))(listed) == 0);
    }
    EACH("mmap", "mmap64") {
        void* at = CALL(void* (*)(void*, size_t, int, int, int, long))(NULL, 9, PROT_READ | PROT_WRITE, MAP_SHARED,
                                                                       opened(name, 9), 0);
        CHECK(at != MAP_FAILED);
    }
    EACH("munmap") {
        void* at = mmap(NULL, 9, PROT_READ | PROT_WRITE, MAP_SHARED, opened(name, 9), 0);
        CHECK(CALL(int (*)(void*, size_t))(at, 9) == 0);
    }
    EACH("mremap") {
        void* at = mmap(NULL, 9, PROT_READ | PROT_WRITE, MAP_SHARED, opened(name, 9), 0);
        CHECK(CALL(void* (*)(void*, size_t, size_t, int))(at, 9, 5000, MREMAP_MAYMOVE) != MAP_FAILED);
    }
    EACH("msync") {
        void* at = mmap(NULL, 9, PROT_READ | PROT_WRITE, MAP_SHARED, opened(name, 9), 0);
        CHECK(CALL(int (*)(void*, size_t, int))(at, 9, MS_SYNC) == 0);
    }
}

static void asynchronous(void) {
    char data[100];
    EACH("aio_read", "aio_read64", "aio_write", "aio_write64", "aio_fsync", "aio_fsync64", "aio_return", "aio_return64",
         "aio_suspend", "aio_suspend64", "lio_listio", "lio_listio64") {
        const int writes = strstr(name, "write") != NULL;
        struct aiocb request = {.aio_fildes = opened(name, 100), .aio_buf = data, .aio_nbytes = 70, .aio_offset = 20};
        const struct aiocb* const list[] = {&request};
        if (strncmp(name, "lio", 3) == 0) {
            request.aio_lio_opcode = LIO_READ;
            CHECK(CALL(int (*)(int, const struct aiocb* const*, int, void*))(LIO_WAIT, list, 1, NULL) == 0);
        } else if (strstr(name, "sync") != NULL) {
            CHECK(CALL(int (*)(int, struct aiocb*))(O_SYNC, &request) == 0);
        } else {
            int (*start)(struct aiocb*) = strstr(name, "read") || writes ? CALL(int (*)(struct aiocb*)) : aio_read;
            CHECK(start(&request) == 0);
        }
        int (*suspend)(const struct aiocb* const*, int, void*) =
            strstr(name, "suspend") ? CALL(int (*)(const struct aiocb* const*, int, void*)) : (void*)aio_suspend;
        while (aio_error(&request) == EINPROGRESS) suspend(list, 1, NULL);
        const long moved = strstr(name, "return") ? CALL(long (*)(struct aiocb*))(&request) : aio_return(&request);
        CHECK(moved == (strstr(name, "sync") ? 0 : 70));
        if (moved > 0) tell(name, writes ? "write" : "read", moved);
    }
}

static void reading_streams(void) {
    char data[10000];
    wchar_t wide[1000];
    char* line = NULL;
    size_t room = 0;
    for (int i = 0; i < 10000; ++i) text[i] = i % 50 == 49 ? '\n' : '7';
    EACH("fopen", "fopen64", "_IO_fopen")
    CHECK(fclose(CALL(FILE * (*)(const char*, const char*))(made(name, 9), "r")) == 0);
    EACH("fdopen", "_IO_fdopen") CHECK(fclose(CALL(FILE * (*)(int, const char*))(opened(name, 9), "r")) == 0);
    EACH("freopen", "freopen64") {
        FILE* before = fopen(path_of("before_reopening"), "w");
        fputs("waiting", before);
        CHECK(fclose(CALL(FILE * (*)(const char*, const char*, FILE*))(made(name, 9), "r", before)) == 0);
    }
    EACH("tmpfile", "tmpfile64") CHECK(fclose(CALL(FILE * (*)(void))()) == 0);
    EACH("fread", "fread_unlocked", "_IO_fread") {
        FILE* f = fopen(made(name, 10000), "r");
        CHECK(CALL(size_t(*)(void*, size_t, size_t, FILE*))(data, 7, 10, f) == 10);
        CHECK(CALL(size_t(*)(void*, size_t, size_t, FILE*))(data, 1, 10000, f) == 9930);
        tell(name, "read", 10000);
    }
    EACH("__fread_chk", "__fread_unlocked_chk") {
        CHECK(CALL(size_t(*)(void*, size_t, size_t, size_t, FILE*))(data, 10000, 7, 10,
                                                                    fopen(made(name, 10000), "r")) == 10);
        tell(name, "read", 4096);
    }
    EACH("fgets", "fgets_unlocked", "_IO_fgets") {
        CHECK(CALL(char* (*)(char*, int, FILE*))(data, 100, fopen(made(name, 10000), "r")) != NULL);
        tell(name, "read", 4096);
    }
    EACH("__fgets_chk", "__fgets_unlocked_chk") {
        CHECK(CALL(char* (*)(char*, size_t, int, FILE*))(data, 10000, 100, fopen(made(name, 10000), "r")) != NULL);
        tell(name, "read", 4096);
    }
    EACH("getline") {
        CHECK(CALL(long (*)(char**, size_t*, FILE*))(&line, &room, fopen(made(name, 10000), "r")) == 50);
        tell(name, "read", 4096);
    }
    EACH("getdelim", "__getdelim") {
        CHECK(CALL(long (*)(char**, size_t*, int, FILE*))(&line, &room, '\n', fopen(made(name, 10000), "r")) == 50);
        tell(name, "read", 4096);
    }
    EACH("fgetc", "fgetc_unlocked", "getc", "getc_unlocked", "_IO_getc", "__uflow", "__underflow", "getw") {
        CHECK(CALL(int (*)(FILE*))(fopen(made(name, 10000), "r")) != EOF);
        tell(name, "read", 4096);
    }
    EACH("fgetwc", "getwc", "fgetwc_unlocked", "getwc_unlocked") {
        CHECK(CALL(wint_t(*)(FILE*))(fopen(made(name, 10000), "r")) != WEOF);
        tell(name, "read", 4096);
    }
    EACH("__wuflow", "__wunderflow") {
        FILE* f = fopen(made(name, 10000), "r");
        fwide(f, 1);
        CHECK(CALL(wint_t(*)(FILE*))(f) != WEOF);
        tell(name, "read", 4096);
    }
    EACH("fgetws", "fgetws_unlocked") {
        CHECK(CALL(wchar_t * (*)(wchar_t*, int, FILE*))(wide, 100, fopen(made(name, 10000), "r")) != NULL);
        tell(name, "read", 4096);
    }
    EACH("__fgetws_chk", "__fgetws_unlocked_chk") {
        CHECK(CALL(wchar_t * (*)(wchar_t*, size_t, int, FILE*))(wide, 1000, 100, fopen(made(name, 10000), "r")) !=
              NULL);
        tell(name, "read", 4096);
    }
    EACH("fscanf", "__isoc99_fscanf") {
        CHECK(CALL(int (*)(FILE*, const char*, ...))(fopen(made(name, 10000), "r"), "%99s", data) == 1);
        tell(name, "read", 4096);
    }
    EACH("fwscanf", "__isoc99_fwscanf") {
        CHECK(CALL(int (*)(FILE*, const wchar_t*, ...))(fopen(made(name, 10000), "r"), L"%99ls", wide) == 1);
        tell(name, "read", 4096);
    }
}

static int scan(const char* name, FILE* f, const void* format, ...) {
    va_list values;
    va_start(values, format);
    const int result = f == NULL ? CALL(int (*)(const void*, va_list))(format, values)
                                 : CALL(int (*)(FILE*, const void*, va_list))(f, format, values);
    va_end(values);
    return result;
}

static void fresh_input(const char* name, int is_wide) {
    const int fd = opened(name, 10000);
    dup2(fd, 0);
    stdin = fdopen(0, "r");
    fwide(stdin, is_wide ? 1 : -1);
}

static void reading_input(void) {
    char data[1000];
    wchar_t wide[1000];
    EACH("vfscanf", "__isoc99_vfscanf") {
        CHECK(scan(name, fopen(made(name, 10000), "r"), "%99s", data) == 1);
        tell(name, "read", 4096);
    }
    EACH("vfwscanf", "__isoc99_vfwscanf") {
        CHECK(scan(name, fopen(made(name, 10000), "r"), L"%99ls", wide) == 1);
        tell(name, "read", 4096);
    }
    EACH("scanf", "__isoc99_scanf", "vscanf", "__isoc99_vscanf", "getchar", "getchar_unlocked", "wscanf",
         "__isoc99_wscanf", "vwscanf", "__isoc99_vwscanf", "getwchar", "getwchar_unlocked") {
        const int is_wide = strstr(name, "ws") != NULL || strstr(name, "wc") != NULL;
        const int listed = strstr(name, "vscanf") || strstr(name, "vwscanf");
        fresh_input(name, is_wide);
        if (strstr(name, "getwchar"))
            CHECK(CALL(wint_t(*)(void))() == L'7');
        else if (strstr(name, "getchar"))
            CHECK(CALL(int (*)(void))() == '7');
        else if (listed)
            CHECK(scan(name, NULL, is_wide ? (void*)L"%99ls" : (void*)"%99s", is_wide ? (void*)wide : (void*)data) ==
                  1);
        else if (is_wide)
            CHECK(CALL(int (*)(const wchar_t*, ...))(L"%99ls", wide) == 1);
        else
            CHECK(CALL(int (*)(const char*, ...))("%99s", data) == 1);
        tell(name, "read", 4096);
    }
}

static int print(const char* name, FILE* f, const void* format, ...) {
    va_list values;
    va_start(values, format);
    const int checked = strstr(name, "_chk") != NULL;
    int result;
    if (f == NULL) {
        result = checked ? CALL(int (*)(int, const void*, va_list))(1, format, values)
                         : CALL(int (*)(const void*, va_list))(format, values);
    } else {
        result = checked ? CALL(int (*)(FILE*, int, const void*, va_list))(f, 1, format, values)
                         : CALL(int (*)(FILE*, const void*, va_list))(f, format, values);
    }
    va_end(values);
    return result;
}

static void writing_streams(void) {
#define CLOSED(f, bytes)            \
    do {                            \
        CHECK(fclose(f) == 0);      \
        tell(name, "write", bytes); \
    } while (0)
    EACH("fwrite", "fwrite_unlocked", "_IO_fwrite") {
        FILE* f = fopen(path_of(name), "w");
        CHECK(CALL(size_t(*)(const void*, size_t, size_t, FILE*))(text, 7, 1000, f) == 1000);
        CLOSED(f, 7000);
    }
    EACH("fputs", "fputs_unlocked", "_IO_fputs") {
        FILE* f = fopen(path_of(name), "w");
        CHECK(CALL(int (*)(const char*, FILE*))("words", f) >= 0);
        CLOSED(f, 5);
    }
    EACH("fputc", "fputc_unlocked", "putc", "putc_unlocked", "_IO_putc", "putw") {
        FILE* f = fopen(path_of(name), "w");
        for (int i = 0; i < 5000; ++i) CALL(int (*)(int, FILE*))('a', f);
        CLOSED(f, strcmp(name, "putw") == 0 ? 20000 : 5000);
    }
    EACH("__overflow") {
        FILE* f = fopen(path_of(name), "w");
        CHECK(CALL(int (*)(FILE*, int))(f, 'x') == 'x');
        CLOSED(f, 1);
    }
    EACH("fputwc", "putwc", "fputwc_unlocked", "putwc_unlocked") {
        FILE* f = fopen(path_of(name), "w");
        CHECK(CALL(wint_t(*)(wchar_t, FILE*))(L'\u20ac', f) != WEOF);
        CLOSED(f, 3);
    }
    EACH("__woverflow") {
        FILE* f = fopen(path_of(name), "w");
        fwide(f, 1);
        CHECK(CALL(wint_t(*)(FILE*, wint_t))(f, L'x') != WEOF);
        CLOSED(f, 1);
    }
    EACH("fputws", "fputws_unlocked") {
        FILE* f = fopen(path_of(name), "w");
        CHECK(CALL(int (*)(const wchar_t*, FILE*))(L"\u20ac\u20ac", f) >= 0);
        CLOSED(f, 6);
    }
    EACH("fprintf", "_IO_fprintf") {
        FILE* f = fopen(path_of(name), "w");
        CHECK(CALL(int (*)(FILE*, const char*, ...))(f, "%d %s", 5, "words") == 7);
        CLOSED(f, 7);
    }
    EACH("__fprintf_chk") {
        FILE* f = fopen(path_of(name), "w");
        CHECK(CALL(int (*)(FILE*, int, const char*, ...))(f, 1, "%d %s", 5, "words") == 7);
        CLOSED(f, 7);
    }
    EACH("vfprintf", "__vfprintf_chk") {
        FILE* f = fopen(path_of(name), "w");
        CHECK(print(name, f, "%d %s", 5, "words") == 7);
        CLOSED(f, 7);
    }
    EACH("fwprintf") {
        FILE* f = fopen(path_of(name), "w");
        CHECK(CALL(int (*)(FILE*, const wchar_t*, ...))(f, L"%d %s", 5, "words") == 7);
        CLOSED(f, 7);
    }
    EACH("__fwprintf_chk") {
        FILE* f = fopen(path_of(name), "w");
        CHECK(CALL(int (*)(FILE*, int, const wchar_t*, ...))(f, 1, L"%d %s", 5, "words") == 7);
        CLOSED(f, 7);
    }
    EACH("vfwprintf", "__vfwprintf_chk") {
        FILE* f = fopen(path_of(name), "w");
        CHECK(print(name, f, L"%d %s", 5, "words") == 7);
        CLOSED(f, 7);
    }
    EACH("fclose", "_IO_fclose", "fflush", "fflush_unlocked", "_IO_fflush", "fcloseall") {
        FILE* f = fopen(path_of(name), "w");
        fputs("some words", f);
        if (strcmp(name, "fcloseall") == 0)
            fflush(f);  // the last test of all calls it
        else
            CHECK(CALL(int (*)(FILE*))(f) == 0);
        tell(name, "write", 10);
    }
    EACH("fseek", "fseeko", "fseeko64", "rewind", "fsetpos", "fsetpos64", "_IO_fsetpos", "_IO_fsetpos64") {
        FILE* f = fopen(path_of(name), "w+");
        fpos_t begin;
        fgetpos(f, &begin);
        fputs("some words", f);
        if (name[0] == 'r')
            CALL(void (*)(FILE*))(f);
        else if (strstr(name, "seek"))
            CHECK(CALL(int (*)(FILE*, long, int))(f, 0, SEEK_SET) == 0);
        else
            CHECK(CALL(int (*)(FILE*, const fpos_t*))(f, &begin) == 0);
        tell(name, "write", 10);
        CHECK(fgetc(f) == 's');
        tell(name, "read", 10);
    }
    EACH("setvbuf", "_IO_setvbuf", "setbuf", "setbuffer", "setlinebuf") {
        FILE* f = fopen(path_of(name), "w");
        if (name[3] == 'v' || name[0] == '_')
            CALL(int (*)(FILE*, char*, int, size_t))(f, NULL, _IONBF, 0);
        else if (strcmp(name, "setlinebuf") == 0)
            CALL(void (*)(FILE*))(f);
        else
            CALL(void (*)(FILE*, char*, size_t))(f, NULL, 0);
        fputs("words", f);
        fputs("more\n", f);
        CLOSED(f, 10);
    }
}

static FILE* usual_output;

static void fresh_output(const char* name, int is_wide) {
    dup2(opened(name, 0), 1);
    stdout = fdopen(1, "w");
    fwide(stdout, is_wide ? 1 : -1);
}

static void writing_output(void) {
    usual_output = stdout;
    EACH("printf", "__printf_chk", "vprintf", "__vprintf_chk", "wprintf", "__wprintf_chk", "vwprintf", "__vwprintf_chk",
         "puts", "_IO_puts", "putchar", "putchar_unlocked", "putwchar", "putwchar_unlocked") {
        const int is_wide = strstr(name, "wp") != NULL || strstr(name, "wc") != NULL;
        const int checked = strstr(name, "_chk") != NULL;
        const void* format = is_wide ? (void*)L"%d words" : (void*)"%d words";
        fresh_output(name, is_wide);
        int bytes = 7;
        if (strstr(name, "puts"))
            bytes = CALL(int (*)(const char*))("words") >= 0 ? 6 : 0;
        else if (strstr(name, "putwc"))
            bytes = CALL(wint_t(*)(wchar_t))(L'x') == L'x';
        else if (strstr(name, "putc"))
            bytes = CALL(int (*)(int))('x') == 'x';
        else if (strchr(name, 'v'))
            CHECK(print(name, NULL, format, 5) == 7);
        else if (checked)
            CHECK(CALL(int (*)(int, const void*, ...))(1, format, 5) == 7);
        else
            CHECK(CALL(int (*)(const void*, ...))(format, 5) == 7);
        CHECK(fflush(stdout) == 0);
        tell(name, "write", bytes);
    }
    EACH("perror") {
        const int before = dup(2);
        dup2(opened(name, 0), 2);
        errno = ENOENT;
        CALL(void (*)(const char*))("words");
        dup2(before, 2);
        tell(name, "write", 33);
    }
}

static void jumping(void) {
    EACH("longjmp", "_longjmp", "siglongjmp", "__longjmp_chk") {
        sigjmp_buf place;
        volatile int jumps = 0;
        if (sigsetjmp(place, 0) == 0 && ++jumps < 3) CALL(void (*)(sigjmp_buf, int))(place, 1);
        CHECK(jumps == 1);
    }
}

static int in_clone(void* path) {
    execl(path, "true", NULL);
    _exit(1);
}

static void starting(void) {
    char* true_program = "/bin/true";
    char* arguments[] = {"true", NULL};
    EACH("fork", "__fork", "_Fork", "execve", "execv", "execvp", "execvpe", "execl", "execle", "execlp", "fexecve",
         "execveat", "_exit", "_Exit", "quick_exit", "abort") {
        const int forks = strstr(name, "ork") != NULL;
        const pid_t child = forks ? CALL(pid_t(*)(void))() : fork();
        if (child == 0) {
            if (forks) _exit(0);
            void* end = function(name);
            if (strcmp(name, "execve") == 0)
                CALL(int (*)(const char*, char**, char**))(true_program, arguments, environ);
            if (strcmp(name, "execv") == 0) CALL(int (*)(const char*, char**))(true_program, arguments);
            if (strcmp(name, "execvp") == 0) CALL(int (*)(const char*, char**))("true", arguments);
            if (strcmp(name, "execvpe") == 0) CALL(int (*)(const char*, char**, char**))("true", arguments, environ);
            if (strcmp(name, "execl") == 0) CALL(int (*)(const char*, ...))(true_program, "true", NULL);
            if (strcmp(name, "execle") == 0) CALL(int (*)(const char*, ...))(true_program, "true", NULL, environ);
            if (strcmp(name, "execlp") == 0) CALL(int (*)(const char*, ...))("true", "true", NULL);
            if (strcmp(name, "fexecve") == 0)
                CALL(int (*)(int, char**, char**))(open(true_program, O_RDONLY), arguments, environ);
            if (strcmp(name, "execveat") == 0)
                CALL(int (*)(int, const char*, char**, char**, int))(AT_FDCWD, true_program, arguments, environ, 0);
            if (strcmp(name, "abort") == 0) CALL(void (*)(void))();
            ((void (*)(int))end)(0);
        }
        int status = 0;
        CHECK(child > 0 && waitpid(child, &status, 0) == child);
        CHECK(strcmp(name, "abort") == 0 ? WTERMSIG(status) == SIGABRT : status == 0);
    }
    EACH("vfork", "__vfork") {
        const pid_t child = name[0] == 'v' ? vfork() : CALL(pid_t(*)(void))();
        if (child == 0) {
            execl(true_program, "true", NULL);
            _exit(1);
        }
        int status = 1;
        CHECK(waitpid(child, &status, 0) == child && status == 0);
    }
    EACH("clone") {
        static char stack[65536];
        const pid_t child = CALL(int (*)(int (*)(void*), void*, int, void*, ...))(
            in_clone, stack + sizeof stack, CLONE_VM | CLONE_VFORK | SIGCHLD, true_program);
        int status = 1;
        CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
    }
    EACH("posix_spawn", "posix_spawnp") {
        pid_t child = 0;
        int status = 1;
        CHECK(CALL(int (*)(pid_t*, const char*, void*, void*, char**, char**))(&child, true_program, NULL, NULL,
                                                                               arguments, environ) == 0);
        CHECK(waitpid(child, &status, 0) == child && status == 0);
    }
    EACH("syscall") CHECK(CALL(long (*)(long, ...))(SYS_getpid) == getpid());
}

int main(int count, char** words) {
    directory = words[count - 1];
    memset(text, 'x', sizeof text - 1);
    setlocale(LC_ALL, "C.UTF-8");
    opening();
    transferring();
    naming();
    asynchronous();
    jumping();
    reading_streams();
    reading_input();
    writing_streams();
    writing_output();
    starting();
    const char* name = "fcloseall";
    CHECK(CALL(int (*)(void))() == 0);
    return 0;
}
