#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace halcyon::offload::hdf5 {

/// Fletcher's checksum over 16-bit big-endian words, sums modulo 65535, a last odd byte counted as a word's high
/// byte: what HDF5's fletcher32 filter verifies when a chunk is read.
[[nodiscard]] uint32_t fletcher32(std::span<const std::byte> bytes);

}  // namespace halcyon::offload::hdf5
