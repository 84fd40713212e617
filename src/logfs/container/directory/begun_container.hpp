#pragma once

#include <string_view>

#include "logfs/container/files/file_calls.hpp"

namespace halcyon::logfs {

/// Begins the name of a container that is being created: not with its own name, which may be as long as names can be.
inline constexpr std::string_view begun_prefix = ".halcyon-begun-";

/// Where directories are not renamed as a whole (file_systems.hpp), a container has its name a moment before its
/// marker.
///
/// Whether `folder`, a directory below `directory` (AT_FDCWD, or a descriptor) that is no container, becomes one: as
/// long as there is nothing in it but a marker without text, this waits, 5 s at most. Elsewhere it does not look.
[[nodiscard]] bool becomes_container(file_calls& calls, int directory, const char* folder);

}  // namespace halcyon::logfs
