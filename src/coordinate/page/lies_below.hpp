#pragma once

#include <string_view>

namespace halcyon::coordinate {

/// Whether the path is the folder, or lies below it. Both are absolute; the folder has no slash at its end but "/".
inline bool lies_below(std::string_view path, std::string_view folder) {
    return path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/' || folder == "/");
}

}  // namespace halcyon::coordinate
