#pragma once

#include "logfs/container/files/file_calls.hpp"

namespace halcyon::logfs {

/// Removes a file, or a directory with all that is in it, as far as that may be: at most so many levels below it. 0;
/// -errno, of the first that could not be removed. Others may remove it at the same time.
int remove_tree(file_calls& calls, int directory, const char* name, int levels);

/// Of a container, which has two, whatever else may have been put into it.
inline constexpr int levels_of_container = 16;

}  // namespace halcyon::logfs
