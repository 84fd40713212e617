#pragma once

#include <chrono>
#include <string>

#include "base/error.hpp"

namespace halcyon {

/// A pipe into which nobody writes would be waited for without end, and in a collective call by all processes.
inline constexpr std::chrono::seconds pipe_patience{10};

/// The whole of a file, or of what is written into a pipe. Failure (system): `path: reason`, also for a directory, and
/// for a pipe into which nobody writes for so long.
result<std::string> read_file(const std::string& path, std::chrono::seconds patience = pipe_patience);

/// Likewise of a file of text. Failure (config), too: it holds a zero byte.
result<std::string> read_text_file(const std::string& path);

}  // namespace halcyon
