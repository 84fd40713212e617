#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/directory_claim.hpp"
#include "base/error.hpp"
#include "offload/model/model.hpp"

namespace halcyon::offload {

/// Failure (system): some variable may be spilled, and nothing can be written where that goes.
[[nodiscard]] result<void> check_spill_directory(const model& m);

/// The files and folders of an earlier run in `directory`, to be removed before this one begins. Failure (usage): they
/// are worth keeping, and the store does not say that they may be replaced. System: the directory, which exists, cannot
/// be read or written.
[[nodiscard]] result<std::vector<std::filesystem::path>> files_to_replace(const model& m, const store& s,
                                                                          const std::filesystem::path& directory);

/// For rank 0: makes the output directories in `directory`, removes what may be replaced, and marks them as those of
/// `run`. A directory that holds an earlier run, or one that goes on, is not mixed with this one. `claims` gets what
/// keeps other sessions out. Failures: those of files_to_replace() and directory_claim::take().
[[nodiscard]] result<void> prepare_directories(const model& m, const std::filesystem::path& directory,
                                               const std::string& run, std::vector<directory_claim>& claims);

/// Marks the output directories of this machine, which are made where they are missing, as those of `run`.
[[nodiscard]] result<void> mark_directories(const model& m, const std::filesystem::path& directory,
                                            const std::string& run);

}  // namespace halcyon::offload
