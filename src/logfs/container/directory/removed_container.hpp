#pragma once

#include <cstdint>
#include <string_view>

#include "logfs/container/files/file_calls.hpp"

namespace halcyon::logfs {

/// Begins the name of a container that has none any more that applications know: it was removed while somebody had it
/// open, or whoever removed it was killed.
inline constexpr std::string_view removed_prefix = ".halcyon-removed-";

/// What becomes of such a container on a file system without locks, where nobody can say who has it open.
enum class without_locks : uint8_t { stays, goes };

/// Removes it, unless somebody has it open (open_mark.hpp). False: it stays. `index_folder`: node_folder_named().
bool remove_unused(file_calls& calls, const char* path, std::string_view index_folder, without_locks what_then);

}  // namespace halcyon::logfs
