#pragma once

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include <algorithm>
#include <climits>
#include <ctime>
#include <utility>

#include "calls/backends/transfers.hpp"
#include "calls/state/direct_call.hpp"
#include "calls/wrappers/operations/operation.hpp"

/// As operation.hpp: what reads, writes, copies, resizes and syncs.
namespace halcyon::calls::operations {

// --- data ---

using backends::at_position;
using backends::piece_of;
using backends::read_from;
using backends::read_here;
using backends::seek_to;
using backends::total_of;
using backends::write_here;
using backends::write_to;

struct reads_next {
    template <class... Room>
    static int64_t of(const owned_file& file, int fd, void* data, size_t bytes, Room...) {
        return read_here(file, fd, piece_of(data, bytes));
    }
};
struct writes_next {
    static int64_t of(const owned_file& file, int fd, const void* data, size_t bytes) {
        return write_here(file, fd, piece_of(data, bytes));
    }
};
struct reads_at {
    template <class... Room>
    static int64_t of(const owned_file& file, int, void* data, size_t bytes, off_t offset, Room...) {
        const iovec piece = piece_of(data, bytes);
        return read_from(file, &piece, 1, offset);
    }
};
struct writes_at {
    static int64_t of(const owned_file& file, int, const void* data, size_t bytes, off_t offset) {
        const iovec piece = piece_of(data, bytes);
        return write_to(file, &piece, 1, offset);
    }
};
/// With an offset, or without; preadv2's -1 means without, and its flags ask for no more than a backend does anyway.
struct reads_pieces {
    static int64_t of(const owned_file& file, int fd, const iovec* pieces, int count) {
        return read_here(file, fd, pieces, count);
    }
    static int64_t of(const owned_file& file, int, const iovec* pieces, int count, off_t offset) {
        const int64_t bytes = total_of(pieces, count);
        return bytes < 0 ? bytes : read_from(file, pieces, count, offset);
    }
    static int64_t of(const owned_file& file, int fd, const iovec* pieces, int count, off_t offset, int flags) {
        constexpr int hints = RWF_HIPRI | RWF_NOWAIT;
        if ((flags & ~hints) != 0) return -EOPNOTSUPP;
        return offset == -1 ? of(file, fd, pieces, count) : of(file, fd, pieces, count, offset);
    }
};
struct writes_pieces {
    static int64_t of(const owned_file& file, int fd, const iovec* pieces, int count) {
        return write_here(file, fd, pieces, count);
    }
    static int64_t of(const owned_file& file, int, const iovec* pieces, int count, off_t offset) {
        const int64_t bytes = total_of(pieces, count);
        return bytes < 0 ? bytes : write_to(file, pieces, count, offset);
    }
    static int64_t of(const owned_file& file, int fd, const iovec* pieces, int count, off_t offset, int flags) {
        constexpr int synced = RWF_DSYNC | RWF_SYNC;
        constexpr int known = synced | RWF_HIPRI | RWF_NOWAIT | RWF_APPEND;
        if ((flags & ~known) != 0) return -EOPNOTSUPP;
        const int64_t moved = (flags & RWF_APPEND) != 0 ? append(file, fd, pieces, count, offset)
                              : offset == -1            ? of(file, fd, pieces, count)
                                                        : of(file, fd, pieces, count, offset);
        if (moved < 0 || (flags & synced) == 0) return moved;
        const int failed = file.backend().sync(file.opened(), (flags & RWF_SYNC) == 0);
        return failed != 0 ? failed : moved;
    }

  private:
    /// Whatever the offset; -1 moves the position.
    static int64_t append(const owned_file& file, int fd, const iovec* pieces, int count, off_t offset) {
        if (!file.may_write()) return -EBADF;
        if (offset < -1) return -EINVAL;
        if (const int64_t bytes = total_of(pieces, count); bytes <= 0) return bytes;
        int64_t at = 0;
        const int64_t moved = file.backend().append(file.opened(), pieces, count, at);
        if (moved > 0 && offset == -1) direct::lseek(fd, at + moved, SEEK_SET);
        return moved;
    }
};
using read_next = descriptor<reads_next>;
using write_next = descriptor<writes_next>;
using read_at = descriptor<reads_at>;
using write_at = descriptor<writes_at>;
using read_pieces = descriptor<reads_pieces>;
using write_pieces = descriptor<writes_pieces>;

/// copy_file_range, splice and sendfile, where either side is a backend's: piece by piece, by the kernel where the
/// backend can have it do so between files, else through our own memory. What is there ends it, not what was asked for:
/// behind a short read a pipe may be empty for long.
struct copy {
    owned_file source, destination;

    bool either(int from, int to) {
        source = backends::owner_of(from);
        destination = backends::owner_of(to);
        return source || destination;
    }
    /// `may_wait`: for a pipe. Otherwise so little is moved at a time that a pipe with any room takes it.
    int64_t move(int from, off_t* from_offset, int to, off_t* to_offset, size_t bytes, bool may_wait = true) const {
        char part[little];
        return move_by(part, may_wait ? sizeof part : PIPE_BUF, from, from_offset, to, to_offset, bytes, may_wait);
    }
    /// Between files.
    int64_t move_much(int from, off_t* from_offset, int to, off_t* to_offset, size_t bytes) const {
        constexpr size_t much = 65536;  // more would be sums over more of a log
        if (bytes <= little) return move(from, from_offset, to, to_offset, bytes);
        void* part = nullptr;
        size_t moved = 0;
        int64_t more = 0;
        // Where the kernel moves nothing, it is asked less and less often.
        constexpr int most_pause = 64;
        int pause = 1;
        int until_next = 0;
        while (moved < bytes) {
            more = until_next > 0 ? 0 : move_within_kernel(from, from_offset, to, to_offset, bytes - moved);
            if (more > 0) {
                pause = 1;
            } else {
                until_next = until_next > 0 ? until_next - 1 : std::exchange(pause, std::min(2 * pause, most_pause));
                if (part == nullptr) part = direct::map_memory(much);
                const size_t wanted = std::min(bytes - moved, much);
                more = part == nullptr
                           ? move(from, from_offset, to, to_offset, wanted)
                           : move_by(static_cast<char*>(part), much, from, from_offset, to, to_offset, wanted, true);
                if (more < static_cast<int64_t>(wanted)) break;
            }
            moved += static_cast<size_t>(more);
            more = 0;
        }
        if (part != nullptr) direct::call(SYS_munmap, direct::address(part), much);
        return moved > 0 ? static_cast<int64_t>(moved) + std::max(int64_t{0}, more) : more;
    }

  protected:
    /// The kernel moves nothing to the end of a file by these calls: a piece behind another one would not be one write.
    [[nodiscard]] bool appends(int to) const {
        return destination ? destination.appends() : (direct::flags_of(to) & O_APPEND) != 0;
    }

    /// What the kernel's descriptor stands for.
    static bool is_a(mode_t type, int fd) {
        struct stat found {};
        return direct::call(SYS_fstat, fd, direct::address(&found)) == 0 && (found.st_mode & S_IFMT) == type;
    }

  private:
    static constexpr size_t little = 16384;  // on a stack that may be small

    int64_t move_by(char* part, size_t most, int from, off_t* from_offset, int to, off_t* to_offset, size_t bytes,
                    bool may_wait) const {
        size_t moved = 0;
        while (moved < bytes) {
            const size_t wanted = bytes - moved < most ? bytes - moved : most;
            if (!may_wait && !(is_ready(from, POLLIN) && is_ready(to, POLLOUT)))
                return moved > 0 ? static_cast<int64_t>(moved) : -EAGAIN;
            const int64_t got = take(from, from_offset, part, wanted);
            if (got <= 0) return moved > 0 ? static_cast<int64_t>(moved) : got;
            const int64_t put = give(to, to_offset, part, static_cast<size_t>(got));
            if (put < got) {  // what was read and not written is read again
                const int64_t again = got - (put < 0 ? 0 : put);
                if (from_offset != nullptr)
                    *from_offset -= again;
                else
                    direct::lseek(from, -again, SEEK_CUR);
                if (put < 0) return moved > 0 ? static_cast<int64_t>(moved) : put;
                return static_cast<int64_t>(moved) + put;
            }
            moved += static_cast<size_t>(got);
            if (static_cast<size_t>(got) < wanted) break;
        }
        return static_cast<int64_t>(moved);
    }
    /// Some of the bytes; 0: none, for whatever reason.
    int64_t move_within_kernel(int from, off_t* from_offset, int to, off_t* to_offset, size_t bytes) const {
        constexpr size_t most = size_t{8} << 20;  // others may wait for the file
        const auto wanted = static_cast<int64_t>(std::min(bytes, most));
        if (source && !destination && source.may_read()) {
            const auto copy = [&](int64_t at) {
                return source.backend().copy_out(source.opened(), at, wanted, to, to_offset);
            };
            const int64_t moved = from_offset == nullptr ? at_position(from, wanted, copy) : copy(*from_offset);
            if (moved > 0 && from_offset != nullptr) *from_offset += moved;
            return std::max(int64_t{0}, moved);
        }
        if (!source && destination && destination.may_write()) {
            const int64_t begin = from_offset == nullptr ? direct::lseek(from, 0, SEEK_CUR) : *from_offset;
            if (begin < 0) return 0;
            const auto copy = [&](int64_t at) {
                return destination.backend().copy_in(destination.opened(), at, wanted, from, begin);
            };
            const int64_t moved = to_offset == nullptr ? at_position(to, wanted, copy) : copy(*to_offset);
            if (moved <= 0) return 0;
            if (to_offset != nullptr) *to_offset += moved;
            if (from_offset != nullptr)
                *from_offset += moved;
            else
                direct::lseek(from, moved, SEEK_CUR);
            return moved;
        }
        return 0;
    }
    static bool is_ready(int fd, short event) {
        pollfd one{fd, event, 0};
        const timespec at_once{};
        return direct::call(SYS_ppoll, direct::address(&one), 1, direct::address(&at_once), 0, 0) > 0;
    }
    int64_t take(int from, off_t* offset, char* out, size_t bytes) const {
        const iovec piece{out, bytes};
        int64_t got = 0;
        if (!source)
            got = offset == nullptr
                      ? direct::read(from, out, bytes)
                      : direct::call(SYS_pread64, from, direct::address(out), static_cast<long>(bytes), *offset);
        else
            got = offset == nullptr ? read_here(source, from, piece) : read_from(source, &piece, 1, *offset);
        if (got > 0 && offset != nullptr) *offset += got;
        return got;
    }
    int64_t give(int to, off_t* offset, const char* data, size_t bytes) const {
        const iovec piece{const_cast<char*>(data), bytes};
        int64_t put = 0;
        if (!destination)
            put = offset == nullptr ? direct::call(SYS_write, to, direct::address(data), static_cast<long>(bytes))
                                    : direct::pwrite(to, data, bytes, *offset);
        else
            put = offset == nullptr ? write_here(destination, to, piece) : write_to(destination, &piece, 1, *offset);
        if (put > 0 && offset != nullptr) *offset += put;
        return put;
    }
};
/// Where one side is a pipe, as splice; else as copy_file_range.
struct copy_range : copy {
    bool claims(int from, const off_t*, int to, const off_t*, size_t, unsigned) { return either(from, to); }
    int64_t perform(int from, off_t* from_offset, int to, off_t* to_offset, size_t bytes, unsigned flags) const {
        const bool takes = !source && is_a(S_IFIFO, from);
        const bool gives = !destination && is_a(S_IFIFO, to);
        if (!takes && !gives) {
            if (flags != 0) return -EINVAL;
            if (appends(to)) return -EBADF;
            if (overlaps(from, from_offset, to, to_offset, bytes)) return -EINVAL;
            return move_much(from, from_offset, to, to_offset, bytes);
        }
        if ((takes && from_offset != nullptr) || (gives && to_offset != nullptr)) return -ESPIPE;
        if (appends(to)) return -EINVAL;
        return move(from, from_offset, to, to_offset, bytes, (flags & SPLICE_F_NONBLOCK) == 0);
    }

  private:
    /// One file is both, and what is read would be what was written a moment before.
    [[nodiscard]] bool overlaps(int from, const off_t* from_offset, int to, const off_t* to_offset,
                                size_t bytes) const {
        struct stat one {};
        struct stat other {};
        if (!source || !destination || source.backend().stat(source.opened(), one) != 0 ||
            destination.backend().stat(destination.opened(), other) != 0 || one.st_ino != other.st_ino ||
            one.st_dev != other.st_dev)
            return false;
        const int64_t begin = from_offset != nullptr ? *from_offset : direct::lseek(from, 0, SEEK_CUR);
        const int64_t there = to_offset != nullptr ? *to_offset : direct::lseek(to, 0, SEEK_CUR);
        // As much as there is.
        const int64_t length =
            std::min(static_cast<int64_t>(std::min<uint64_t>(bytes, INT64_MAX)), one.st_size - begin);
        return length > 0 && begin < there + length && there < begin + length;
    }
};
struct send_file : copy {
    bool claims(int to, int from, const off_t*, size_t) { return either(from, to); }
    int64_t perform(int to, int from, off_t* offset, size_t bytes) const {
        if (appends(to)) return -EINVAL;
        const bool is_between_files = (source || is_a(S_IFREG, from)) && (destination || is_a(S_IFREG, to));
        return is_between_files ? move_much(from, offset, to, nullptr, bytes) : move(from, offset, to, nullptr, bytes);
    }
};

// --- position, size, durability ---

struct seeks {
    static int64_t of(const owned_file& file, int fd, off_t offset, int whence) {
        return seek_to(file, fd, offset, whence);
    }
};
using seek = descriptor<seeks>;

template <bool data_only>
struct syncs {
    template <class... Rest>
    static int64_t of(const owned_file& file, int, Rest...) {
        return file.backend().sync(file.opened(), data_only);
    }
};
using sync_file = descriptor<syncs<false>>;
using sync_data = descriptor<syncs<true>>;

struct resizes {
    static int64_t of(const owned_file& file, int, off_t bytes) {
        if (!file.may_write() || bytes < 0) return -EINVAL;
        return file.backend().resize(file.opened(), bytes);
    }
    static int64_t at(file_backend& of, const char* path, off_t bytes) {
        if (bytes < 0) return -EINVAL;
        file_backend::handle opened = 0;
        if (const int failed = of.open(path, O_WRONLY, 0, opened); failed != 0) return failed;
        const int failed = of.resize(opened, bytes);
        of.close(opened);
        return failed;
    }
};
using resize_descriptor = descriptor<resizes>;
using resize_path = path<resizes>;

struct reserves {
    static int64_t of(const owned_file& file, int, int mode, off_t offset, off_t bytes) {
        if (!file.may_write()) return -EBADF;
        if (offset < 0 || bytes <= 0) return -EINVAL;
        return file.backend().reserve(file.opened(), mode, offset, bytes);
    }
};
/// Returns the error instead of setting errno.
struct reserves_returning_error {
    static int of(const owned_file& file, int fd, off_t offset, off_t bytes) {
        return static_cast<int>(-reserves::of(file, fd, 0, offset, bytes));
    }
};
using reserve = descriptor<reserves>;
using reserve_returning_error = descriptor<reserves_returning_error>;

using ignore = descriptor<ignores>;
using refuse_control = descriptor<refuses<ENOTTY>>;
using refuse_on_descriptor = descriptor<refuses<EOPNOTSUPP>>;
using refuse_on_path = path<refuses<EOPNOTSUPP>>;
using refuse_on_path_from = path_from<refuses<EOPNOTSUPP>>;

}  // namespace halcyon::calls::operations
