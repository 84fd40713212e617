#pragma once

#include <signal.h>
#include <sys/types.h>

#include <cerrno>
#include <cstdint>

namespace halcyon::logfs {

/// Whether a process of this host, as it is up now, has this number.
inline bool is_alive(int64_t pid) {
    if (pid <= 0 || pid != static_cast<pid_t>(pid)) return false;
    return ::kill(static_cast<pid_t>(pid), 0) == 0 || errno == EPERM;
}

}  // namespace halcyon::logfs
