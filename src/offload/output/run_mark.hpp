#pragma once

#include <string>

#include "base/error.hpp"

namespace halcyon::offload {

/// The hidden file in each directory of a run that says whose it is. A claim alone does not: one that is shared can be
/// joined by the servers of an earlier run whose own directory was moved away.
///
/// Makes `directory` a place of the run `run`, whatever was in it. For a session that opens.
[[nodiscard]] result<void> set_run_mark(const std::string& directory, const std::string& run);

/// Makes the directory where it is missing, and sees to it that it has the mark of `run`. Failure (usage): another run
/// has it now; nothing was changed. A run without a name (one that has no stores) has no marks either.
[[nodiscard]] result<void> settle_in_directory(const std::string& directory, const std::string& run);

/// Whether a file of this name is a mark, or was about to become one.
[[nodiscard]] bool is_run_mark(const std::string& name);

}  // namespace halcyon::offload
