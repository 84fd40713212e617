#pragma once

#include <string_view>

namespace halcyon::logfs {

/// Names that programs do not see: containers that are being created, flattened or removed.
inline constexpr std::string_view hidden_prefix = ".halcyon-";

inline bool is_hidden(std::string_view name) {
    return name.starts_with(hidden_prefix);
}

/// In the mount's root, not listed: a symbolic link whose target is the number of the process that serves the mount.
inline constexpr std::string_view about_name = ".halcyon-mount";

}  // namespace halcyon::logfs
