#pragma once

#include <sys/stat.h>

#include <string_view>

#include "logfs/container/files/file_calls.hpp"

namespace halcyon::logfs {

/// Begins the name of a container that is being created: not with its own name, which may be as long as names can be.
inline constexpr std::string_view begun_prefix = ".halcyon-begun-";

/// Where directories are not renamed as a whole (file_systems.hpp), a container has its name a moment before its
/// marker. Until it has both, its directory has this bit of the mode.
inline constexpr mode_t begun_mode = S_ISVTX;

/// Whether `folder`, a directory below `directory` (AT_FDCWD, or a descriptor) that is no container, becomes one: as
/// long as there is nothing in it but a marker without text, this waits, 5 s at most. Elsewhere it does not look.
[[nodiscard]] bool becomes_container(file_calls& calls, int directory, const char* folder);

/// Likewise, for who only looks at what has this mode: an empty directory of the user is not waited for, and neither is
/// one that has not changed for a minute, which a killed process left.
[[nodiscard]] bool becomes_container(file_calls& calls, int directory, const char* folder, const struct stat& there);

}  // namespace halcyon::logfs
