#pragma once

#include <fcntl.h>

#include "calls/state/direct_call.hpp"

/// The access mode that a program asked for, at a descriptor of the kernel's that stands for a backend's file and has
/// another mode. It goes wherever the descriptor goes: the kernel keeps it for the open file, as the number of the
/// signal that nobody asks it to send (F_SETSIG). A descriptor that has it stands for a backend's file.
namespace halcyon::calls::backends {

inline void keep_access(int fd, int flags) {
    direct::call(SYS_fcntl, fd, F_SETSIG, 1 + (flags & O_ACCMODE));
}

/// Below 0: none is kept.
inline int kept_access(int fd) {
    const long kept = direct::call(SYS_fcntl, fd, F_GETSIG);
    return kept >= 1 && kept <= 1 + O_RDWR ? static_cast<int>(kept - 1) : -1;
}

}  // namespace halcyon::calls::backends
