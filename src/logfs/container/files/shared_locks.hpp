#pragma once

#include <cstdint>
#include <string_view>

#include "logfs/container/files/file_calls.hpp"

namespace halcyon::logfs {

/// Whether a lock (fcntl) of this open file holds for whoever has the file open, on any node. False where nobody can
/// tell: many a file system of several nodes takes locks, and lets them hold on one of them.
[[nodiscard]] bool has_shared_locks(file_calls& calls, int fd);

/// Likewise, of a mount: its type and the options of its file system, as /proc/self/mountinfo has them.
[[nodiscard]] bool is_mounted_with_shared_locks(std::string_view type, std::string_view options);

/// Of the mount that has this device, in the text of that file. False: there is none.
[[nodiscard]] bool find_shared_locks(std::string_view mounts, uint64_t device);

}  // namespace halcyon::logfs
