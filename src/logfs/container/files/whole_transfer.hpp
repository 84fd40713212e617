#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <span>

#include "logfs/container/files/file_calls.hpp"

/// Calls may move fewer bytes than asked for: here again until all are there.
namespace halcyon::logfs {

/// 0, or -errno: then some may be written.
inline int write_whole(file_calls& calls, int fd, std::span<const std::byte> bytes, int64_t offset) {
    while (!bytes.empty()) {
        const iovec rest{const_cast<std::byte*>(bytes.data()), bytes.size()};
        const int64_t written = calls.write_at(fd, &rest, 1, offset);
        if (written <= 0) return written < 0 ? static_cast<int>(written) : -EIO;
        bytes = bytes.subspan(static_cast<size_t>(written));
        offset += written;
    }
    return 0;
}

/// How many: fewer at the end of the file only; -errno.
inline int64_t read_whole(file_calls& calls, int fd, std::span<std::byte> out, int64_t offset) {
    size_t read = 0;
    while (read < out.size()) {
        const iovec rest{out.data() + read, out.size() - read};
        const int64_t more = calls.read_at(fd, &rest, 1, offset + static_cast<int64_t>(read));
        if (more < 0) return more;
        if (more == 0) break;
        read += static_cast<size_t>(more);
    }
    return static_cast<int64_t>(read);
}

/// The beginning of a small file that another host may have written a moment ago: this host may hold it for empty.
inline int64_t read_beginning(file_calls& calls, int fd, std::span<std::byte> out) {
    const int64_t read = read_whole(calls, fd, out, 0);
    if (read != 0 || calls.refresh(fd) != 0) return read;
    return read_whole(calls, fd, out, 0);
}

}  // namespace halcyon::logfs
