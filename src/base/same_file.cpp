#include "base/same_file.hpp"

#include <sys/stat.h>

#include <cerrno>

namespace halcyon {

bool leads_to(const std::string& path, int fd) {
    struct stat there {
    }, held{};
    if (::stat(path.c_str(), &there) != 0) return errno != ENOENT && errno != ENOTDIR && errno != ESTALE;
    // What is held open keeps its number: no other file has got it meanwhile.
    if (::fstat(fd, &held) != 0) return errno != ESTALE;
    return there.st_dev == held.st_dev && there.st_ino == held.st_ino;
}

}  // namespace halcyon
