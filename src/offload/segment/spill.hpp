#pragma once

#include <cstdint>

#include "base/error.hpp"

namespace halcyon::offload {

/// Failure (system): the file does not hold a block of that length there.
result<void> spill_holds(int fd, uint64_t offset, uint64_t bytes);

/// Reads a block back from a spill file. Failure (system): the file does not hold all of it.
result<void> read_spilled(int fd, uint64_t offset, void* data, uint64_t bytes);

/// Gives the block's room in the file back to the file system, where it can.
void discard_spilled(int fd, uint64_t offset, uint64_t bytes);

}  // namespace halcyon::offload
