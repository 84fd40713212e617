#pragma once

#include <dirent.h>
#include <fcntl.h>

#include <cerrno>
#include <cstring>
#include <string_view>

#include "logfs/container/files/file_calls.hpp"
#include "logfs/container/files/memory_source.hpp"

namespace halcyon::logfs {

/// Calls `visit(name)` for everything in a directory but "." and "..", for as long as it returns 0. Returns what visit
/// did last, or -errno.
template <class Visit>
int names_in(file_calls& calls, memory_source& memory, int directory, const char* name, Visit visit) {
    constexpr size_t room = 32768;
    const int fd = calls.open_at(directory, name, O_RDONLY | O_DIRECTORY, 0);
    if (fd < 0) return fd;
    auto* const entries = static_cast<char*>(memory.take(room));
    int done = entries == nullptr ? -ENOMEM : 0;
    while (done == 0) {
        const int64_t bytes = calls.list(fd, entries, room);
        if (bytes <= 0) {
            done = static_cast<int>(bytes);
            break;
        }
        for (int64_t at = 0; at < bytes && done == 0;) {
            const auto* const entry = reinterpret_cast<const dirent64*>(entries + at);
            at += entry->d_reclen;
            const std::string_view found(entry->d_name);
            if (found != "." && found != "..") done = visit(found);
        }
    }
    if (entries != nullptr) memory.give_back(entries, room);
    calls.close(fd);
    return done;
}

}  // namespace halcyon::logfs
