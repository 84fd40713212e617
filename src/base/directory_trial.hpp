#pragma once

#include <filesystem>

#include "base/error.hpp"

namespace halcyon {

/// Whether `directory` takes new entries or, where it is missing, can be made. Failure (system): the path at which it
/// fails.
///
/// Permissions do not say so: they allow root everything, in /proc, too. So it is tried, in a hidden directory that is
/// made in the nearest directory that exists and removed again; that one keeps its times of access and modification,
/// unless it belongs to somebody else.
result<void> try_directory(const std::filesystem::path& directory);

}  // namespace halcyon
