#include "offload/client/spill_file.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "offload/segment/spill.hpp"

namespace halcyon::offload {
namespace {

result<descriptor> open_unnamed(const std::string& directory) {
    descriptor fd(::open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
    if (fd) return fd;
    if (errno != EOPNOTSUPP && errno != EISDIR)
        return system_failure("resources.buffer.spill-directory " + directory, errno);
    std::string name = directory + "/halcyon-spill-XXXXXX";  // file systems without O_TMPFILE
    fd = descriptor(::mkostemp(name.data(), O_CLOEXEC));
    if (!fd) return system_failure("resources.buffer.spill-directory " + directory, errno);
    ::unlink(name.c_str());
    return fd;
}

}  // namespace

result<uint64_t> spill_file::append(const std::string& directory, const void* data, uint64_t bytes,
                                    uint64_t most_bytes) {
    if (!fd_) {
        auto opened = open_unnamed(directory);
        if (!opened) return opened.why();
        fd_ = std::move(*opened);
    }
    // Blocks taken out again are holes: what counts is what the file occupies now.
    struct stat about {};
    if (::fstat(fd_.get(), &about) != 0) return system_failure("spill file in " + directory, errno);
    const uint64_t occupied = static_cast<uint64_t>(about.st_blocks) * 512;
    if (occupied + bytes > most_bytes)
        return failure{error_kind::system,
                       "spill file in " + directory + ": another " + std::to_string(bytes) + " bytes would exceed " +
                           "resources.buffer.max-spill of " + std::to_string(most_bytes) + " bytes",
                       ENOSPC};
    const uint64_t at = end_;
    // Beyond it the process would be killed.
    rlimit largest{};
    if (::getrlimit(RLIMIT_FSIZE, &largest) == 0 && largest.rlim_cur != RLIM_INFINITY && at + bytes > largest.rlim_cur)
        return failure{error_kind::system,
                       "spill file in " + directory + ": no file may have more than " +
                           std::to_string(largest.rlim_cur) + " bytes (ulimit -f)",
                       EFBIG};
    const auto* from = static_cast<const char*>(data);
    for (uint64_t done = 0; done < bytes;) {
        const ssize_t n = ::pwrite(fd_.get(), from + done, bytes - done, static_cast<off_t>(at + done));
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return system_failure("spill file in " + directory, errno);
        done += static_cast<uint64_t>(n);
    }
    // Whole pages, so that the server can punch out one block without its neighbour.
    end_ = (at + bytes + 4095) / 4096 * 4096;
    return at;
}

result<void> spill_file::read(uint64_t offset, void* data, uint64_t bytes) const {
    return read_spilled(fd_.get(), offset, data, bytes);
}

}  // namespace halcyon::offload
