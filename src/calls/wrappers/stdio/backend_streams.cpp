#include "calls/wrappers/stdio/backend_streams.hpp"

#include <cstring>

#include "calls/backends/transfers.hpp"
#include "calls/state/descriptors.hpp"
#include "calls/wrappers/operations/opening.hpp"
#include "calls/wrappers/stdio/complete_message.hpp"
#include "calls/wrappers/stdio/stream.hpp"
#include "calls/wrappers/stdio/stream_slots.hpp"

namespace halcyon::calls::backend_streams {
namespace {

using backends::mounted_path;
using backends::owned_file;

// A stream is made by the C library, so that all in it is as the C library wants it: on this file, of which it is taken
// off at once.
constexpr const char* any_file = "/dev/null";

FILE* fail(int error) {
    errno = error;
    return nullptr;
}

FILE* refuse(const char* backend, const char* path, const char* why) {
    char line[2 * PATH_MAX];
    const int length =
        snprintf(line, sizeof line,
                 "halcyon: a stream (fopen, fdopen, freopen) on %s was refused, a file of the backend '%s': %s\n", path,
                 backend, why);
    stream_slots::say(line, length < static_cast<int>(sizeof line) ? length : static_cast<int>(sizeof line) - 1);
    return fail(ENOTSUP);
}

/// What the C library makes of a stream's mode.
struct stream_mode {
    int flags = 0;          ///< of open(2)
    char of_any[128] = "";  ///< the same mode for a file that is there: without x, and without m, for nothing is mapped

    [[nodiscard]] bool reads() const { return (flags & O_ACCMODE) != O_WRONLY; }
    [[nodiscard]] bool writes() const { return (flags & O_ACCMODE) != O_RDONLY; }
};

/// Letters behind the first that the C library looks at.
constexpr int letters_of_fopen = 6;
constexpr int letters_of_fdopen = 4;

/// False of a mode that it refuses.
bool understand(const char* mode, int letters, stream_mode& out) {
    switch (*mode) {
        case 'r':
            out.flags = O_RDONLY;
            break;
        case 'w':
            out.flags = O_WRONLY | O_CREAT | O_TRUNC;
            break;
        case 'a':
            out.flags = O_WRONLY | O_CREAT | O_APPEND;
            break;
        default:
            return false;
    }
    char* end = out.of_any;
    *end++ = *mode;
    const char* recognized = mode;
    for (int i = 1; i <= letters && mode[i] != '\0'; ++i) {
        switch (mode[i]) {
            case '+':
                out.flags = (out.flags & ~O_ACCMODE) | O_RDWR;
                *end++ = '+';
                recognized = mode + i;
                break;
            case 'x':
                out.flags |= O_EXCL;
                recognized = mode + i;
                break;
            case 'b':
                recognized = mode + i;
                break;
            case 'e':
                out.flags |= O_CLOEXEC;
                *end++ = 'e';
                break;
            case 'c':
                *end++ = 'c';
                break;
            default:
                break;
        }
    }
    *end = '\0';
    const char* const conversion = letters == letters_of_fopen ? std::strstr(recognized + 1, ",ccs=") : nullptr;
    if (conversion == nullptr) return true;
    const size_t bytes = std::strlen(conversion) + 1;
    if (bytes > static_cast<size_t>(out.of_any + sizeof out.of_any - end)) return false;  // there is no such one
    std::memcpy(end, conversion, bytes);
    return true;
}

void close_quietly(int fd) {
    backends::closing(fd);
    direct::close(fd);
}

/// As the C library: a stream that only appends begins at the end.
void go_to_begin(FILE* stream, const stream_mode& mode) {
    if ((mode.flags & O_APPEND) == 0 || mode.reads()) return;
    const int fd = stream->_fileno;
    if (const owned_file file = backends::owner_of(fd)) backends::seek_to(file, fd, 0, SEEK_END);
}

/// The stream owns the descriptor, unless this fails.
FILE* stream_on(int fd, const stream_mode& mode) {
    FILE* const made = fopen_of_library(any_file, mode.of_any);
    if (made == nullptr) return nullptr;
    const int placed = made->_fileno;
    made->_fileno = fd;
    close_quietly(placed);
    return made;
}

/// The number stands for a file of the kernel's from now on, if it stood for a backend's: without being free for others
/// in between.
bool give_up(int fd) {
    if (!backends::owner_of(fd)) return true;
    const int other = direct::open(any_file, O_RDWR | O_CLOEXEC);
    if (other < 0) return false;
    const bool done = direct::call(SYS_dup3, other, fd, 0) >= 0;
    if (done) backends::duplicated(other, fd);
    if (done && !backends::shares_memory_with_parent()) descriptors::closing(fd);  // what was written remembered it
    close_quietly(other);
    return done;
}

/// The descriptor that a stream gets: of the file `to`, or of its own `now`, opened anew. -errno where it fails.
int64_t open_for_stream(const mounted_path* to, const owned_file& now, int flags) {
    if (to != nullptr) return operations::open_at(to->backend(), to->path(), flags, 0666);
    if ((flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL)) return -EEXIST;
    file_backend::handle again = 0;
    const int failed = now.backend().open_again(now.opened(), flags & ~(O_CREAT | O_EXCL), again);
    return failed != 0 ? failed : backends::opened_as(now.backend(), again, flags);
}

/// Before the stream gets another file: the kernel's number of the one that it has stands for no backend's any more.
/// False: there is no descriptor left for that, and the stream is closed.
bool leave_backend(FILE* stream) {
    const int fd = stream->_fileno;
    if (give_up(fd)) return true;
    freopen_of_library("", "r", stream);
    backends::closing(fd);
    return false;
}

}  // namespace

FILE* open(const mounted_path& file, const char* mode) {
    if (const char* const why = stream_slots::refused()) return refuse(file.backend().name(), file.whole(), why);
    stream_mode wanted;
    if (!understand(mode, letters_of_fopen, wanted)) return fail(EINVAL);
    const int64_t fd = operations::open_at(file.backend(), file.path(), wanted.flags, 0666);
    if (fd < 0) return fail(static_cast<int>(-fd));
    FILE* const made = stream_on(static_cast<int>(fd), wanted);
    if (made != nullptr)
        go_to_begin(made, wanted);
    else
        close_quietly(static_cast<int>(fd));
    return made;
}

FILE* open_on(int fd, const owned_file& file, const char* mode) {
    if (const char* const why = stream_slots::refused()) {
        char whole[2 * PATH_MAX];
        const size_t length = backends::path_of(fd, whole, sizeof whole);
        return refuse(file.backend().name(), length > 0 ? whole : "a file", why);
    }
    stream_mode wanted;
    if (!understand(mode, letters_of_fdopen, wanted)) return fail(EINVAL);
    if ((wanted.reads() && !file.may_read()) || (wanted.writes() && !file.may_write())) return fail(EINVAL);
    const bool appends_now = (wanted.flags & O_APPEND) != 0 && !file.appends();
    if (appends_now) {
        const int flags = direct::flags_of(fd) | O_APPEND;
        const long failed = direct::call(SYS_fcntl, fd, F_SETFL, flags);
        if (failed < 0) return fail(static_cast<int>(-failed));
        backends::flags_changed(fd, flags);
    }
    FILE* const made = stream_on(fd, wanted);
    if (made != nullptr && appends_now) go_to_begin(made, wanted);  // else it stays where it is
    return made;
}

FILE* reopen(FILE* stream, const mounted_path* to, const char* path, const char* mode) {
    if (const char* const why = to == nullptr ? nullptr : stream_slots::refused())
        return refuse(to->backend().name(), to->whole(), why);
    constexpr int file_buffer = 0x2000;  // _IO_IS_FILEBUF; else it is of memory, and the C library refuses
    if ((stream->_flags & file_buffer) == 0) return freopen_of_library(path, mode, stream);
    const held_stream whole(stream);  // another thread's output goes to the file before, or to the one behind
    fflush_of_library(stream);        // failure is ignored there, too
    const int before = stream->_fileno;
    const owned_file now_open = backends::owner_of(before);
    if (to == nullptr && !now_open) return freopen_of_library(path, mode, stream);  // by another thread meanwhile
    if (to == nullptr && path != nullptr)
        return leave_backend(stream) ? freopen_of_library(path, mode, stream) : fail(EMFILE);
    stream_mode wanted;
    const bool is_known = understand(mode, letters_of_fopen, wanted);
    const int64_t opened = is_known ? open_for_stream(to, now_open, wanted.flags) : -EINVAL;
    if (!leave_backend(stream)) {
        if (opened >= 0) close_quietly(static_cast<int>(opened));
        return fail(EMFILE);
    }
    if (opened < 0) {  // as the C library: the stream is closed
        freopen_of_library("", "r", stream);
        return fail(static_cast<int>(-opened));
    }
    const int fd = static_cast<int>(opened);
    FILE* const again = freopen_of_library(any_file, wanted.of_any, stream);
    if (again == nullptr) {
        close_quietly(fd);
        return nullptr;
    }
    const int now = again->_fileno;
    if (now == before && direct::call(SYS_dup3, fd, now, wanted.flags & O_CLOEXEC) >= 0) {  // it keeps its number
        backends::duplicated(fd, now);
        close_quietly(fd);
    } else {
        again->_fileno = fd;
        close_quietly(now);
    }
    go_to_begin(again, wanted);
    return again;
}

int print(const owned_file& file, int fd, int checks, const char* format, va_list values) {
    const complete_message text(format, values, checks);
    if (!text.is_whole()) {
        if (text.length() >= 0) errno = ENOMEM;
        return -1;
    }
    const auto bytes = static_cast<size_t>(text.length());
    for (size_t done = 0; done < bytes;) {
        const iovec piece = backends::piece_of(text.text() + done, bytes - done);
        const int64_t now = backends::write_here(file, fd, piece);
        if (now <= 0) {
            errno = now == 0 ? EIO : static_cast<int>(-now);
            return -1;
        }
        done += static_cast<size_t>(now);
    }
    return text.length();
}

}  // namespace halcyon::calls::backend_streams
