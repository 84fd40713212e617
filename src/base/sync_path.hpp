#pragma once

#include <string>

#include "base/error.hpp"

namespace halcyon {

/// What the file holds is on the device on return. Failure (system).
result<void> sync_file(const std::string& path);

/// The same for a file or for all files below a folder, with the names of its folders. Failure (system).
result<void> sync_tree(const std::string& path);

/// The names in the directory are on the device on return, as far as its file system can do that.
result<void> sync_directory(const std::string& path);

}  // namespace halcyon
