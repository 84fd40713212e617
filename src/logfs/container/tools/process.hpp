#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sys/types.h>

#include <cerrno>
#include <cstdint>

#include "base/descriptor.hpp"
#include "logfs/container/directory/container.hpp"
#include "logfs/container/directory/open_mark.hpp"

namespace halcyon::logfs {

/// Whether a process of this host, as it is up now, has this number.
inline bool is_alive(int64_t pid) {
    if (pid <= 0 || pid != static_cast<pid_t>(pid)) return false;
    return ::kill(static_cast<pid_t>(pid), 0) == 0 || errno == EPERM;
}

/// Whether a process says that it has the container open (directory/open_mark.hpp), wherever it is: as far as the locks
/// of the file system reach.
inline bool is_held_open(container& what) {
    const descriptor marker(what.calls().open_at(what.directory(), what.access_name(), O_RDONLY, 0));
    struct flock open {};
    open.l_type = F_WRLCK;
    open.l_whence = SEEK_SET;
    open.l_start = open_place;
    open.l_len = 1;
    return marker && ::fcntl(marker.get(), F_OFD_GETLK, &open) == 0 && open.l_type != F_UNLCK;
}

}  // namespace halcyon::logfs
