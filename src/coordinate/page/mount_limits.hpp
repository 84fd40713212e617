#pragma once

#include <string>
#include <vector>

#include "base/error.hpp"

namespace halcyon::coordinate {

/// Whether a page has room for these mounts: how many there may be, and how long their paths, page.hpp declares.
/// Failure (usage): it has not, or one of them is no absolute path that a line can hold.
result<void> check_mounts(const std::vector<std::string>& paths);

}  // namespace halcyon::coordinate
