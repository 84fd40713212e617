#pragma once

#include "base/error.hpp"
#include "logfs/mount/state/mount_options.hpp"

namespace halcyon::logfs {

/// Mounts and serves until the mount is gone: unmounted, or SIGTERM, SIGINT or SIGHUP came. Unless it shall stay in the
/// foreground, the process that called it ends when the mount is there, and another one serves.
///
/// The first such signal takes the mount out of the tree; the process ends when the last program has closed its last
/// file, or at the second one: also where another mount namespace has a copy of the mount.
///
/// Failure: usage, the two paths do not fit together; unavailable, there is no FUSE here; system.
result<void> serve(const mount_options& options);

}  // namespace halcyon::logfs
