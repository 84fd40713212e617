#pragma once

#include <string>

#include "base/error.hpp"

namespace halcyon::logfs {

/// Removes a container with all that is in it. Its name is gone at once; what remains when that is interrupted is a
/// directory `.halcyon-removed-…` beside it. Failure: usage, it is no container; system.
result<void> remove_container(const std::string& path);

}  // namespace halcyon::logfs
