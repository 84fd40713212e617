#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <cstdint>

namespace halcyon::logfs {

/// What makes two names the same file.
struct file_key {
    uint64_t device = 0;
    uint64_t inode = 0;

    friend bool operator==(const file_key&, const file_key&) = default;
};

inline file_key key_of(const struct stat& status) {
    return {status.st_dev, status.st_ino};
}

struct hash_of_key {
    size_t operator()(const file_key& of) const { return (of.inode * 0x9E3779B97F4A7C15u) ^ of.device; }
};

}  // namespace halcyon::logfs
