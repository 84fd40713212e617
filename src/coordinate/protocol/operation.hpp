#pragma once

#include <cstdint>

namespace halcyon::coordinate {

/// What an I/O phase does for the most part.
enum class operation : uint8_t { write, read, metadata };

}  // namespace halcyon::coordinate
