#pragma once

#include <cstddef>
#include <cstdint>

#include "logfs/backend/log_node.hpp"

namespace halcyon::logfs {

/// As mmap(2) is given them.
struct mapped_part {
    void* at;
    size_t bytes;
    int protection;
    int flags;
    int64_t offset;
};

/// mmap of a part of a container: of a copy, which shows what the file holds at this moment. A shared mapping of it can
/// never be made writable: what would be stored there would be lost. The address, or -errno.
///
/// The copy lies in memory up to `most_bytes` (0: a quarter of what is available), else in a file without a name in
/// TMPDIR, from which the kernel keeps in memory what fits. -ENOMEM where that is in memory, too.
int64_t map_copy(log_node& of, const mapped_part& part, int64_t most_bytes);

}  // namespace halcyon::logfs
