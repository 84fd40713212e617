#include "logfs/api/status_of.hpp"

#include <sys/stat.h>

#include <cstddef>

#include "base/sized_struct.hpp"

namespace halcyon::logfs::api {

result<void> give_status(const char* call, log_file& of, halcyon_logfs_status_t& to) {
    constexpr size_t own_bytes = offsetof(halcyon_logfs_status_t, bytes);
    if (auto sized = check_size(call, "halcyon_logfs_status_t", to, own_bytes); !sized) return sized;
    struct stat found {};
    if (auto asked = of.status(found); !asked) return asked;
    halcyon_logfs_status_t filled{};
    filled.bytes = found.st_size;
    filled.modified_ns = int64_t{found.st_mtim.tv_sec} * 1'000'000'000 + found.st_mtim.tv_nsec;
    filled.device = found.st_dev;
    filled.inode = found.st_ino;
    filled.permissions = found.st_mode & 07777;
    filled.user = found.st_uid;
    filled.group = found.st_gid;
    filled.is_plfs = of.of().is_plfs() ? 1 : 0;
    give(filled, to, own_bytes);
    return {};
}

}  // namespace halcyon::logfs::api
