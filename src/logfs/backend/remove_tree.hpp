#pragma once

#include "logfs/container/format/dropping_name.hpp"

namespace halcyon::logfs {

/// `/.halcyon-removed-…`: a name for a container that has none any more, which no other process gives.
short_name removed_name();

/// Removes a directory with all that is in it, as far as that may be; 0, or -errno.
int remove_tree(int directory, const char* name);

/// Removes what is left below a directory of containers that a killed process was creating or replacing, or that nobody
/// has open any more: names that no listing shows. `all`: also what may have begun a moment ago.
void sweep(const char* directory, bool all);

}  // namespace halcyon::logfs
