#include "base/directory_trial.hpp"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <vector>

#include "base/descriptor.hpp"

namespace halcyon {
namespace {

namespace fs = std::filesystem;

/// Each name alone: a directory that can be made in `place` can be made in what is made there.
result<void> try_names(const fs::path& parent, const std::string& place, const std::vector<fs::path>& names) {
    const descriptor at(::open(place.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!at) return system_failure(parent.string(), errno);
    for (const fs::path& name : names) {
        if (::mkdirat(at.get(), name.c_str(), 0700) != 0) return system_failure((parent / name).string(), errno);
        ::unlinkat(at.get(), name.c_str(), AT_REMOVEDIR);
    }
    return {};
}

}  // namespace

result<void> try_directory(const fs::path& directory) {
    std::error_code why;  // of a path that is too long, or of links in a circle
    if (!fs::exists(directory, why) && why) return system_failure(directory.string(), why.value());
    fs::path nearest = directory;
    std::vector<fs::path> missing;
    for (std::error_code none; nearest.has_relative_path() && !fs::exists(nearest, none);
         nearest = nearest.parent_path()) {
        // A link that leads nowhere is in the way as much as a file.
        if (fs::is_symlink(fs::symlink_status(nearest, none))) return system_failure(nearest.string(), ENOENT);
        if (nearest.has_filename()) missing.push_back(nearest.filename());
    }
    struct stat before {};
    if (::stat(nearest.c_str(), &before) != 0) return system_failure(nearest.string(), errno);
    std::string place = (nearest / ".halcyon-check-XXXXXX").string();
    if (::mkdtemp(place.data()) == nullptr) return system_failure(nearest.string(), errno);
    auto tried = try_names(nearest, place, missing);
    ::rmdir(place.c_str());
    const timespec times[] = {before.st_atim, before.st_mtim};
    ::utimensat(AT_FDCWD, nearest.c_str(), times, 0);
    return tried;
}

}  // namespace halcyon
