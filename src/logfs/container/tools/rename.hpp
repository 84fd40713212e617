#pragma once

#include <string>

#include "base/error.hpp"
#include "logfs/container/files/file_calls.hpp"

namespace halcyon::logfs {

/// Gives a container another name on its file system, as rename(2) gives one to a file. A file or a container that has
/// that name is replaced: the name stands for one of both at any moment, but for file systems that cannot exchange two
/// names. Failure: usage, `from` is no container, or a link to one; system, EISDIR where `to` is another directory.
result<void> rename_container(const std::string& from, const std::string& to, file_calls& calls = kernel_files());

}  // namespace halcyon::logfs
