#pragma once

#include <string>

namespace halcyon {

/// False: the path leads to another file or directory than the open descriptor, or to nothing, because what it led to
/// was deleted, moved, or lies under a file system that was mounted or unmounted. True when the system cannot tell.
bool leads_to(const std::string& path, int fd);

}  // namespace halcyon
