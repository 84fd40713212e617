#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/error.hpp"

namespace halcyon::logfs {

/// The type of our mounts, as the system lists it.
inline constexpr const char* mount_type = "fuse.halcyon";

/// A mount that this process sees.
struct known_mount {
    std::string point;
    std::string type;
    std::string source;
    std::string device;  ///< `0:51`
};

/// What lies uppermost at a path; none: nothing is mounted there.
std::optional<known_mount> mount_at(const std::string& point);

/// Whether it is still what programs see at its path.
bool is_in_tree(const known_mount& what);

/// A path without links. Also of a mount point whose process has ended, of which the system says nothing else.
result<std::string> real_mount_point(const std::string& path);

/// Whether nobody serves what is mounted there any more.
bool is_abandoned(const std::string& point);

enum class when_busy : uint8_t {
    fail,
    detach,  ///< it has no name from now on, and ends when the last program has closed its last file
};

/// Takes a mount out of the tree, as root or by fusermount3. Failure (system): EBUSY, programs use it.
result<void> detach(const std::string& point, when_busy what);

/// What `--unmount` does: the mount is gone on return, and the process that served it has ended, unless programs still
/// use it (when_busy::detach). Failure (usage): no mount of ours is there; system: EBUSY.
result<void> unmount(const std::string& path, when_busy what);

}  // namespace halcyon::logfs
