#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <ctime>

#include "logfs/backend/log_node.hpp"

/// State of the logical file, of a node that is ready and locked. Mode, owner and times are those of the marker; what
/// was written later than these were set last counts more for the times. 0, or -errno.
namespace halcyon::logfs::attributes {

int read(log_node& of, struct stat& out);
int set_mode(log_node& of, mode_t mode);
int set_owner(log_node& of, uid_t user, gid_t group);
/// tv_nsec UTIME_OMIT stays.
int set_times(log_node& of, const timespec times[2]);

}  // namespace halcyon::logfs::attributes
