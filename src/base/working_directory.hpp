#pragma once

#include <filesystem>

#include "base/error.hpp"

namespace halcyon {

/// Of this process. Failure (system): it was deleted, or has no path that leads to it.
result<std::filesystem::path> working_directory();

}  // namespace halcyon
