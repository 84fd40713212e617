#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <ctime>

#include "base/error.hpp"
#include "logfs/container/directory/container.hpp"

namespace halcyon::logfs {

/// What the indexes of a container say of the logical file as a whole.
struct written_state {
    int64_t bytes = 0;
    int64_t latest_ns = 0;  ///< when it was written last, since 1970; 0: never
};

/// As stat(2) of the logical file: device and inode are the container's directory's, mode and owner the marker's. Its
/// time of modification is that of the last write, or the one that set_times() gave it after that.
result<void> read_status(const container& of, const written_state& written, struct stat& out);

/// As utimensat(2) of the logical file, UTIME_NOW and UTIME_OMIT, too. The times hold until something is written that
/// is later than `written`. Failure (system): EPERM, EACCES, as the kernel's for a file of this owner and mode.
result<void> set_times(container& of, const written_state& written, const timespec times[2]);

}  // namespace halcyon::logfs
