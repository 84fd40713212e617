#pragma once

#include <sys/uio.h>

#include <cerrno>
#include <climits>

#include "calls/backends/backend_files.hpp"
#include "calls/state/direct_call.hpp"
#include "calls/state/given_memory.hpp"

/// What reads and writes a backend's file through a descriptor, whoever asks: a wrapper, or a stream of the C library.
/// Each returns what the system call does: -errno where it fails.
namespace halcyon::calls::backends {

/// None of pieces that the kernel would refuse to look at: then -errno.
inline int64_t total_of(const iovec* pieces, int count) {
    if (count < 0 || count > IOV_MAX) return -EINVAL;
    if (!given::is_readable(pieces, static_cast<size_t>(count) * sizeof *pieces)) return -EFAULT;
    int64_t sum = 0;
    for (int i = 0; i < count; ++i) sum += static_cast<int64_t>(pieces[i].iov_len);
    return sum < 0 ? -EINVAL : sum;
}

/// The kernel keeps the position, of all duplicates in all processes; a transfer takes its part of it in one step, and
/// gives back what it did not need.
template <class Transfer>
int64_t at_position(int fd, int64_t bytes, Transfer transfer) {
    if (bytes == 0) return 0;
    const int64_t end = direct::lseek(fd, bytes, SEEK_CUR);
    if (end < 0) return end;
    const int64_t moved = transfer(end - bytes);
    if (moved != bytes) direct::lseek(fd, (moved < 0 ? 0 : moved) - bytes, SEEK_CUR);
    return moved;
}

/// `bytes`: of all pieces, which nobody has to be asked about.
inline int64_t read_here(const owned_file& file, int fd, const iovec* pieces, int count, int64_t bytes) {
    if (!file.may_read()) return -EBADF;
    return at_position(
        fd, bytes, [&](int64_t offset) { return int64_t{file.backend().read(file.opened(), pieces, count, offset)}; });
}

inline int64_t write_here(const owned_file& file, int fd, const iovec* pieces, int count, int64_t bytes) {
    if (!file.may_write()) return -EBADF;
    if (!file.appends())
        return at_position(fd, bytes, [&](int64_t offset) {
            return int64_t{file.backend().write(file.opened(), pieces, count, offset)};
        });
    int64_t offset = 0;
    const int64_t moved = file.backend().append(file.opened(), pieces, count, offset);
    if (moved > 0) direct::lseek(fd, offset + moved, SEEK_SET);
    return moved;
}

/// Of an application's pieces.
inline int64_t read_here(const owned_file& file, int fd, const iovec* pieces, int count) {
    if (!file.may_read()) return -EBADF;
    const int64_t bytes = total_of(pieces, count);
    return bytes < 0 ? bytes : read_here(file, fd, pieces, count, bytes);
}
inline int64_t write_here(const owned_file& file, int fd, const iovec* pieces, int count) {
    if (!file.may_write()) return -EBADF;
    const int64_t bytes = total_of(pieces, count);
    return bytes < 0 ? bytes : write_here(file, fd, pieces, count, bytes);
}
/// Of one piece that the caller made.
inline int64_t read_here(const owned_file& file, int fd, const iovec& piece) {
    return read_here(file, fd, &piece, 1, static_cast<int64_t>(piece.iov_len));
}
inline int64_t write_here(const owned_file& file, int fd, const iovec& piece) {
    return write_here(file, fd, &piece, 1, static_cast<int64_t>(piece.iov_len));
}

inline int64_t read_from(const owned_file& file, const iovec* pieces, int count, int64_t offset) {
    if (!file.may_read()) return -EBADF;
    return offset < 0 ? -EINVAL : file.backend().read(file.opened(), pieces, count, offset);
}

/// Linux appends what is written at an offset through a descriptor with O_APPEND.
inline int64_t write_to(const owned_file& file, const iovec* pieces, int count, int64_t offset) {
    if (!file.may_write()) return -EBADF;
    if (offset < 0) return -EINVAL;
    if (!file.appends()) [[likely]]
        return file.backend().write(file.opened(), pieces, count, offset);
    return file.backend().append(file.opened(), pieces, count, offset);
}

inline iovec piece_of(const void* data, size_t bytes) {
    constexpr size_t most = 0x7ffff000;  // as the kernel
    return {const_cast<void*>(data), bytes < most ? bytes : most};
}

inline int64_t seek_to(const owned_file& file, int fd, off_t offset, int whence) {
    if (whence == SEEK_SET || whence == SEEK_CUR) return direct::lseek(fd, offset, whence);
    struct stat now {};
    if (const int failed = file.backend().stat(file.opened(), now); failed != 0) return failed;
    if (whence == SEEK_END) return direct::lseek(fd, now.st_size + offset, SEEK_SET);
    if (whence != SEEK_DATA && whence != SEEK_HOLE) return -EINVAL;
    if (offset < 0 || offset >= now.st_size) return -ENXIO;
    const int64_t found = file.backend().next_of(file.opened(), whence, offset, now.st_size);
    return found < 0 ? found : direct::lseek(fd, found, SEEK_SET);
}

}  // namespace halcyon::calls::backends
