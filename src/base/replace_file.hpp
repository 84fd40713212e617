#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.hpp"

namespace halcyon {

/// Whether a file that was replaced is the old or the new one after a power loss, too: else it may be empty then. Takes
/// as long as the disk needs to store it.
enum class lasting : uint8_t { no, yes };

/// Puts `text` into the file `path` so that readers see the old contents or the new, never a part: writes a file
/// beside it and renames. Failure (system): the old contents, if any, are still there, and nothing else is left.
result<void> replace_file(const std::string& path, std::string_view text, lasting stored = lasting::no);

}  // namespace halcyon
