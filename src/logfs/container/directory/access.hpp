#pragma once

#include <sys/types.h>

#include "base/error.hpp"
#include "logfs/container/directory/container.hpp"

namespace halcyon::logfs {

/// Of a container's directories: those that may read the logical file may search them.
constexpr mode_t directory_mode(mode_t file) {
    return 0700 | (file & 0666) | ((file & 0444) >> 2);
}

/// The logical file has this mode from now on, and those that it lets in may use what is in the container. Failure: the
/// marker's mode is as before, or it is changed and the message names what could not follow.
result<void> set_mode(container& of, mode_t mode);

/// Likewise, its owner and group; -1: as before.
result<void> set_owner(container& of, uid_t user, gid_t group);

}  // namespace halcyon::logfs
