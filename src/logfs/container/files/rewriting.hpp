#pragma once

#include <linux/magic.h>

#include <cstdint>

namespace halcyon::logfs {

/// Whether a file system of this type (statfs) stores what is changed where it was, so that a store into a mapped file
/// needs no room on the device.
constexpr bool is_rewritten_in_place(uint32_t file_system) {
    // The kernel's headers do not know these two.
    constexpr uint32_t zfs_magic = 0x2fc12fc1;
    constexpr uint32_t bcachefs_magic = 0xca451a4e;
    return file_system != BTRFS_SUPER_MAGIC && file_system != NILFS_SUPER_MAGIC && file_system != zfs_magic &&
           file_system != bcachefs_magic;
}

}  // namespace halcyon::logfs
