#pragma once

#include <string>

#include "base/error.hpp"

namespace halcyon {

/// Gives `from`, a file or a folder, the name `to`. Something of the same kind that has this name is removed: readers
/// find the old one or the new one, each whole, where the file system can exchange names; otherwise nothing may be
/// there for a moment. Failure (system): `to` is as before.
result<void> rename_over(const std::string& from, const std::string& to);

}  // namespace halcyon
