#pragma once

#include <sys/stat.h>

namespace halcyon::logfs {

inline bool is_same_file(const struct stat& a, const struct stat& b) {
    return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

}  // namespace halcyon::logfs
