#pragma once

#include <sys/file.h>
#include <sys/mman.h>

#include "calls/state/direct_call.hpp"
#include "calls/wrappers/operations/operation.hpp"

/// As operation.hpp: what changes descriptors, locks files and maps them.
namespace halcyon::calls::operations {

// --- descriptors ---

struct duplicate {
    owned_file file;
    bool claims(int fd) { return static_cast<bool>(file = backends::owner_of(fd)); }
    static int64_t perform(int fd) {
        const long to = direct::call(SYS_dup, fd);
        if (to >= 0) backends::duplicated(fd, static_cast<int>(to));
        return to;
    }
};

/// Also of a descriptor of the kernel's, where it takes the place of a backend's.
struct duplicate_to {
    bool claims(int fd, int to, int = 0) const {
        return fd != to && (backends::owner_of(fd) || backends::owner_of(to));
    }
    static int64_t perform(int fd, int to) { return perform(fd, to, 0); }
    static int64_t perform(int fd, int to, int flags) {
        const long done = direct::call(SYS_dup3, fd, to, flags);
        if (done >= 0) backends::duplicated(fd, to);
        return done;
    }
};

struct close_descriptor {
    owned_file file;
    bool claims(int fd) {
        file = backends::owner_of(fd);
        if (!file) backends::closing(fd);  // the number may become a backend's
        return static_cast<bool>(file);
    }
    static int64_t perform(int fd) {
        backends::closing(fd);
        return direct::close(fd);
    }
};

/// fcntl: locks, flags and duplicates; what is left is the kernel's matter, as it is about the number.
struct control {
    owned_file file;
    bool claims(int fd, int, long) { return static_cast<bool>(file = backends::owner_of(fd)); }
    int64_t perform(int fd, int command, long argument) const {
        switch (command) {
            case F_GETLK:
            case F_SETLK:
            case F_SETLKW:
                return lock(fd, command, reinterpret_cast<struct flock*>(argument));
            case 36:  // F_OFD_GETLK
            case 37:  // F_OFD_SETLK
            case 38:  // F_OFD_SETLKW
                return -EINVAL;
            case F_GETFL: {
                const int flags = direct::flags_of(fd);
                return flags < 0 ? flags : (flags & ~O_ACCMODE) | file.access();
            }
            case F_SETFL: {  // O_DIRECT is for the backend's own files to have; a placeholder may refuse it
                const long done = direct::call(SYS_fcntl, fd, command, argument & ~long{O_DIRECT});
                if (done >= 0) backends::flags_changed(fd, static_cast<int>(argument));
                return done;
            }
            case F_GETSIG:
                return 0;
            case F_SETSIG:  // taken (kept_access.hpp)
                return -EINVAL;
            case F_DUPFD:
            case F_DUPFD_CLOEXEC: {
                const long to = direct::call(SYS_fcntl, fd, command, argument);
                if (to >= 0) backends::duplicated(fd, static_cast<int>(to));
                return to;
            }
            default:
                return direct::call(SYS_fcntl, fd, command, argument);
        }
    }

    /// lockf: from the position on.
    int64_t lock_from_position(int fd, int command, off_t bytes) const {
        struct flock range {};
        range.l_type = static_cast<short>(command == F_ULOCK ? F_UNLCK : F_WRLCK);
        range.l_whence = SEEK_CUR;
        range.l_len = bytes;
        if (command != F_TEST) return lock(fd, command == F_LOCK ? F_SETLKW : F_SETLK, &range);
        const int64_t failed = lock(fd, F_GETLK, &range);
        return failed != 0 ? failed : range.l_type == F_UNLCK ? 0 : -EACCES;
    }

  private:
    int64_t lock(int fd, int command, struct flock* given) const {
        struct flock range {};
        if (!given::read(given, range)) return -EFAULT;
        if (command != F_GETLK &&
            ((range.l_type == F_RDLCK && !file.may_read()) || (range.l_type == F_WRLCK && !file.may_write())))
            return -EBADF;
        struct stat now {};
        if (range.l_whence == SEEK_CUR) range.l_start += direct::lseek(fd, 0, SEEK_CUR);
        if (range.l_whence == SEEK_END) {
            if (const int failed = file.backend().stat(file.opened(), now); failed != 0) return failed;
            range.l_start += now.st_size;
        }
        if (range.l_len < 0) {
            range.l_start += range.l_len;
            range.l_len = -range.l_len;
        }
        if (range.l_start < 0) return -EINVAL;
        range.l_whence = SEEK_SET;
        const int done = file.backend().lock(file.opened(), command, range);
        if (done == 0 && command == F_GETLK) *given = range;
        return done;
    }
};
struct lock_from_position : control {
    bool claims(int fd, int, off_t) { return control::claims(fd, 0, 0); }
    int64_t perform(int fd, int command, off_t bytes) const { return control::lock_from_position(fd, command, bytes); }
};
struct locks_whole {
    static int64_t of(const owned_file& file, int fd, int operation) {
        return file.backend().lock_whole(file.opened(), fd, operation);
    }
};
using lock_whole = descriptor<locks_whole>;

// --- files in memory ---

struct map {
    owned_file file;
    bool claims(const void*, size_t, int, int flags, int fd, off_t) {
        return fd >= 0 && (flags & MAP_ANONYMOUS) == 0 && (file = backends::owner_of(fd));
    }
    void* perform(void* at, size_t bytes, int protection, int flags, int, off_t offset) const {
        const bool writes = (flags & MAP_TYPE) == MAP_SHARED && (protection & PROT_WRITE) != 0;
        int64_t mapped = -EACCES;
        if (file.may_read() && (!writes || file.may_write()))
            mapped = file.backend().map(file.opened(), at, bytes, protection, flags, offset);
        if (mapped >= 0 || mapped < -4095) return reinterpret_cast<void*>(mapped);
        errno = static_cast<int>(-mapped);
        return MAP_FAILED;
    }
};

}  // namespace halcyon::calls::operations
