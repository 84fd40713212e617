#pragma once

#include <string>
#include <string_view>

#include "base/error.hpp"

namespace halcyon {

/// Puts `text` into the file `path` so that readers see the old contents or the new, never a part: writes a file
/// beside it and renames. Failure (system): the old contents, if any, are still there, and nothing else is left.
result<void> replace_file(const std::string& path, std::string_view text);

}  // namespace halcyon
