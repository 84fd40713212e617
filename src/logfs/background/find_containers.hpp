#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace halcyon::logfs {

struct found_containers {
    std::vector<std::string> paths;    ///< in order
    std::vector<std::string> hidden;   ///< that are on their way away: they have no name that applications know
    std::vector<std::string> folders;  ///< in which a process that flattened has left something
    bool is_whole = true;              ///< all directories could be listed
};

/// All containers at or below a directory. Symbolic links are not followed.
found_containers find_containers(const std::string& root);

}  // namespace halcyon::logfs
