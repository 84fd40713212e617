#include "base/sync_path.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

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

result<void> sync_tree(const std::string& path) {
    namespace fs = std::filesystem;
    std::error_code why;
    const fs::file_status status = fs::symlink_status(path, why);
    if (fs::is_symlink(status)) return {};
    if (!fs::is_directory(status)) return sync_file(path);
    for (fs::directory_iterator entry(path, why), end; !why && entry != end; entry.increment(why))
        if (auto done = sync_tree(entry->path().string()); !done) return done;
    if (why) return system_failure(path + ": cannot sync", why.value());
    return sync_directory(path);
}

}  // namespace halcyon
