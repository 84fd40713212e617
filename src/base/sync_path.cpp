#include "base/sync_path.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "base/descriptor.hpp"

namespace halcyon {

result<void> sync_file(const std::string& path) {
    const descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file || ::fsync(file.get()) != 0) return system_failure(path + ": cannot sync", errno);
    return {};
}

result<void> sync_directory(const std::string& path) {
    const descriptor directory(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    // Some file systems cannot sync a directory (EINVAL); their rename is as durable as it gets.
    if (!directory || (::fsync(directory.get()) != 0 && errno != EINVAL))
        return system_failure(path + ": cannot sync the directory", errno);
    return {};
}

}  // namespace halcyon
