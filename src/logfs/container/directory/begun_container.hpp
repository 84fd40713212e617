#pragma once

#include "logfs/container/files/file_calls.hpp"

namespace halcyon::logfs {

/// Where directories are not renamed as a whole (file_systems.hpp), a container has its name a moment before its
/// marker.
///
/// Whether `folder`, a directory below `directory` (AT_FDCWD, or a descriptor) that is no container, becomes one: as
/// long as there is nothing in it but a marker without text, this waits, 5 s at most. Elsewhere it does not look.
[[nodiscard]] bool becomes_container(file_calls& calls, int directory, const char* folder);

}  // namespace halcyon::logfs
