#pragma once

#include <filesystem>
#include <vector>

#include "base/error.hpp"
#include "offload/model/model.hpp"

namespace halcyon::offload {

/// Failure (system): some variable may be spilled, and nothing can be written where that goes.
[[nodiscard]] result<void> check_spill_directory(const model& m);

/// The files of an earlier run in `directory`, to be removed before this one begins. Failure (usage): they are worth
/// keeping, and the store does not say that they may be replaced. System: the directory, which exists, cannot be read
/// or written.
[[nodiscard]] result<std::vector<std::filesystem::path>> files_to_replace(const model& m, const store& s,
                                                                          const std::filesystem::path& directory);

}  // namespace halcyon::offload
