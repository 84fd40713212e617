#pragma once

#include <dirent.h>
#include <fcntl.h>

#include "calls/state/direct_call.hpp"

namespace halcyon::calls {

/// Goes through a folder by direct system calls, without memory of the application's: `look(folder, name)` of each
/// entry that is not hidden, until one says true, or `most` were looked at (-1: all). False: the folder cannot be read.
template <class Look>
bool each_entry(const char* path, int most, Look look) {
    const int directory = direct::open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0) return false;
    alignas(dirent64) char entries[1024] = {};
    long bytes = 0;
    bool ends = false;
    while (!ends && most != 0 &&
           (bytes = direct::call(SYS_getdents64, directory, direct::address(entries), sizeof entries)) > 0) {
        for (long at = 0; at < bytes && !ends && most != 0;) {
            const auto* entry = reinterpret_cast<const dirent64*>(entries + at);
            at += entry->d_reclen;
            if (entry->d_name[0] == '.') continue;
            ends = look(directory, static_cast<const char*>(entry->d_name));
            if (most > 0) --most;
        }
    }
    direct::close(directory);
    return bytes >= 0;
}

}  // namespace halcyon::calls
