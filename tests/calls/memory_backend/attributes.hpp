#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <cstdint>
#include <ctime>

#include "calls/memory_backend/space.hpp"

/// What stat(2) shows of an inode, and chmod(2), chown(2) and utimensat(2) change.
namespace halcyon::calls::in_memory::attributes {

void show(const space& of, uint32_t number, struct stat& out);
void set_mode(inode& node, unsigned mode);
/// -1 leaves a user or a group as it is.
void set_owner(inode& node, uid_t user, gid_t group);
/// Of the last access and of the last change of the data. UTIME_NOW is a time, and UTIME_OMIT leaves one as it is.
void set_times(inode& node, const timespec times[2]);

}  // namespace halcyon::calls::in_memory::attributes
