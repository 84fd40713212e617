// Part of every_function.c: functions on descriptors and names.
#pragma once

#include "calling.h"

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
    EACH("getcwd", "__getcwd_chk", "get_current_dir_name") {
        if (name[3] == '_')
            CHECK(CALL(char* (*)(void))() != NULL);
        else if (name[0] == '_')
            CHECK(CALL(char* (*)(char*, size_t, size_t))(out, sizeof out, sizeof out) != NULL);
        else
            CHECK(CALL(char* (*)(char*, size_t))(out, sizeof out) != NULL);
    }
    EACH("fchdir") {
        mkdir(path_of(name), 0700);
        CHECK(CALL(int (*)(int))(open(path_of(name), O_RDONLY)) == 0);
    }
    EACH("opendir", "readdir", "readdir64", "readdir_r", "readdir64_r", "rewinddir", "closedir", "fdopendir",
         "getdents64") {
        mkdir(path_of(name), 0700);
        const int fd = open(path_of(name), O_RDONLY);
        DIR* listed = name[0] == 'f'   ? CALL(DIR * (*)(int))(fd)
                      : name[0] == 'o' ? CALL(DIR * (*)(const char*))(path_of(name))
                                       : opendir(path_of(name));
        struct dirent entry, *found = NULL;
        CHECK(listed != NULL);
        if (strstr(name, "_r") != NULL)
            CHECK(CALL(int (*)(DIR*, struct dirent*, struct dirent**))(listed, &entry, &found) == 0);
        else if (strcmp(name, "rewinddir") == 0)
            CALL(void (*)(DIR*))(listed);
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
