#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "coordinate/page/lies_below.hpp"
#include "coordinate/page/page.hpp"

namespace halcyon::coordinate {

inline constexpr size_t no_mount = SIZE_MAX;

/// The file system with the longest mount that the path lies below.
inline size_t mount_of(const page& shared, std::string_view path) {
    size_t found = no_mount, longest = 0;
    for (size_t i = 0; i < shared.known_file_systems(); ++i) {
        const std::string_view mount = shared.file_system[i].mount();
        if (!lies_below(path, mount) || mount.size() <= longest) continue;
        found = i;
        longest = mount.size();
    }
    return found;
}

}  // namespace halcyon::coordinate
