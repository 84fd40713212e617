#pragma once

#include <cstddef>
#include <cstdint>

#include "logfs/backend/log_node.hpp"

namespace halcyon::logfs {

/// mmap of a part of a container: of a copy in memory, which shows what the file holds at this moment. A shared mapping
/// of it can never be made writable: what would be stored there would be lost. The address, or -errno.
int64_t map_copy(log_node& of, void* at, size_t bytes, int protection, int flags, int64_t offset);

}  // namespace halcyon::logfs
