#pragma once

#include <sys/stat.h>
#include <sys/sysmacros.h>

namespace halcyon::logfs {

/// What statx(2) says in its basic statistics, as stat(2) says it.
inline struct stat status_of(const struct statx& said) {
    const auto time = [](const statx_timestamp& at) { return timespec{at.tv_sec, at.tv_nsec}; };
    struct stat out {};
    out.st_dev = makedev(said.stx_dev_major, said.stx_dev_minor);
    out.st_rdev = makedev(said.stx_rdev_major, said.stx_rdev_minor);
    out.st_ino = said.stx_ino;
    out.st_mode = said.stx_mode;
    out.st_nlink = said.stx_nlink;
    out.st_uid = said.stx_uid;
    out.st_gid = said.stx_gid;
    out.st_size = static_cast<off_t>(said.stx_size);
    out.st_blksize = static_cast<blksize_t>(said.stx_blksize);
    out.st_blocks = static_cast<blkcnt_t>(said.stx_blocks);
    out.st_atim = time(said.stx_atime);
    out.st_mtim = time(said.stx_mtime);
    out.st_ctim = time(said.stx_ctime);
    return out;
}

}  // namespace halcyon::logfs
