#pragma once

#include <string>

#include "base/error.hpp"
#include "logfs/container/files/file_calls.hpp"

namespace halcyon::logfs {

/// Gives a container another name on its file system, as rename(2) gives one to a file. A file or a container that has
/// that name is replaced: the name stands for one of both at any moment, but for file systems that cannot exchange two
/// names. Failure: usage, `from` is no container, or a link to one; system, EISDIR where `to` is another directory. All
/// is as it was then, unless what was replaced could not be removed.
result<void> rename_container(const std::string& from, const std::string& to, file_calls& calls = kernel_files());

/// Likewise of anything: of a file that replaces a container, say.
result<void> rename_any(const std::string& from, const std::string& to, file_calls& calls = kernel_files());

}  // namespace halcyon::logfs
