// Wrappers that change what descriptors stand for: fcntl, locks, close and its ranges; openat2, which glibc 2.36 lacks.
#include <sys/file.h>

#include <algorithm>
#include <climits>

#include "calls/backends/hidden_descriptors.hpp"
#include "calls/wrappers/operations/descriptors.hpp"
#include "calls/wrappers/operations/names.hpp"
#include "calls/wrappers/operations/opening.hpp"
#include "calls/wrappers/posix/opening_shapes.hpp"
#include "calls/wrappers/wrapper.hpp"

namespace halcyon::calls {
namespace {

constexpr int ofd_set_lock = 37;       // F_OFD_SETLK
constexpr int ofd_set_lock_wait = 38;  // F_OFD_SETLKW

/// Of ours, in whatever room: the application did not open it.
bool is_ours(int fd) {
    return descriptors::is_own(fd) || hidden_descriptors::is_hidden(fd);
}

bool sets_lock(int command) {
    return command == F_SETLK || command == F_SETLKW || command == ofd_set_lock || command == ofd_set_lock_wait;
}

void set_function(call_record& record, call_id id) {
    record.function = static_cast<uint16_t>(id);
}

struct fcntl_shape {
    static bool before(call_record& record, int fd, int command, long argument) {
        const bool wanted = shapes::set_file(record, fd);
        if (!wanted) record.file = known_files::ignored;
        record.argument = command;
        struct flock range {};
        if (sets_lock(command) && given::read(reinterpret_cast<const void*>(argument), range)) {
            record.offset = range.l_start;
            record.bytes = range.l_len;
            record.argument = range.l_type;
            set_function(record, range.l_type == F_UNLCK ? call_id::fcntl_unlock : call_id::fcntl_lock);
        }
        return wanted || command == F_DUPFD || command == F_DUPFD_CLOEXEC;
    }
    static bool may_block(int, int command, long) { return command != F_SETLK && command != ofd_set_lock; }
    static void after(call_record&, int result, int fd, int command, long argument) {
        if (result < 0) return;
        if (command == F_DUPFD || command == F_DUPFD_CLOEXEC) descriptors::duplicated(fd, result);
        if (command != F_SETFL) return;
        if (open_file* file = descriptors::find(fd)) file->appends.store((argument & O_APPEND) != 0);
    }
};

struct flock_shape : shapes::nothing_after {
    static bool before(call_record& record, int fd, int operation) {
        record.argument = operation;
        if ((operation & LOCK_UN) != 0) set_function(record, call_id::flock_unlock);
        return shapes::set_file(record, fd);
    }
    static bool may_block(int, int operation) { return (operation & LOCK_NB) == 0; }
};

struct lockf_shape : shapes::nothing_after {
    static bool before(call_record& record, int fd, int command, off_t bytes) {
        record.argument = command;
        record.bytes = bytes;
        open_file* file = descriptors::find(fd);
        if (file != nullptr) record.offset = descriptors::position(fd, *file, false);
        if (command == F_ULOCK) set_function(record, call_id::lockf_unlock);
        return shapes::set_file(record, fd);
    }
    static bool may_block(int, int command, off_t) { return command != F_TLOCK && command != F_TEST; }
};

struct close_range_shape : shapes::nothing_after {
    static bool before(call_record& record, unsigned first, unsigned last, int flags) {
        constexpr int only_mark = 4;  // CLOSE_RANGE_CLOEXEC
        record.argument = last;
        if ((flags & only_mark) == 0) descriptors::closing_range(first, last);
        return true;
    }
};

struct openat2_shape : shapes::open_path {
    static void after(call_record& record, int fd, int directory, const char* path, const void* how, size_t) {
        uint64_t flags = 0;  // open_how's first member
        (void)given::read(how, flags);
        shapes::after_open(record, fd, static_cast<int>(flags), directory, path);
    }
};

// Direct system calls whose errors become errno, as the C library's functions do it.
int with_errno(long result) {
    if (result >= 0) return static_cast<int>(result);
    errno = static_cast<int>(-result);
    return -1;
}

/// Closes all from `first` to `last` but our own.
int close_others(unsigned first, unsigned last, int flags) {
    while (first <= last) {
        unsigned end = last;  // or the first of our own that lies before it
        for (const int own : descriptors::own_numbers()) {
            if (own >= 0 && static_cast<unsigned>(own) >= first && static_cast<unsigned>(own) <= end) {
                end = static_cast<unsigned>(own);
            }
        }
        const int hidden = hidden_descriptors::next(static_cast<int>(std::min<unsigned>(first, INT_MAX)));
        if (hidden >= 0 && static_cast<unsigned>(hidden) < end) end = static_cast<unsigned>(hidden);
        const bool stopped = is_ours(static_cast<int>(end));
        if (!stopped || end > first) {
            const long result = direct::call(SYS_close_range, first, stopped ? end - 1 : end, flags);
            if (result < 0) return with_errno(result);
        }
        if (!stopped || end == last) return 0;
        first = end + 1;
    }
    return with_errno(direct::call(SYS_close_range, first, last, flags));
}

int call_openat2(int directory, const char* path, const void* how, size_t bytes) {
    return with_errno(
        direct::call(SYS_openat2, directory, direct::address(path), direct::address(how), static_cast<long>(bytes)));
}

void close_from(int first) {
    close_others(first < 0 ? 0 : static_cast<unsigned>(first), ~0U, 0);
}

}  // namespace

#define FCNTL(symbol)                                                            \
    HALCYON_WRAPPER(symbol, int, (int fd, int command, long argument));          \
    int halcyon_wrap_##symbol(int fd, int command, long argument) {              \
        return intercept<fcntl_shape, call_id::fcntl, operations::control>(      \
            HALCYON_REAL(symbol, int, (int, int, long)), fd, command, argument); \
    }
FCNTL(fcntl)
FCNTL(fcntl64)
FCNTL(__fcntl)

HALCYON_WRAPPER(flock, int, (int fd, int operation));
int halcyon_wrap_flock(int fd, int operation) {
    return intercept<flock_shape, call_id::flock, operations::lock_whole>(HALCYON_REAL(flock, int, (int, int)), fd,
                                                                          operation);
}

#define LOCKF(symbol)                                                                  \
    HALCYON_WRAPPER(symbol, int, (int fd, int command, off_t bytes));                  \
    int halcyon_wrap_##symbol(int fd, int command, off_t bytes) {                      \
        return intercept<lockf_shape, call_id::lockf, operations::lock_from_position>( \
            HALCYON_REAL(symbol, int, (int, int, off_t)), fd, command, bytes);         \
    }
LOCKF(lockf)
LOCKF(lockf64)

#define CLOSE(symbol)                                                                      \
    HALCYON_WRAPPER(symbol, int, (int fd));                                                \
    int halcyon_wrap_##symbol(int fd) {                                                    \
        if (is_ours(fd)) [[unlikely]] {                                                    \
            errno = EBADF; /* the application did not open it */                           \
            return -1;                                                                     \
        }                                                                                  \
        return intercept<shapes::close_one, call_id::close, operations::close_descriptor>( \
            HALCYON_REAL(symbol, int, (int)), fd);                                         \
    }
CLOSE(close)
CLOSE(__close)

HALCYON_WRAPPER(close_range, int, (unsigned first, unsigned last, int flags));
int halcyon_wrap_close_range(unsigned first, unsigned last, int flags) {
    if (first > last) return with_errno(-EINVAL);
    constexpr int only_mark = 4;  // CLOSE_RANGE_CLOEXEC
    if ((flags & only_mark) == 0 && backends::present()) backends::closing_range(first, last);
    return intercept<close_range_shape, call_id::close_range>(&close_others, first, last, flags);
}

struct close_from_shape : shapes::nothing_after {
    static bool before(call_record& record, int first) {
        record.argument = first;
        descriptors::closing_range(first < 0 ? 0 : static_cast<unsigned>(first), ~0U);
        return true;
    }
};

HALCYON_WRAPPER(closefrom, void, (int first));
void halcyon_wrap_closefrom(int first) {
    if (backends::present()) backends::closing_range(first < 0 ? 0 : static_cast<unsigned>(first), ~0U);
    intercept<close_from_shape, call_id::closefrom>(&close_from, first);
}

// Not recorded: it asks about no file. Where the directory lies under a mount the kernel would tell another.
#define ASK_DIRECTORY(symbol, operation, parameters, names)                                                       \
    HALCYON_WRAPPER(symbol, char*, parameters);                                                                   \
    char* halcyon_wrap_##symbol parameters {                                                                      \
        const bool is_mounted = backends::present() && operations::operation::claims names;                       \
        return is_mounted ? operations::operation::perform names : HALCYON_REAL(symbol, char*, parameters) names; \
    }
ASK_DIRECTORY(getcwd, tell_directory, (char* out, size_t bytes), (out, bytes))
ASK_DIRECTORY(__getcwd_chk, tell_directory, (char* out, size_t bytes, size_t room), (out, bytes, room))
ASK_DIRECTORY(get_current_dir_name, tell_directory_anew, (), ())

HALCYON_WRAPPER(openat2, int, (int directory, const char* path, const void* how, size_t bytes));
int halcyon_wrap_openat2(int directory, const char* path, const void* how, size_t bytes) {
    return intercept<openat2_shape, call_id::openat2, operations::open_path_how>(&call_openat2, directory, path, how,
                                                                                 bytes);
}

}  // namespace halcyon::calls
