#pragma once

#include <fuse_lowlevel.h>
#include <sys/stat.h>

#include "logfs/mount/state/mounted.hpp"

namespace halcyon::logfs {

/// For as long the kernel may answer by itself.
inline constexpr double kernel_remembers_s = 1.0;

/// Of a node, as programs see it; 0 or a positive errno.
int status_of(mounted& in, node& of, struct stat& out);

/// What has the name in a folder: the kernel knows it from now on. 0 or a positive errno.
///
/// A container that cannot be read is there nevertheless, so that it can be renamed and removed: its status is asked
/// for again, and is a failure then.
int make_entry(mounted& in, node& folder, const char* name, fuse_entry_param& out);

/// Answers by such an entry.
void reply_entry(fuse_req_t request, node& folder, const char* name);

/// The link that names this process.
void fill_about(mounted& in, fuse_entry_param& out);

}  // namespace halcyon::logfs
