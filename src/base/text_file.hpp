#pragma once

#include <string>

#include "base/error.hpp"

namespace halcyon {

/// The whole of a file, or of what is written into a pipe. Failure (system): `path: reason`, also for a directory, and
/// for a pipe into which nobody writes for 10 s.
result<std::string> read_file(const std::string& path);

/// Likewise of a file of text. Failure (config), too: it holds a zero byte.
result<std::string> read_text_file(const std::string& path);

}  // namespace halcyon
