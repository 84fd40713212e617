#pragma once

#include <string>

#include "base/error.hpp"
#include "logfs/container/directory/container.hpp"

namespace halcyon::logfs {

/// Removes a container with all that is in it. Its name is gone at once; what remains when that is interrupted is a
/// directory `.halcyon-removed-…` beside it. Failure: usage, it is no container, or a link to one; system.
result<void> remove_container(const std::string& path, file_calls& calls = kernel_files());

/// The path that it was opened by is the container's own name. Failure: usage, a link; system.
result<void> expect_own_name(const container& of);

}  // namespace halcyon::logfs
