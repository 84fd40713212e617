#include "offload/segment/spill.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>

namespace halcyon::offload {

result<void> spill_holds(int fd, uint64_t offset, uint64_t bytes) {
    struct stat about {};
    if (::fstat(fd, &about) != 0) return system_failure("a spill file", errno);
    const auto size = static_cast<uint64_t>(about.st_size);
    if (offset > size || bytes > size - offset)
        return failure{error_kind::system, "spill file ends before the block at " + std::to_string(offset), EIO};
    return {};
}

result<void> read_spilled(int fd, uint64_t offset, void* data, uint64_t bytes) {
    auto* to = static_cast<char*>(data);
    for (uint64_t done = 0; done < bytes;) {
        const ssize_t n = ::pread(fd, to + done, bytes - done, static_cast<off_t>(offset + done));
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return system_failure("reading a spill file", errno);
        if (n == 0)
            return failure{error_kind::system, "spill file ends before the block at " + std::to_string(offset), EIO};
        done += static_cast<uint64_t>(n);
    }
    return {};
}

void discard_spilled(int fd, uint64_t offset, uint64_t bytes) {
    ::fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset), static_cast<off_t>(bytes));
}

}  // namespace halcyon::offload
