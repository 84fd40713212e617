#pragma once

#include <linux/magic.h>

#include <cstdint>

/// What is known of kinds of file systems, by their type as statfs(2) has it. Of a type below 0, which nobody knows,
/// nothing is.
namespace halcyon::logfs {

// The kernel's headers do not know all of them.
inline constexpr int64_t fuse_magic = 0x65735546;
inline constexpr int64_t cifs_magic = 0xff534d42;
inline constexpr int64_t smb2_magic = 0xfe534d42;
inline constexpr int64_t ceph_magic = 0x00c36400;
inline constexpr int64_t beegfs_magic = 0x19830326;
inline constexpr int64_t zfs_magic = 0x2fc12fc1;
inline constexpr int64_t bcachefs_magic = 0xca451a4e;

/// Whether one node has it for itself: a lock that holds here holds for all who may have the file.
constexpr bool is_of_one_node(int64_t file_system) {
    switch (file_system) {
        case EXT4_SUPER_MAGIC:
        case XFS_SUPER_MAGIC:
        case BTRFS_SUPER_MAGIC:
        case F2FS_SUPER_MAGIC:
        case TMPFS_MAGIC:
        case RAMFS_MAGIC:
        case OVERLAYFS_SUPER_MAGIC:
        case zfs_magic:
        case bcachefs_magic:
            return true;
        default:
            return false;
    }
}

/// Whether it keeps a page of a mapped file to one node until it is synced.
constexpr bool keeps_mapped_pages(int64_t file_system) {
    switch (file_system) {
        case NFS_SUPER_MAGIC:
        case SMB_SUPER_MAGIC:
        case V9FS_MAGIC:
        case fuse_magic:
        case cifs_magic:
        case smb2_magic:
        case ceph_magic:
        case beegfs_magic:
            return true;
        default:
            return false;
    }
}

/// Whether a host may show, for a second or more, a file as it was before another host changed it: it keeps sizes,
/// times and contents, and asks for them anew only now and then. Not Ceph, whose servers take back what hosts keep.
constexpr bool is_seen_late(int64_t file_system) {
    return keeps_mapped_pages(file_system) && file_system != ceph_magic;
}

/// Whether a file system of this type stores what is changed where it was, so that a store into a mapped file needs no
/// room on the device, and bytes that were reserved can be stored again and again. Not btrfs, ZFS and their like, which
/// write each change to a new place: once they are full, a store into a mapped file ends the process (SIGBUS).
constexpr bool is_rewritten_in_place(int64_t file_system) {
    return file_system >= 0 && file_system != BTRFS_SUPER_MAGIC && file_system != NILFS_SUPER_MAGIC &&
           file_system != zfs_magic && file_system != bcachefs_magic;
}

/// How long a piece of a file has to be at least, so that copy_file_range is worth its while where the copy lies on a
/// file system of this type. Those that let files share their blocks, or have a server copy, would make many parts of a
/// copy out of small pieces.
constexpr int64_t least_copied_bytes(int64_t file_system) {
    switch (file_system) {
        case EXT4_SUPER_MAGIC:
        case F2FS_SUPER_MAGIC:
        case TMPFS_MAGIC:
        case RAMFS_MAGIC:
            return 16384;
        default:
            return int64_t{1} << 20;
    }
}

/// Whether others see a directory with what is in it under its old name or under its new one, and of several that are
/// given one name at a time only one gets it. Not GlusterFS, which, like others that FUSE shows, renames one storage
/// host's part of a directory after the other's.
constexpr bool has_whole_renames(int64_t file_system) {
    return file_system != fuse_magic;
}

}  // namespace halcyon::logfs
