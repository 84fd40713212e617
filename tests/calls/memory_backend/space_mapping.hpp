#pragma once

#include <cstdint>

#include "calls/memory_backend/space.hpp"

namespace halcyon::calls::in_memory {

/// A memfd, which programs that this one becomes or starts inherit; or -errno.
int make_memory();

/// mmap(2) of the space in the memfd `memory`, by the first process with room for `capacity` bytes of data, in chunks.
/// 0, or -errno.
int map_space(int memory, int64_t capacity, space*& mapped);

}  // namespace halcyon::calls::in_memory
