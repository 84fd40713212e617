#pragma once

#include "calls/memory_backend/file_data.hpp"
#include "calls/memory_backend/space.hpp"

namespace halcyon::calls::in_memory {

/// mmap(2) of a file whose chunks are all there: the address, or -errno. Chunks that lie side by side become one
/// mapping. Pages behind the end of the file are zeros, and no part of it.
int64_t map_chunks(const space& of, int memory, const file_data& data, const inode& node, void* at, int64_t bytes,
                   int protection, int flags, int64_t offset);

}  // namespace halcyon::calls::in_memory
